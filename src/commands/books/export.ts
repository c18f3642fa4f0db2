import { createHash, type Hash } from 'node:crypto';
import { join } from 'node:path';
import type { Statement } from '../../books/statement.ts';
import type { Context } from '../../cli/context.ts';
import { columnsOf, countOf } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { flagName, local, needs, option, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import type { ValueOf } from '../../contract/field.ts';
import { isoTime, wholeSeconds } from '../../core/durations.ts';
import { usage } from '../../core/errors.ts';
import { copiedLine } from '../../terminal/view.ts';
import { DEFAULT_ACCOUNTS } from '../../writers/accounts.ts';
import { EXPORT_FORMATS, type ExportWish, exportFiles, LAYOUTS } from '../../writers/files.ts';
import { DATE_FORMATS, type Piece } from '../../writers/text.ts';
import { STATEMENT_ENDS, STATEMENT_FLAGS, type StatementQuery, showStanding, statementFor } from './statement.ts';

/** The number that QuickBooks knows a bank by; users of other banks give theirs. */
const DEFAULT_BID = '3000';

const FILE = {
  file: tells.text('The file.'),
  lines: tells.count('Its lines.'),
  sha256: tells.text('Its digest.'),
} as const;

export const exportStatement = command({
  path: 'books export',
  summary: 'Print a statement as CSV, OFX, QBO, QIF, hledger, ledger or beancount',
  answers: [
    { text: 'The statement in the asked format.' },
    {
      one: {
        period: tells.text('As it was asked for.'),
        format: tells.word('The format.', EXPORT_FORMATS),
        provisional: tells.texts('Why balances or days may still change; empty where checkpoints show all of them.'),
        final: tells.yes('Not provisional, nothing is pending, and 35 days have passed.'),
        lines: tells.count('Lines in all files.'),
        more: orNull(tells.count('Lines more than in the export before, negative for fewer; null for the first one.')),
        since: orNull(tells.time('When that was.')),
        left_out: tells.count('With --unreconciled: lines that nothing shows yet, and that stand in journals alone.'),
        files: tells.rows(FILE, 'Files that were written, with --out.'),
      },
    },
  ],
  about: [
    'Read from the copy, which is brought up to date first when it is older than --max-age. Opening and lines make the closing, or nothing is printed. OFX and QBO carry an id a line, so a second import adds nothing. Readers of QIF know no ids: import it once. A file whose statement is provisional says so: in a comment, a column, a description or MKTGINFO.',
    'Journals name accounts by an accounts file: wallet, cards (with {short} in it), deposits, default, and rules, of which the first that fits wins: by mcc, merchant, label or metadata.<key>. Text cells of CSV are guarded against formulas; --csv-raw leaves the guard out.',
    'One journal includes a file a period: the first as it is, the later ones with --continue. Those have no opening balances, and their closing balances hold beside the files before alone. --pending is for the last one.',
    'A balance before the books begin is not known: no file asserts one, and an opening entry that is computed says so. With --unreconciled, lines that nothing shows yet stand in journals alone; other formats leave them out and say how many, so that no import books them twice.',
    'Without --out one file is printed. With it files are written, named after profile, period and format; the same export again replaces them, so nothing doubles, and a file of somebody else is left alone. QBO holds one account a file, the QuickBooks layout a thousand rows.',
    'The columns of the layouts quickbooks and xero name no account. Give --card or --only wallet, and import each file into an account of its own; several at once are one account, in which transfers between them cancel out.',
    'What was exported is remembered in the copy: a later export of the period tells how many lines more it has.',
  ],
  reach: 'service',
  ends: {
    usage: 'The accounts file has faults, listed with line and column; or the format needs more than one file.',
    guarded: 'With --out: a file of that name stands there that is no such export.',
    ...STATEMENT_ENDS,
  },
  flags: {
    format: needs(takes.choice(EXPORT_FORMATS, 'Format.')),
    ...STATEMENT_FLAGS,
    out: option(local('folder', 'Write files into this folder.'), '<folder>'),
    accounts: option(local('file', 'Journals, QIF and CSV: accounts file, YAML.'), '<file>'),
    continue: option(takes.flag('Journals and QIF: without opening balances, beside the file of the period before.')),
    pending: option(takes.flag('Journals: open authorizations as pending entries.')),
    layout: option(takes.choice(LAYOUTS, 'CSV: columns; plain when left out.')),
    dateFormat: option(takes.choice(DATE_FORMATS, 'CSV: days; as in the layout when left out.')),
    intuBid: option(takes.text(`QBO: number of the bank; ${DEFAULT_BID} when left out.`)),
  },
  examples: {
    'A month for hledger': 'books export --format hledger --period 2026-09',
    'The month after it, for the same journal': 'books export --format hledger --period 2026-10 --continue',
    'A quarter of the wallet for Xero': 'books export --format csv --layout xero --period 2026-Q3 --only wallet',
    'Every account for QuickBooks, a file each': 'books export --format qbo --period 2026-10 --out books',
  },
  async run(
    ctx,
    { out, accounts, intuBid, format, layout, dateFormat, continue: continues = false, pending = false, ...asked },
  ) {
    refuseUnfit(format, { layout, dateFormat, pending, accounts, intuBid, continue: continues });
    // A faulty file is told before anything else is looked at.
    const names =
      accounts === undefined
        ? DEFAULT_ACCOUNTS
        : (await import('../../writers/accounts-file.ts')).readAccounts(await ctx.files.readFile(accounts), accounts);
    if (intuBid !== undefined && !/^\d{1,10}$/.test(intuBid))
      throw usage(`--intu-bid ${JSON.stringify(intuBid)} is no number of a bank`);
    if (out !== undefined && ctx.dryRun) throw usage('export sends no change to the service; it has no dry run');
    const bank = { intuBid: intuBid ?? DEFAULT_BID, continues };
    const wish = { format, layout: layout ?? 'plain', dateFormat, accounts: names, raw: ctx.csvRaw, ...bank };
    return statementFor(ctx, { ...asked, pending }, statement => given(ctx, statement, { ...asked, out, wish }));
  },
  show(given) {
    if (typeof given === 'string') return { verbatim: given, noun: 'file', columns: [] };
    const { period, format, provisional, final, lines, more, since, left_out, files } = given;
    const columns = columnsOf(FILE, 'file lines:2 sha256:5+');
    return {
      data: { period, format, provisional, final, lines, more, since, left_out, files },
      noun: 'file',
      idField: 'period',
      quiet: files.map(each => each.file),
      columns,
      rows: { columns, rows: files },
      blocks: files.map(each => copiedLine(`Wrote ${each.file}, ${countOf(each.lines, 'line')}.`)),
    };
  },
});

/** The text of one file, or what was written into files. */
async function given(
  ctx: Context,
  statement: Statement,
  { out, wish, ...asked }: StatementQuery & { readonly out: string | undefined; readonly wish: ExportWish },
) {
  const { profile } = await ctx.api.identity();
  const { kept, files } = exportFiles(statement, { ...wish, profile, label: asked.label });
  if (wish.format === 'qif') ctx.ui.notice('Readers of QIF know no ids: import this once.');
  const written: Written[] = [];
  let text = '';
  for await (const { name, mark, pieces } of files) {
    if (out === undefined && written.length > 0) {
      const limit = wish.format === 'qbo' ? 'QBO holds one account' : 'The QuickBooks layout holds a thousand rows';
      throw usage(
        `${limit} a file, and this would be several files: give --out <folder>, --card or a shorter --period`,
      );
    }
    const hash = createHash('sha256');
    const count = { lines: 0 };
    const counted = countedTexts(pieces, hash, count);
    if (out === undefined) for (const piece of counted) text += piece;
    const file = out === undefined ? '' : join(out, name);
    if (out !== undefined) await ctx.files.replaceFile(file, { pieces: counted, mark });
    written.push({ file, lines: count.lines, sha256: hash.digest('hex') });
  }
  const standing = showStanding(ctx, statement, [{ provisional: [...kept.reasons] }]);
  const remembered = await remember(ctx, statement, written, { ...asked, ...wish });
  if (wish.layout !== 'plain' && kept.walked > 1)
    ctx.ui.notice(
      `The layout ${wish.layout} names no account: these ${kept.walked} would be imported as one; --card or --only wallet gives one alone`,
    );
  if (kept.leftOut > 0) {
    const lines = kept.leftOut === 1 ? '1 line is' : `${kept.leftOut} lines are`;
    ctx.ui.notice(
      `${remembered.period}: ${lines} left out of ${wish.format}: nothing shows them yet, and an import would book them again after the next reconcile`,
    );
  }
  return out === undefined ? text : { ...remembered, ...standing, left_out: kept.leftOut };
}

/** A file of an export; `file` is its path as the user would write it, empty for what was printed. */
type Written = ValueOf<typeof FILE>;

/** Characters that are written at once. */
const WRITTEN_AT_ONCE = 65_536;

/** The texts of a file, counted while they go by. */
function* countedTexts(pieces: Iterable<Piece>, hash: Hash, count: { lines: number }): Generator<string> {
  let waiting = '';
  const written = () => {
    const text = waiting;
    hash.update(text);
    waiting = '';
    return text;
  };
  for (const { text, lines } of pieces) {
    waiting += text;
    count.lines += lines;
    if (waiting.length >= WRITTEN_AT_ONCE) yield written();
  }
  yield written();
}

/** Keeps the export in the copy, and compares it with the one before. */
async function remember(
  ctx: Context,
  { period: { name: period } }: Statement,
  files: readonly Written[],
  { format, layout, card, label, only, tz = 'UTC' }: StatementQuery & ExportWish,
) {
  const digests = files.map(file => file.sha256).join('\n');
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  const before = await (await ctx.api.mirror()).keepExport({
    // Days of another zone are another period.
    period: tz === 'UTC' ? period : `${period} ${tz}`,
    format: layout === 'plain' ? format : `${format} ${layout}`,
    account: card ?? only ?? (label === undefined ? 'all' : `label ${label}`),
    lines,
    sha256: createHash('sha256').update(digests).digest('hex'),
    at_ms: wholeSeconds(ctx.api.serviceNow()),
  });
  const more = before === undefined ? null : lines - before.lines;
  const since = before === undefined ? null : isoTime(before.at_ms);
  if (more !== null && more !== 0)
    ctx.ui.notice(
      `${period}: ${countOf(Math.abs(more), 'line')} ${more > 0 ? 'more' : 'fewer'} than on ${since?.slice(0, 10)}`,
    );
  return { period, format, lines, more, since, files };
}

const JOURNALS = ['hledger', 'ledger', 'beancount'];

/** The formats that an option is of: it would change nothing in another one, and nobody would notice. */
const FITS: Readonly<Record<string, readonly string[]>> = {
  layout: ['csv'],
  dateFormat: ['csv'],
  pending: JOURNALS,
  continue: [...JOURNALS, 'qif'],
  accounts: [...JOURNALS, 'qif', 'csv'],
  intuBid: ['qbo'],
};

/** Throws `usage` for an option that the format does not know. */
function refuseUnfit(format: string, asked: Readonly<Record<string, unknown>>): void {
  for (const [name, formats] of Object.entries(FITS)) {
    if (asked[name] === undefined || asked[name] === false || formats.includes(format)) continue;
    throw usage(`${flagName(name)} is of --format ${formats.join(', ')}, and not of ${format}`);
  }
}
