/** A statement as a journal of hledger or ledger: an entry a line, a transfer once, the closing balances asserted. */
import type { Line, OpenHold, Statement, StatementAccount } from '../books/statement.ts';
import { categoryOf, holdsName, ledgerName, onHoldOf } from './account-names.ts';
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
  const entries = accounts.flatMap(account => [
    ...account.lines.flatMap(line => entry(line, account, file)),
    ...statement.holds.filter(hold => hold.card_id === account.card_id).map(hold => pending(hold, account, file)),
  ]);
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
    ...accounts.flatMap(account => closing(account, onHoldOf(account, statement.holds), file)),
    '',
  ].join('\n');
}

/** An account without what stands in its account of holds, and that one. */
function closing(account: StatementAccount, held: number, file: AccountsFile): readonly string[] {
  const asserted = (name: string, cents: number) => `    ${name}  0.00 USD = ${amount(cents)} USD`;
  const own = asserted(ledgerName(account, file), account.closing - held);
  return held === 0 ? [own] : [own, asserted(holdsName(account, file), held)];
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
  const payee = safePayee(line.payee) || line.type;
  const lines = [
    `${line.date} * (${safeCode(id)}) ${payee}`,
    ...postings(ledgerName(account, file), line.cents, other),
  ];
  return [{ at, id, other, lines }];
}

/** An authorization that is open: its money is the card's and cannot be spent. */
function pending({ at, id, date, payee, cents }: OpenHold, account: StatementAccount, file: AccountsFile): Entry {
  const other = holdsName(account, file);
  const head = `${date} ! (${safeCode(id)}) ${safePayee(payee) || 'authorization'}`;
  return { at, id, other, lines: [head, ...postings(ledgerName(account, file), -cents, other)] };
}

function postings(name: string, cents: number, other: string): readonly string[] {
  return [`    ${name}  ${amount(cents)} USD`, `    ${other}  ${amount(-cents)} USD`];
}

const safePayee = (payee: string) => oneLine(payee).replace(/[;|]/g, ',');
const safeCode = (id: string) => oneLine(id).replace(/[()]/g, '_');
const byTime = (a: Entry, b: Entry) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
