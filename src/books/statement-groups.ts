/** Sums of a statement: a row a card, a row a month, or a row a label. */
import { type Line, provedBalances, type Statement, type StatementAccount } from './statement-model.ts';

export const GROUPED_BY = ['card', 'month', 'label'] as const;
export type GroupedBy = (typeof GROUPED_BY)[number];

/**
 * Amounts are signed effects, integer cents: opening and what stands between make the closing. A balance before the books
 * begin is null.
 */
export interface StatementGroup {
  /** Name of an account, `2026-10`, or a label; null for cards without a label. */
  readonly group: string | null;
  /** Cards in it, of a month all that moved. */
  readonly cards: number;
  readonly lines: number;
  readonly opening: number | null;
  readonly deposits: number;
  /** Between wallet and cards; 0 where both sides stand in the group. */
  readonly transfers: number;
  readonly settled: number;
  readonly refunded: number;
  readonly fees: number;
  readonly unexplained: number;
  readonly closing: number | null;
}

type Sums = { -readonly [Key in Exclude<keyof StatementGroup, 'group' | 'cards' | 'opening' | 'closing'>]: number };

const COLUMN = {
  settlement: 'settled',
  refund: 'refunded',
  transfer: 'transfers',
  deposit: 'deposits',
  fee: 'fees',
  unexplained: 'unexplained',
} as const satisfies Readonly<Record<Line['type'], keyof Sums>>;

type Grouped = Pick<Statement, 'period' | 'days' | 'knownSinceDay'> & {
  readonly accounts: readonly StatementAccount[];
};

/** `nameOf` names an account. Groups stand in the order of the accounts; months and labels in their own. */
export function groupsOf(
  statement: Grouped,
  by: GroupedBy,
  nameOf: (account: StatementAccount) => string,
): readonly StatementGroup[] {
  const { accounts, period } = statement;
  if (by === 'month') return monthsOf(statement);
  const groups = new Map<string, { group: string | null; accounts: StatementAccount[] }>();
  for (const account of accounts) {
    const { kind, label } = account;
    // A label can be called like the wallet.
    const isNamed = by === 'card' || kind === 'wallet';
    const key = isNamed ? `account ${nameOf(account)}` : `label ${label ?? ''}`;
    const known = groups.get(key);
    if (known !== undefined) known.accounts.push(account);
    else groups.set(key, { group: isNamed ? nameOf(account) : label || null, accounts: [account] });
  }
  return [...groups.values()].map(({ group, accounts: of }) => ({ group, ...sumsOf(of, period) }));
}

function sumsOf(accounts: readonly StatementAccount[], period: Statement['period']): Omit<StatementGroup, 'group'> {
  const sums = noSums();
  let opening: number | null = 0;
  let closing: number | null = 0;
  for (const account of accounts) {
    const known = provedBalances(account, period);
    opening = sumOrNull(opening, known.opening);
    closing = sumOrNull(closing, known.closing);
    for (const line of account.lines) count(sums, line);
  }
  return { cards: accounts.filter(({ kind }) => kind === 'card').length, ...sums, opening, closing };
}

/** A sum with a part that nobody knows is not known. */
function sumOrNull(sum: number | null, part: number | null): number | null {
  return sum === null || part === null ? null : sum + part;
}

const monthOf = (date: string) => date.slice(0, 7);

function monthsOf({ accounts, days, knownSinceDay }: Grouped): readonly StatementGroup[] {
  const begin = monthOf(knownSinceDay ?? '');
  const months = new Map<string, { sums: Sums; cards: Set<string> }>();
  for (const { lines, kind, card_id } of accounts) {
    for (const line of lines) {
      const name = monthOf(line.date);
      const month = months.get(name) ?? { sums: noSums(), cards: new Set() };
      months.set(name, month);
      count(month.sums, line);
      if (kind === 'card' && card_id !== null) month.cards.add(card_id);
    }
  }
  const spans = uncertainSpans(accounts);
  /** A month that ends between two readings, or begins there. */
  const endsWithin = (month: string) => spans.some(({ from, to }) => from <= month && month < to);
  const beginsWithin = (month: string) => spans.some(({ from, to }) => from < month && month <= to);
  let balance = accounts.reduce((sum, { opening }) => sum + opening, 0);
  return [...months]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, { sums, cards }]) => {
      const opening = balance;
      const { deposits, transfers, settled, refunded, fees, unexplained } = sums;
      balance += deposits + transfers + settled + refunded + fees + unexplained;
      // What lies on both sides of the beginning of the period is told by a notice, as of its end.
      const isFirst = group === monthOf(days.first);
      const known = {
        opening: group <= begin || (!isFirst && beginsWithin(group)) ? null : opening,
        closing: group < begin || endsWithin(group) ? null : balance,
      };
      return { group, cards: cards.size, ...sums, ...known };
    });
}

/**
 * From the month of the earlier reading to that of the later one, of derived lines that change what all accounts have
 * together: at the ends of the months between, nobody knows whether the money had moved.
 */
function uncertainSpans(
  accounts: readonly StatementAccount[],
): readonly { readonly from: string; readonly to: string }[] {
  const spans = new Map<string, { readonly from: string; readonly to: string; cents: number }>();
  for (const { lines } of accounts) {
    for (const { id, date, since_date, cents } of lines) {
      if (since_date === undefined || monthOf(since_date) === monthOf(date)) continue;
      const span = spans.get(id) ?? { from: monthOf(since_date), to: monthOf(date), cents: 0 };
      span.cents += cents;
      spans.set(id, span);
    }
  }
  return [...spans.values()].filter(({ cents }) => cents !== 0);
}

function count(sums: Sums, { type, cents }: Line): void {
  sums[COLUMN[type]] += cents;
  sums.lines += 1;
}

function noSums(): Sums {
  return { lines: 0, deposits: 0, transfers: 0, settled: 0, refunded: 0, fees: 0, unexplained: 0 };
}
