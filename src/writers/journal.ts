/** A statement as a journal of hledger or ledger: an entry a line, a transfer once, the closing balances asserted. */
import type { Line, OpenHold, Statement, StatementAccount } from '../books/statement-model.ts';
import { categoryOf, ledgerName } from './account-names.ts';
import type { AccountsFile } from './accounts-file.ts';
import { holdsName, PendingByCard } from './holds.ts';
import type { Piece } from './piece.ts';
import { amount, oneLine } from './text.ts';

/** Programs that read it, and how each wants its commodity. */
const COMMODITY = {
  hledger: ['commodity 1000.00 USD'],
  ledger: ['commodity USD', '    format 1000.00 USD'],
} as const;

const OPENING = 'Equity:Opening-Balances';

/**
 * An account after the other: its name, what was there before, its entries by time. An account is declared before it is
 * used, as ledger wants it. At the end the closing balances are asserted.
 */
export function* journalFile(
  { accounts, holds, days }: Statement,
  program: keyof typeof COMMODITY,
  file: AccountsFile,
): Generator<Piece> {
  yield { text: [...COMMODITY[program], `account ${OPENING}`, ''].join('\n'), lines: 0 };
  const open = new PendingByCard(holds);
  const declared = new Set([OPENING]);
  let closings = `\n${days.last} * Closing balances\n`;
  for (const account of accounts) {
    const name = ledgerName(account, file);
    const entries = account.lines.flatMap(line => entry(line, account, { name, file }));
    const held = open.of(account);
    entries.push(...held.map(hold => pending(hold, account, file)));
    if (held.length > 0) entries.sort(byTime);
    const text: string[] = [''];
    for (const used of [name, ...entries.map(each => each.other)]) {
      if (!declared.has(used)) text.push(`account ${used}`);
      declared.add(used);
    }
    if (account.opening !== 0) {
      text.push('', `${days.first} * Opening balance`, ...postings(name, account.opening, OPENING));
    }
    for (const { lines } of entries) text.push('', ...lines);
    yield { text: `${text.join('\n')}\n`, lines: account.lines.length };
    closings += `${closing(account, open.sum(account), file).join('\n')}\n`;
  }
  yield { text: closings, lines: 0 };
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

interface Naming {
  /** Of the account: a name takes a digest, so it is made once and not for each line. */
  readonly name: string;
  readonly file: AccountsFile;
}

/** A transfer stands on both sides of a statement and once in a journal: on the card's. */
function entry(line: Line, account: StatementAccount, { name, file }: Naming): readonly Entry[] {
  if (line.type === 'transfer' && account.kind === 'wallet') return [];
  const other = line.type === 'transfer' ? file.wallet : categoryOf(line, account.label, file);
  const { at, id } = line;
  const payee = safePayee(line.payee) || line.type;
  const lines = [`${line.date} * (${safeCode(id)}) ${payee}`, ...postings(name, line.cents, other)];
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
