/** Time as text: relative for tables, ISO in UTC for machines, words for screen readers. All arguments are ms. */
import { DAY, HOUR, instantOf, MINUTE, SECOND } from '../core/durations.ts';

/** Younger than this, either way, is `now`. */
const NOW = 5 * SECOND;

const STEPS = [
  { size: DAY, letter: 'd', word: 'day' },
  { size: HOUR, letter: 'h', word: 'hour' },
  { size: MINUTE, letter: 'm', word: 'minute' },
  { size: SECOND, letter: 's', word: 'second' },
] as const;

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Milliseconds of ISO 8601 text, undefined for anything else: a word such as `2026` is shown as it is. */
export function parseTimestamp(value: unknown): number | undefined {
  return typeof value === 'string' && TIMESTAMP.test(value) ? instantOf(value) : undefined;
}

function largestSpan(ms: number) {
  if (ms < NOW) return undefined;
  const step = STEPS.find(({ size }) => ms >= size) ?? STEPS[3];
  return { count: Math.floor(ms / step.size), letter: step.letter, word: step.word };
}

/** `2h`, `41d`, `now`, and for the future `in 5m`. */
export function relativeTime(ms: number, now: number): string {
  const span = largestSpan(Math.abs(now - ms));
  if (span === undefined) return 'now';
  return `${ms > now ? 'in ' : ''}${span.count}${span.letter}`;
}

/** `2 hours ago`, `in 1 minute`, `now`: the same span, for a screen reader. */
export function relativeWords(ms: number, now: number): string {
  const span = largestSpan(Math.abs(now - ms));
  if (span === undefined) return 'now';
  const text = `${span.count} ${span.word}${span.count === 1 ? '' : 's'}`;
  return ms > now ? `in ${text}` : `${text} ago`;
}

/** A length of time in its two largest units: `42s`, `4m58s`, `2h05m`, `3d04h`. Never negative. */
export function durationText(ms: number): string {
  const total = Math.max(0, Math.floor(ms / SECOND)) * SECOND;
  const index = STEPS.findIndex(({ size }) => total >= size);
  const large = STEPS[index];
  const small = STEPS[index + 1];
  if (large === undefined) return '0s';
  const whole = `${Math.floor(total / large.size)}${large.letter}`;
  if (small === undefined) return whole;
  return `${whole}${String(Math.floor((total % large.size) / small.size)).padStart(2, '0')}${small.letter}`;
}

/** A card's expiry `11/29`, from `2029-11`, a timestamp (its UTC month) or text already in that form. */
export function monthText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d{2}\/\d{2}$/.test(value)) return value;
  const ms = parseTimestamp(/^\d{4}-\d{2}$/.test(value) ? `${value}-01` : value);
  if (ms === undefined) return undefined;
  const iso = new Date(ms).toISOString();
  return `${iso.slice(5, 7)}/${iso.slice(2, 4)}`;
}
