/** What was spent, by spans of time or by card, merchant or label, with the course of each. */
import { type Cents, cents } from '../../core/money.ts';
import { type EffectColumns, effectOf } from '../effect.ts';
import { dayOf, firstDay, nextFirstDay, SPANS_OF_TIME, type SpanOfTime, spanText } from './calendar.ts';

export const CHARTED_BY = [...SPANS_OF_TIME, 'card', 'merchant', 'label'] as const;
export type ChartedBy = (typeof CHARTED_BY)[number];

export interface ChartRecord extends EffectColumns {
  readonly at_ms: number;
  /** Card, merchant or label; not looked at for spans of time. */
  readonly group: string | null;
}

/** What was spent in one bucket: settled less refunded. */
export interface Bucket {
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
