import type { Statement } from '../books/statement-model.ts';
import { orNull, tells } from '../cli/answer-fields.ts';
import type { Context } from '../cli/context.ts';
import { command } from '../cli/parsing/command.ts';
import { local, needs, OURS, option } from '../cli/parsing/flag.ts';
import { usage } from '../cli/parsing/values.ts';
import type { Shown } from '../cli/shown.ts';
import { choice, flag, text } from '../contract/field.ts';
import { type AccountsFile, DEFAULT_ACCOUNTS, readAccounts } from '../writers/accounts-file.ts';
import type { ExportWish } from '../writers/files.ts';
import { DATE_FORMATS, EXPORT_FORMATS, LAYOUTS } from '../writers/formats.ts';
import { STATEMENT_ENDS, STATEMENT_FLAGS, type StatementQuery, statementFor } from './statement/query.ts';
import type { Kept } from './statement/remembered.ts';

/** The number that QuickBooks knows a bank by; users of other banks give theirs. */
const DEFAULT_BID = '3000';

/** Prints a statement in a format that programs of accountants read, or writes it into files. */
export const exportStatement = command({
  path: 'export',
  summary: 'Print a statement as CSV, OFX, QBO, QIF, hledger, ledger or beancount',
  answers: {
    either: [
      { text: 'The statement in the asked format.' },
      {
        one: {
          period: tells.text('As it was asked for.'),
          format: tells.word('The format.', EXPORT_FORMATS),
          final: tells.yes('Nothing of it is pending and 35 days have passed.'),
          lines: tells.count('Lines in all files.'),
          more: orNull(
            tells.count('Lines more than in the export before, negative for fewer; null for the first one.'),
          ),
          since: orNull(tells.time('When that was.')),
          left_out: tells.count(
            'With --unreconciled: lines that nothing proves yet, and that stand in journals alone.',
          ),
          files: tells.rows(
            { file: tells.text('The file.'), lines: tells.count('Its lines.'), sha256: tells.text('Its digest.') },
            'Files that were written, with --out.',
          ),
        },
      },
    ],
  },
  about: [
    'Read from the mirror, which is brought up to date first when it is older than --max-age. Opening and lines make the closing, or nothing is printed. OFX and QBO carry an id a line, so a second import adds nothing. Readers of QIF know no ids: import it once.',
    'Journals name accounts by an accounts file; its first rule that fits wins. Text cells of CSV are guarded against formulas; --csv-raw leaves the guard out.',
    'One journal includes a file a period: the first as it is, the later ones with --continue. Those have no opening balances, and their closing balances hold beside the files before alone. --pending is for the last one.',
    'A balance before the books begin is not known: no file asserts one, and an opening entry that is computed says so. With --unreconciled, lines that nothing proves yet stand in journals alone; other formats leave them out and say how many, so that no import books them twice.',
    'Without --out one file is printed. With it files are written, named after profile, period and format; the same export again replaces them, so nothing doubles, and a file of somebody else is left alone. QBO holds one account a file, the QuickBooks layout a thousand rows.',
    'What was exported is remembered in the mirror: a later export of the period tells how many lines more it has.',
  ],
  reach: 'service',
  ends: {
    usage: 'The accounts file has faults, listed with line and column; or the format needs more than one file.',
    guarded: 'With --out: a file of that name stands there that is no such export.',
    ...STATEMENT_ENDS,
  },
  flags: {
    format: needs(choice(EXPORT_FORMATS, { doc: 'Format.', basis: OURS })),
    ...STATEMENT_FLAGS,
    out: option(local('folder', 'Write files into this folder.'), '<folder>'),
    accounts: option(local('file', 'Journals, QIF and CSV: accounts file, YAML.'), '<file>'),
    continue: option(
      flag({ doc: 'Journals and QIF: without opening balances, beside the file of the period before.', basis: OURS }),
    ),
    pending: option(flag({ doc: 'Journals: open authorizations as pending entries.', basis: OURS })),
    layout: option(choice(LAYOUTS, { doc: 'CSV: columns; plain when left out.', basis: OURS })),
    dateFormat: option(choice(DATE_FORMATS, { doc: 'CSV: days; as in the layout when left out.', basis: OURS })),
    intuBid: option(text({ doc: `QBO: number of the bank; ${DEFAULT_BID} when left out.`, basis: OURS })),
  },
  examples: [
    { does: 'A month for hledger', run: 'export --format hledger --period 2026-09' },
    { does: 'The month after it, for the same journal', run: 'export --format hledger --period 2026-10 --continue' },
    { does: 'A quarter for Xero', run: 'export --format csv --layout xero --period 2026-Q3' },
    { does: 'Every account for QuickBooks, a file each', run: 'export --format qbo --period 2026-10 --out books' },
  ],
  async run(
    ctx,
    { out, accounts, intuBid, format, layout, dateFormat, continue: continues = false, pending = false, ...asked },
  ) {
    refuseUnfit(format, { layout, dateFormat, pending, accounts, intuBid, continues });
    // A faulty file is told before anything else is looked at.
    const names = accounts === undefined ? DEFAULT_ACCOUNTS : await accountsOf(await ctx.readFile(accounts), accounts);
    if (intuBid !== undefined && !/^\d{1,10}$/.test(intuBid))
      throw usage(`--intu-bid ${JSON.stringify(intuBid)} is no number of a bank`);
    if (out !== undefined && ctx.dryRun) throw usage('export sends no change to the service; it has no dry run');
    const bank = { intuBid: intuBid ?? DEFAULT_BID, continues };
    const wish = { format, layout: layout ?? 'plain', dateFormat, accounts: names, raw: ctx.csvRaw, ...bank };
    return statementFor(ctx, { ...asked, pending }, statement => given(ctx, statement, { ...asked, out, wish }));
  },
  show: shown,
});

interface Giving extends StatementQuery {
  readonly out: string | undefined;
  readonly wish: ExportWish;
}

type Given = string | Kept;

async function given(ctx: Context, statement: Statement, { out, wish, ...asked }: Giving): Promise<Given> {
  const [{ exportFiles }, { ProvedLines }, { ExportCount, noticesOf, remembered }] = await Promise.all([
    import('../writers/files.ts'),
    import('../writers/proved-lines.ts'),
    import('./statement/remembered.ts'),
  ]);
  const { profile } = await ctx.identity();
  const proved = new ProvedLines(statement, wish.format);
  const files = await exportFiles(proved.statement, { ...wish, profile, label: asked.label });
  if (wish.format === 'qif') ctx.notice('Readers of QIF know no ids: import this once.');
  const written = new ExportCount();
  let text = '';
  for (const { name, mark, pieces } of files) {
    if (out === undefined && text !== '') throw severalFiles(wish);
    const counted = written.file(pieces);
    if (out === undefined) for (const piece of counted) text += piece;
    else written.named(await ctx.replaceFile([out, name], { pieces: counted, mark }));
  }
  const kept = await remembered(ctx, { statement, written, asked, wish, left_out: proved.leftOut });
  for (const notice of noticesOf(kept)) ctx.notice(notice);
  return out === undefined ? text : kept;
}

function shown(given: Given): Shown {
  if (typeof given === 'string') return { verbatim: given, noun: 'file', columns: [] };
  const { period, format, final, lines, more, since, left_out, files } = given;
  const columns = [
    { field: 'file', title: 'FILE', kind: 'text', priority: 1 },
    { field: 'lines', title: 'LINES', kind: 'integer', priority: 2 },
    { field: 'sha256', title: 'SHA256', kind: 'text', priority: 5, wideOnly: true },
  ] as const;
  return {
    data: { period, format, final, lines, more, since, left_out, files },
    noun: 'file',
    idField: 'period',
    quiet: files.map(each => each.file),
    columns,
    rows: { columns, rows: files.map(each => ({ ...each })) },
    blocks: files.map(each => ({
      kind: 'line',
      text: `Wrote ${each.file}, ${each.lines} ${each.lines === 1 ? 'line' : 'lines'}.`,
      whole: true,
    })),
  };
}

async function accountsOf(content: string, name: string): Promise<AccountsFile> {
  const { readYaml } = await import('../terminal/yaml-text.ts');
  return readAccounts(readYaml(content), name);
}

/** An option that the format does not know would change nothing, and nobody would notice. */
function refuseUnfit(
  format: ExportWish['format'],
  {
    layout,
    dateFormat,
    pending,
    accounts,
    intuBid,
    continues,
  }: Readonly<Record<'layout' | 'dateFormat' | 'accounts' | 'intuBid', string | undefined>> &
    Readonly<Record<'pending' | 'continues', boolean>>,
): void {
  if (format !== 'csv' && layout !== undefined) throw usage(`--layout is of --format csv; ${format} has one layout`);
  if (format !== 'csv' && dateFormat !== undefined)
    throw usage(`--date-format is of --format csv; ${format} has its own`);
  if (pending && !['hledger', 'ledger', 'beancount'].includes(format))
    throw usage(`--pending is of hledger, ledger and beancount; ${format} has no entries that are pending`);
  if (continues && !['hledger', 'ledger', 'beancount', 'qif'].includes(format))
    throw usage(`--continue is of hledger, ledger, beancount and qif; ${format} has no opening balances`);
  if (accounts !== undefined && (format === 'ofx' || format === 'qbo'))
    throw usage(`--accounts is of journals, qif and csv; ${format} names no account on the other side`);
  if (format !== 'qbo' && intuBid !== undefined) throw usage(`--intu-bid is of --format qbo; ${format} names no bank`);
}

function severalFiles({ format }: ExportWish): Error {
  const limit = format === 'qbo' ? 'QBO holds one account' : 'The QuickBooks layout holds a thousand rows';
  return usage(`${limit} a file, and this would be several files: give --out <folder>, --card or a shorter --period`);
}
