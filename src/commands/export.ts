import type { Statement } from '../books/statement.ts';
import { command } from '../cli/parsing/command.ts';
import { needs, OURS, option } from '../cli/parsing/flag.ts';
import { usage } from '../cli/parsing/values.ts';
import { choice, flag, text } from '../contract/field.ts';
import { type AccountsFile, DEFAULT_ACCOUNTS, readAccounts } from '../writers/accounts-file.ts';
import { askedStatement, STATEMENT_FLAGS } from './statement/asked.ts';

const FORMATS = ['csv', 'ofx', 'qbo', 'qif', 'hledger', 'ledger', 'beancount'] as const;
const LAYOUTS = ['plain', 'quickbooks', 'xero'] as const;
/** The number that QuickBooks knows a bank by; users of other banks give theirs. */
const DEFAULT_BID = '3000';

interface Wish {
  readonly format: (typeof FORMATS)[number];
  readonly layout: (typeof LAYOUTS)[number];
  readonly accounts: AccountsFile;
  readonly raw: boolean;
  readonly intuBid: string;
}

/** Prints a statement in a format that programs of accountants read. */
export const exportStatement = command({
  path: 'export',
  summary: 'Print a statement as CSV, OFX, QBO, QIF, hledger, ledger or beancount',
  answers: { text: 'The statement in the asked format.' },
  about: [
    'Read from the mirror; nothing is sent. Opening and lines make the closing, or nothing is printed. OFX and QBO carry an id a line, so a second import adds nothing. Readers of QIF know no ids: import it once.',
    'Journals name accounts by an accounts file; its first rule that fits wins. Text cells of CSV are guarded against formulas; --unguarded leaves the guard out.',
    'One file is printed at a time. QBO holds one account a file, and the QuickBooks layout a thousand rows: with more, ask for one card or a shorter period.',
  ],
  reach: 'files',
  ends: {
    usage: 'The accounts file has faults, all told with line and column; or the format wants more than one file.',
    check_failed: 'No exact cut stands at or after the end of the period.',
    unreachable: 'There is no mirror of this account yet.',
    not_found: 'The mirror holds no such card.',
  },
  flags: {
    format: needs(choice(FORMATS, { doc: 'Format.', basis: OURS })),
    ...STATEMENT_FLAGS,
    layout: option(choice(LAYOUTS, { doc: 'Columns of the CSV; plain when left out.', basis: OURS })),
    accounts: option(text({ doc: 'Accounts file, YAML.', basis: OURS }), '<file>'),
    unguarded: option(flag({ doc: 'Text cells of CSV without the guard against formulas.', basis: OURS })),
    intuBid: option(text({ doc: `QBO: number of the bank; ${DEFAULT_BID} when left out.`, basis: OURS })),
  },
  examples: [
    { does: 'A month for hledger', run: 'export --format hledger --period 2026-10' },
    { does: 'A quarter for Xero', run: 'export --format csv --layout xero --period 2026-Q3' },
    { does: 'One card for QuickBooks', run: 'export --format qbo --period 2026-10 --card card_1' },
  ],
  async run(ctx, { format, layout = 'plain', accounts, unguarded = false, intuBid = DEFAULT_BID, ...asked }) {
    // A faulty file is told before anything else is looked at.
    const names = accounts === undefined ? DEFAULT_ACCOUNTS : await accountsOf(await ctx.readFile(accounts), accounts);
    if (!/^\d{1,10}$/.test(intuBid)) throw usage(`--intu-bid ${JSON.stringify(intuBid)} is no number of a bank`);
    const statement = await askedStatement(ctx, asked);
    return written(statement, { format, layout, accounts: names, raw: unguarded, intuBid });
  },
  show: content => ({ verbatim: content, noun: 'file', columns: [] }),
});

async function accountsOf(content: string, name: string): Promise<AccountsFile> {
  const { readYaml } = await import('../terminal/yaml-text.ts');
  return readAccounts(readYaml(content), name);
}

async function written(statement: Statement, wish: Wish): Promise<string> {
  const { format, layout, accounts, raw, intuBid } = wish;
  switch (format) {
    case 'csv': {
      const { csvFiles } = await import('../writers/csv.ts');
      return only(csvFiles(statement, { layout, accounts, raw }), 'The QuickBooks layout holds a thousand rows');
    }
    case 'ofx':
    case 'qbo': {
      const { ofxFiles } = await import('../writers/ofx.ts');
      const at = statement.period.to;
      return only(ofxFiles(statement, format === 'qbo' ? { at, intuBid } : { at }), 'QBO holds one account');
    }
    case 'qif':
      return (await import('../writers/qif.ts')).qifFile(statement, accounts);
    case 'beancount':
      return (await import('../writers/beancount.ts')).beancountFile(statement, accounts);
    default:
      return (await import('../writers/journal.ts')).journalFile(statement, format, accounts);
  }
}

function only(files: readonly string[], limit: string): string {
  const [file = ''] = files;
  if (files.length <= 1) return file;
  throw usage(`${limit} a file, and this would be ${files.length} files: give --card or a shorter --period`);
}
