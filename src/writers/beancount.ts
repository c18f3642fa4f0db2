/** A statement as a beancount file: accounts opened, an entry a line with its id, balances asserted to the cent. */
import type { Line, OpenHold, Statement, StatementAccount } from '../books/statement.ts';
import { categoryOf, holdsName, ledgerName, onHoldOf } from './account-names.ts';
import type { AccountsFile } from './accounts-file.ts';
import { amount, oneLine } from './text.ts';

const OPENING = 'Equity:Opening-Balances';

export function beancountFile({ days, accounts, holds }: Statement, file: AccountsFile): string {
  const entries = accounts.flatMap(account => [
    ...account.lines.flatMap(line => entry(line, account, file)),
    ...holds.filter(hold => hold.card_id === account.card_id).map(hold => pending(hold, account, file)),
  ]);
  const used = new Set([OPENING, file.wallet, ...accounts.map(account => ledgerName(account, file))]);
  for (const { other } of entries) used.add(other);
  const { first, next } = days;
  return [
    'option "operating_currency" "USD"',
    ...[...used].toSorted().map(name => `${first} open ${name} USD`),
    '',
    ...accounts
      .filter(({ opening }) => opening !== 0)
      .flatMap(account => [
        `${first} * "Opening balance"`,
        ...postings(ledgerName(account, file), account.opening, OPENING),
        '',
      ]),
    ...entries
      .toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
      .flatMap(({ lines }) => [...lines, '']),
    // With the holds below an account. A balance is asserted at the beginning of its day, and without a tolerance of its own it lets a cent pass.
    ...accounts.map(account => `${next} balance ${ledgerName(account, file)} ${amount(account.closing)} ~ 0.001 USD`),
    ...accounts
      .filter(account => onHoldOf(account, holds) > 0)
      .map(account => `${next} balance ${holdsName(account, file)} ${amount(onHoldOf(account, holds))} ~ 0.001 USD`),
    '',
  ].join('\n');
}

interface Entry {
  readonly at: number;
  readonly id: string;
  readonly other: string;
  readonly lines: readonly string[];
}

function entry(line: Line, account: StatementAccount, file: AccountsFile): readonly Entry[] {
  if (line.type === 'transfer' && account.kind === 'wallet') return [];
  const other = line.type === 'transfer' ? file.wallet : categoryOf(line, account.label, file);
  const head = `${line.date} * ${quoted(line.payee || line.type)} ${quoted(line.memo)}`;
  const lines = [head, `  id: ${quoted(line.id)}`, ...postings(ledgerName(account, file), line.cents, other)];
  return [{ at: line.at, id: line.id, other, lines }];
}

/** An authorization that is open: its money is the card's and cannot be spent. */
function pending({ at, id, date, payee, cents }: OpenHold, account: StatementAccount, file: AccountsFile): Entry {
  const other = holdsName(account, file);
  const head = `${date} ! ${quoted(payee || 'authorization')} ""`;
  return { at, id, other, lines: [head, `  id: ${quoted(id)}`, ...postings(ledgerName(account, file), -cents, other)] };
}

function postings(name: string, cents: number, other: string): readonly string[] {
  return [`  ${name}  ${amount(cents)} USD`, `  ${other}  ${amount(-cents)} USD`];
}

function quoted(text: string): string {
  return `"${oneLine(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
