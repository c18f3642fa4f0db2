/** What was spent in the last days of the zone of this process, in as many days before, and at which merchants it grew. */
import { DAY } from '../core/durations.ts';
import { type Cents, cents } from '../core/money.ts';
import { type EffectColumns, effectOf } from './records.ts';
import type { TxRow } from './rows.ts';

/** Number of the day that an instant (ms UTC) falls on here. */
export function dayOf(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY;
}

/** `2026-11-20`. */
export function dayText(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10);
}

type SpendingRecord = EffectColumns & Pick<TxRow, 'at_ms' | 'merchant'>;

const LEAST_GROWN = 50_00;
const MOST_GROWING = 10;

/** Takes records in any order, each once. The span is of calendar days, today with it. */
export class Spending {
  readonly days: number;
  readonly #now: number;
  readonly #first: number;
  readonly #sums: { spent: number; moved: boolean }[];
  readonly #merchants = new Map<string, { spent: number; before: number }>();
  #before = 0;

  constructor(now: number, days: number) {
    this.days = days;
    this.#now = now;
    this.#first = dayOf(now) - days + 1;
    this.#sums = Array.from({ length: days }, () => ({ spent: 0, moved: false }));
  }

  /** The oldest instant that is counted, ms UTC. */
  get oldestCounted(): number {
    const day = new Date((this.#first - this.days) * DAY);
    return new Date(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate()).getTime();
  }

  add(record: SpendingRecord): void {
    const { at_ms: at, merchant } = record;
    const day = at > this.#now ? undefined : dayOf(at) - this.#first;
    if (day === undefined || day < -this.days) return;
    const { settled, refunded } = effectOf(record);
    if (settled === 0 && refunded === 0) return;
    const spent = settled - refunded;
    const sum = this.#sums[day];
    if (sum === undefined) this.#before += spent;
    else {
      sum.spent += spent;
      sum.moved = true;
    }
    if (merchant === null) return;
    const of = this.#merchants.get(merchant) ?? { spent: 0, before: 0 };
    this.#merchants.set(merchant, of);
    of[sum === undefined ? 'before' : 'spent'] += spent;
  }

  get total(): Cents {
    return cents(this.#sums.reduce((sum, { spent }) => sum + spent, 0));
  }

  get before(): Cents {
    return cents(this.#before);
  }

  /** Share by which it grew, with two decimals, negative when it fell; null where nothing was spent before. */
  get change(): number | null {
    return this.#before > 0 ? Math.round(((this.total - this.#before) * 100) / this.#before) / 100 : null;
  }

  /** What was spent each day, oldest first; `moved` where something was, though it may add up to nothing. */
  get buckets() {
    return this.#sums.map(({ spent, moved }, nth) => ({ start: this.#first + nth, spent: cents(spent), moved }));
  }

  /**
   * Merchants where at least $50.00 were spent and twice as much as before, most first, ten at most. `factor` has one decimal and
   * is null where nothing was spent before.
   */
  get growing() {
    return [...this.#merchants]
      .filter(([, { spent, before }]) => spent >= LEAST_GROWN && spent >= 2 * before)
      .sort(([a, one], [b, other]) => other.spent - one.spent || a.localeCompare(b, 'en'))
      .slice(0, MOST_GROWING)
      .map(([merchant, { spent, before }]) => ({
        merchant,
        spent: cents(spent),
        before: cents(before),
        factor: before > 0 ? Math.round((spent * 10) / before) / 10 : null,
      }));
  }
}
