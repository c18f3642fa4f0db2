/** Sums of a statement: a row a card, a row a month, or a row a label. */
import type { Line, StatementAccount } from './statement-model.ts';

export const GROUPED_BY = ['card', 'month', 'label'] as const;
export type GroupedBy = (typeof GROUPED_BY)[number];

/** Amounts are signed effects, integer cents: opening and what stands between make the closing. */
export interface StatementGroup {
  /** Name of an account, `2026-10`, or a label; null for cards without a label. */
  readonly group: string | null;
  /** Cards in it, of a month all that moved. */
  readonly cards: number;
  readonly lines: number;
  readonly opening: number;
  readonly deposits: number;
  /** Between wallet and cards; 0 where both sides stand in the group. */
  readonly transfers: number;
  readonly settled: number;
  readonly refunded: number;
  readonly fees: number;
  readonly unexplained: number;
  readonly closing: number;
}

type Sums = { -readonly [Key in keyof Omit<StatementGroup, 'group' | 'cards'>]: StatementGroup[Key] };

const COLUMN = {
  settlement: 'settled',
  refund: 'refunded',
  transfer: 'transfers',
  deposit: 'deposits',
  fee: 'fees',
  unexplained: 'unexplained',
} as const satisfies Readonly<Record<Line['type'], keyof Sums>>;

/** `nameOf` names an account. Groups stand in the order of the accounts; months and labels in their own. */
export function groupsOf(
  { accounts }: { readonly accounts: readonly StatementAccount[] },
  by: GroupedBy,
  nameOf: (account: StatementAccount) => string,
): readonly StatementGroup[] {
  if (by === 'month') return monthsOf(accounts);
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
  return [...groups.values()].map(({ group, accounts: of }) => ({ group, ...sumsOf(of) }));
}

function sumsOf(accounts: readonly StatementAccount[]): Omit<StatementGroup, 'group'> {
  const sums = noSums(0);
  for (const { opening, closing, lines } of accounts) {
    sums.opening += opening;
    sums.closing += closing;
    for (const line of lines) count(sums, line);
  }
  return { cards: accounts.filter(({ kind }) => kind === 'card').length, ...sums };
}

function monthsOf(accounts: readonly StatementAccount[]): readonly StatementGroup[] {
  const months = new Map<string, { sums: Sums; cards: Set<string> }>();
  for (const { lines, kind, card_id } of accounts) {
    for (const line of lines) {
      const name = line.date.slice(0, 7);
      const month = months.get(name) ?? { sums: noSums(0), cards: new Set() };
      months.set(name, month);
      count(month.sums, line);
      if (kind === 'card' && card_id !== null) month.cards.add(card_id);
    }
  }
  let balance = accounts.reduce((sum, { opening }) => sum + opening, 0);
  return [...months]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, { sums, cards }]) => {
      sums.opening = balance;
      const { deposits, transfers, settled, refunded, fees, unexplained } = sums;
      balance += deposits + transfers + settled + refunded + fees + unexplained;
      return { group, cards: cards.size, ...sums, closing: balance };
    });
}

function count(sums: Sums, { type, cents }: Line): void {
  sums[COLUMN[type]] += cents;
  sums.lines += 1;
}

function noSums(opening: number): Sums {
  const moved = { deposits: 0, transfers: 0, settled: 0, refunded: 0, fees: 0, unexplained: 0 };
  return { lines: 0, opening, ...moved, closing: opening };
}
