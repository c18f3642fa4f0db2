/** A statement as a journal of hledger or ledger: an entry a line, a transfer once, the closing balances asserted. */
import type { Line, Statement, StatementAccount } from '../books/statement.ts';
import { categoryOf, ledgerName } from './account-names.ts';
import type { AccountsFile } from './accounts-file.ts';
import { amount, oneLine } from './text.ts';

/** Programs that read it, and how each wants its commodity. */
const COMMODITY = {
  hledger: ['commodity 1000.00 USD'],
  ledger: ['commodity USD', '    format 1000.00 USD'],
} as const;

const OPENING = 'Equity:Opening-Balances';

/** Lines begin on the period's first day with what was there before, and end with an assertion an account. */
export function journalFile(statement: Statement, program: keyof typeof COMMODITY, file: AccountsFile): string {
  const { accounts } = statement;
  const wallet = accounts.find(account => account.kind === 'wallet');
  const entries = accounts.flatMap(account => account.lines.flatMap(line => entry(line, account, file)));
  const used = new Set(accounts.map(account => ledgerName(account, file)));
  for (const each of entries) used.add(each.other);
  used.add(OPENING);
  if (wallet === undefined) used.add(file.wallet);
  const { first, last } = statement.days;
  return [
    ...[...used].toSorted().map(name => `account ${name}`),
    ...COMMODITY[program],
    '',
    ...accounts
      .filter(({ opening }) => opening !== 0)
      .flatMap(account => [
        `${first} * Opening balance`,
        ...postings(ledgerName(account, file), account.opening, OPENING),
        '',
      ]),
    ...entries.toSorted(byTime).flatMap(({ lines }) => [...lines, '']),
    `${last} * Closing balances`,
    ...accounts.map(account => `    ${ledgerName(account, file)}  0.00 USD = ${amount(account.closing)} USD`),
    '',
  ].join('\n');
}

interface Entry {
  readonly at: number;
  readonly id: string;
  readonly other: string;
  readonly lines: readonly string[];
}

/** A transfer stands on both sides of a statement and once in a journal: on the card's. */
function entry(line: Line, account: StatementAccount, file: AccountsFile): readonly Entry[] {
  if (line.type === 'transfer' && account.kind === 'wallet') return [];
  const other = line.type === 'transfer' ? file.wallet : categoryOf(line, account.label, file);
  const { at, id } = line;
  const payee = oneLine(line.payee).replace(/[;|]/g, ',') || line.type;
  const lines = [
    `${line.date} * (${safeCode(id)}) ${payee}`,
    ...postings(ledgerName(account, file), line.cents, other),
  ];
  return [{ at, id, other, lines }];
}

function postings(name: string, cents: number, other: string): readonly string[] {
  return [`    ${name}  ${amount(cents)} USD`, `    ${other}  ${amount(-cents)} USD`];
}

const safeCode = (id: string) => oneLine(id).replace(/[()]/g, '_');
const byTime = (a: Entry, b: Entry) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
