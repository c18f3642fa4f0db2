/** Calendar days of the zone of this process, as `--from 2026-11-20` means them, numbered from 1970-01-01. */
import { DAY } from '../../core/durations.ts';

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

export const SPANS_OF_TIME = ['day', 'week', 'month'] as const;
export type SpanOfTime = (typeof SPANS_OF_TIME)[number];

/** First day of the week (Monday) or month that a day is in; of `day`, itself. */
export function firstDay(day: number, span: SpanOfTime): number {
  // 1970-01-01 was a Thursday.
  if (span === 'week') return day - ((((day + 3) % 7) + 7) % 7);
  if (span === 'day') return day;
  const date = new Date(day * DAY);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / DAY;
}

/** First day of the span after the one that begins with this day. */
export function nextFirstDay(first: number, span: SpanOfTime): number {
  if (span !== 'month') return first + (span === 'week' ? 7 : 1);
  const date = new Date(first * DAY);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / DAY;
}

/** `2026-11` for a month, else its first day. */
export function spanText(first: number, span: SpanOfTime): string {
  return dayText(first).slice(0, span === 'month' ? 7 : 10);
}
