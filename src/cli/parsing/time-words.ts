/** Time words: ISO 8601, `2026-11-01`, `today`, `yesterday`, `7d`, `12h`, `+30d`. Without a zone the local one is meant. */

import { isCalendarDay } from '../../contract/violation.ts';
import { DAY, HOUR, MINUTE } from '../../core/durations.ts';
import { isoTime } from '../../core/iso-time.ts';

const RELATIVE = /^(\+?)(\d{1,5})([mhdw])$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/;
const ZONED_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY };

/**
 * ISO 8601 UTC text of a time word, or undefined when it is none. A bare day is its first moment, or with
 * `end` its last millisecond; `7d` is that long before `now` (ms UTC), `+7d` that long after it.
 */
export function parseTimeWord(text: string, now: number, end = false): string | undefined {
  const relative = RELATIVE.exec(text);
  if (relative) {
    const length = Number(relative[2]) * (UNITS[relative[3] ?? ''] ?? 0);
    return isoTime(relative[1] === '+' ? now + length : now - length);
  }
  if (text === 'now') return isoTime(now);
  if (text === 'today' || text === 'yesterday') return day(new Date(now), text === 'today' ? 0 : -1, end);
  if (DATE.test(text)) {
    const [year = 0, month = 0, date = 0] = text.split('-').map(Number);
    const start = new Date(year, month - 1, date);
    // A date such as 2026-02-31 rolls over; then it was never a date.
    if (start.getFullYear() !== year || start.getMonth() !== month - 1 || start.getDate() !== date) return undefined;
    return day(start, 0, end);
  }
  if ((!LOCAL_TIME.test(text) && !ZONED_TIME.test(text)) || !isCalendarDay(text)) return undefined;
  const value = Date.parse(text);
  return Number.isNaN(value) ? undefined : isoTime(value);
}

/** Whether the word counts from the present moment. */
export function countsFromNow(text: string): boolean {
  return RELATIVE.test(text) || ['now', 'today', 'yesterday'].includes(text);
}

function day(of: Date, offset: number, end: boolean): string {
  const start = new Date(of.getFullYear(), of.getMonth(), of.getDate() + offset);
  const next = new Date(of.getFullYear(), of.getMonth(), of.getDate() + offset + 1);
  return isoTime(end ? next.getTime() - 1 : start.getTime());
}
