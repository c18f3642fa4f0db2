/** A statement as a beancount file: accounts opened, an entry a line with its id, balances asserted to the cent. */
import type { Line, OpenHold, Statement, StatementAccount } from '../books/statement-model.ts';
import { categoryOf, ledgerName } from './account-names.ts';
import type { AccountsFile } from './accounts-file.ts';
import { holdsName, PendingByCard } from './holds.ts';
import type { Piece } from './piece.ts';
import { amount, oneLine } from './text.ts';

const OPENING = 'Equity:Opening-Balances';

/** An account after the other, each opened before it is used. */
export function* beancountFile({ days, accounts, holds }: Statement, file: AccountsFile): Generator<Piece> {
  const { first, next } = days;
  yield { text: `option "operating_currency" "USD"\n${first} open ${OPENING} USD\n`, lines: 0 };
  const open = new PendingByCard(holds);
  const opened = new Set([OPENING]);
  for (const account of accounts) {
    const name = ledgerName(account, file);
    const entries = account.lines.flatMap(line => entry(line, account, { name, file }));
    const held = open.of(account);
    entries.push(...held.map(hold => pending(hold, account, file)));
    if (held.length > 0) entries.sort(byTime);
    const text: string[] = [''];
    for (const used of [name, ...entries.map(each => each.other)]) {
      if (!opened.has(used)) text.push(`${first} open ${used} USD`);
      opened.add(used);
    }
    if (account.opening !== 0) {
      text.push('', `${first} * "Opening balance"`, ...postings(name, account.opening, OPENING));
    }
    for (const { lines } of entries) text.push('', ...lines);
    // With the holds below an account. A balance is asserted at the beginning of its day, and without a tolerance of its
    // own it lets a cent pass.
    text.push('', `${next} balance ${name} ${amount(account.closing)} ~ 0.001 USD`);
    const cents = open.sum(account);
    if (cents > 0) text.push(`${next} balance ${holdsName(account, file)} ${amount(cents)} ~ 0.001 USD`);
    yield { text: `${text.join('\n')}\n`, lines: account.lines.length };
  }
}

interface Entry {
  readonly at: number;
  readonly id: string;
  readonly other: string;
  readonly lines: readonly string[];
}

interface Naming {
  /** Of the account: a name takes a digest, so it is made once and not for each line. */
  readonly name: string;
  readonly file: AccountsFile;
}

function entry(line: Line, account: StatementAccount, { name, file }: Naming): readonly Entry[] {
  if (line.type === 'transfer' && account.kind === 'wallet') return [];
  const other = line.type === 'transfer' ? file.wallet : categoryOf(line, account.label, file);
  const head = `${line.date} * ${quoted(line.payee || line.type)} ${quoted(line.memo)}`;
  const lines = [head, `  id: ${quoted(line.id)}`, ...postings(name, line.cents, other)];
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

const byTime = (a: Entry, b: Entry) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
