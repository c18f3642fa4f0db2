/** Adds transactions up by day, merchant, card or type, in cents. */
import { effectOf } from '../../books/records.ts';
import type { Item } from '../../contract/calls.ts';
import { isInDollars } from '../../contract/currency.ts';
import { type Cents, cents, toCents, toUsd } from '../../core/money.ts';

type Transaction = Item<'transactions.list'>;

export const GROUPINGS = ['day', 'merchant', 'card', 'type'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** USD, as amounts are in JSON. `spent` is what was settled less what was refunded. */
export interface Sums {
  readonly transactions: number;
  readonly spent: number;
  readonly settled: number;
  readonly refunded: number;
  readonly pending: number;
  readonly declined: number;
}

/** One line of a summary; null where the records do not say. */
export interface GroupSums extends Sums {
  readonly group: string | null;
}

interface Tally {
  transactions: number;
  settled: Cents;
  refunded: Cents;
  pending: Cents;
  declined: Cents;
}

/** Takes records one after the other; the sums are exact however many there are. */
export class Summary {
  readonly #groups = new Map<string | null, Tally>();
  readonly #all = emptyTally();
  #leftOut = 0;
  readonly #by: Grouping;

  constructor(by: Grouping) {
    this.#by = by;
  }

  /** A record in another currency is counted alone: its amount is no sum of dollars. */
  add(record: Transaction): void {
    if (!isInDollars(record)) {
      this.#leftOut += 1;
      return;
    }
    const key = keyOf(record, this.#by);
    const group = this.#groups.get(key) ?? emptyTally();
    this.#groups.set(key, group);
    for (const tally of [group, this.#all]) count(tally, record);
  }

  /** Days in their order, everything else by what was spent, most first; what is not known stands last. */
  groups(): readonly GroupSums[] {
    const rows = [...this.#groups].map(([group, tally]) => ({ group, ...sumsOf(tally) }));
    const byName = (a: GroupSums, b: GroupSums) => (a.group ?? '').localeCompare(b.group ?? '', 'en');
    const known = (a: GroupSums, b: GroupSums) => Number(a.group === null) - Number(b.group === null);
    if (this.#by === 'day') return rows.sort((a, b) => known(a, b) || byName(a, b));
    return rows.sort((a, b) => known(a, b) || b.spent - a.spent || b.pending - a.pending || byName(a, b));
  }

  /** How many records are in another currency than USD. */
  get leftOut(): number {
    return this.#leftOut;
  }

  total(): Sums {
    return sumsOf(this.#all);
  }
}

function keyOf({ created_at, merchant, card_id, type }: Transaction, by: Grouping): string | null {
  if (by === 'day') return created_at == null ? null : localDay(created_at);
  return { merchant, card: card_id, type }[by] ?? null;
}

/** `2026-11-20`, of the zone of this process, as `--since 2026-11-20` means it. */
function localDay(time: string): string {
  const at = new Date(time);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function count(tally: Tally, { id, type, status, amount, authorization_id }: Transaction): void {
  tally.transactions += 1;
  const columns = { tx_id: id, type, status: status ?? null, authorization_id: authorization_id ?? null };
  const effect = effectOf({ ...columns, cents: toCents(amount) });
  for (const column of ['settled', 'refunded', 'pending', 'declined'] as const) {
    tally[column] = cents(tally[column] + effect[column]);
  }
}

function emptyTally(): Tally {
  return { transactions: 0, settled: cents(0), refunded: cents(0), pending: cents(0), declined: cents(0) };
}

function sumsOf({ transactions, settled, refunded, pending, declined }: Tally): Sums {
  return {
    transactions,
    spent: toUsd(cents(settled - refunded)),
    settled: toUsd(settled),
    refunded: toUsd(refunded),
    pending: toUsd(pending),
    declined: toUsd(declined),
  };
}

/** Said of records that the sums leave out. */
export function leftOutText(count: number): string {
  const records = count === 1 ? '1 record is' : `${count} records are`;
  return `warning: ${records} in another currency than USD and left out of the sums; tx list -o wide shows the currency`;
}
