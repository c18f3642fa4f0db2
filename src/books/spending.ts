/** What was spent: by days of the zone of this process, by card, merchant or label, and where it grew. */
import { DAY } from '../core/durations.ts';
import { type Cents, cents } from '../core/money.ts';
import { type EffectColumns, effectOf } from './records.ts';

/** Number of the day that an instant (ms UTC) falls on here. */
export function dayOf(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY;
}

/** `2026-11-20`. */
export function dayText(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10);
}

/** First instant of a day here, ms UTC. */
export function startOfDay(day: number): number {
  const date = new Date(day * DAY);
  return new Date(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()).getTime();
}

const SPANS_OF_TIME = ['day', 'week', 'month'] as const;
type SpanOfTime = (typeof SPANS_OF_TIME)[number];

/** First day of the week (Monday) or month that a day is in; of `day`, itself. */
export function firstDay(day: number, span: SpanOfTime): number {
  // 1970-01-01 was a Thursday.
  if (span === 'week') return day - ((((day + 3) % 7) + 7) % 7);
  if (span === 'day') return day;
  const date = new Date(day * DAY);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / DAY;
}

/** First day of the span after the one that begins with this day. */
function nextFirstDay(first: number, span: SpanOfTime): number {
  if (span !== 'month') return first + (span === 'week' ? 7 : 1);
  const date = new Date(first * DAY);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / DAY;
}

/** `2026-11` for a month, else its first day. */
function spanText(first: number, span: SpanOfTime): string {
  return dayText(first).slice(0, span === 'month' ? 7 : 10);
}

// What was spent, by spans of time or by card, merchant or label, with the course of each.

export const CHARTED_BY = [...SPANS_OF_TIME, 'card', 'merchant', 'label'] as const;
export type ChartedBy = (typeof CHARTED_BY)[number];

interface ChartRecord extends EffectColumns {
  readonly at_ms: number;
  /** Card, merchant or label; not looked at for spans of time. */
  readonly group: string | null;
}

/** What was spent in one bucket: settled less refunded. */
interface Bucket {
  readonly start: number;
  readonly spent: Cents;
  /** Something was settled or refunded, though it may add up to nothing. */
  readonly moved: boolean;
}

export interface ChartGroup {
  /** A first day, `2026-11` for a month, an id, a name; null where the records do not say. */
  readonly group: string | null;
  readonly spent: Cents;
  readonly transactions: number;
  /** Days of the span that have begun, of a span of time. */
  readonly days?: number;
  /** Of a card, merchant or label: one a day from the first record of the chart to its last. */
  readonly buckets?: readonly Bucket[];
}

interface Sum {
  spent: number;
  transactions: number;
  moved: boolean;
}

/** Takes records in any order, each once. */
export class Chart {
  readonly #by: ChartedBy;
  readonly #groups = new Map<string | null, Map<number, Sum>>();
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  constructor(by: ChartedBy) {
    this.#by = by;
  }

  add(record: ChartRecord): void {
    const { settled, refunded } = effectOf(record);
    const day = dayOf(record.at_ms);
    this.#first = Math.min(this.#first, day);
    this.#last = Math.max(this.#last, day);
    const group = isSpan(this.#by) ? null : record.group;
    const days = this.#groups.get(group) ?? new Map<number, Sum>();
    this.#groups.set(group, days);
    const sum = days.get(day) ?? { spent: 0, transactions: 0, moved: false };
    days.set(day, sum);
    sum.spent += settled - refunded;
    sum.transactions += 1;
    sum.moved ||= settled > 0 || refunded > 0;
  }

  /** Sum of all groups. */
  total(): Cents {
    return cents([...this.#groups.values()].reduce((sum, days) => sum + totalOf(days).spent, 0));
  }

  /**
   * Spans of time in their order, those without a record too; everything else by what was spent, most first, what is
   * not known last. `today` (a day number) ends the span that is under way.
   */
  groups(today: number): readonly ChartGroup[] {
    if (this.#groups.size === 0) return [];
    if (isSpan(this.#by)) return this.#spans(this.#by, today);
    return [...this.#groups]
      .map(([group, days]) => ({ group, ...totalOf(days), buckets: this.#buckets(days) }))
      .sort(
        (a, b) =>
          Number(a.group === null) - Number(b.group === null) ||
          b.spent - a.spent ||
          (a.group ?? '').localeCompare(b.group ?? '', 'en'),
      );
  }

  #spans(by: SpanOfTime, today: number): readonly ChartGroup[] {
    const found: ChartGroup[] = [];
    const days = this.#groups.get(null) ?? new Map<number, Sum>();
    for (let first = firstDay(this.#first, by); first <= this.#last; first = nextFirstDay(first, by)) {
      const end = nextFirstDay(first, by);
      const inside = new Map<number, Sum>();
      for (let day = first; day < end; day += 1) {
        const sum = days.get(day);
        if (sum !== undefined) inside.set(day, sum);
      }
      found.push({
        group: spanText(first, by),
        ...totalOf(inside),
        days: Math.max(1, Math.min(end, today + 1) - first),
      });
    }
    return found;
  }

  #buckets(days: ReadonlyMap<number, Sum>): readonly Bucket[] {
    return Array.from({ length: this.#last - this.#first + 1 }, (_, nth) => {
      const start = this.#first + nth;
      const { spent = 0, moved = false } = days.get(start) ?? {};
      return { start, spent: cents(spent), moved };
    });
  }
}

function isSpan(by: ChartedBy): by is SpanOfTime {
  return SPANS_OF_TIME.some(span => span === by);
}

function totalOf(days: ReadonlyMap<number, Sum>): { readonly spent: Cents; readonly transactions: number } {
  let [spent, transactions] = [0, 0];
  for (const sum of days.values()) {
    spent += sum.spent;
    transactions += sum.transactions;
  }
  return { spent: cents(spent), transactions };
}

// What was spent in the last days, in as many days before, and at which merchants it grew.

interface SpendingRecord extends EffectColumns {
  readonly at_ms: number;
  readonly merchant: string | null;
}

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
    return startOfDay(this.#first - this.days);
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

  /** One a day, oldest first. */
  get buckets(): readonly Bucket[] {
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
