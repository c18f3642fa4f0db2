/** Lengths of time, ms. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * Bounds of one request, connection and body included, where `--timeout` names no other
 * (docs/design/reliability.md, section 2).
 */
export const REQUEST_TOTAL_MS = { read: 30 * SECOND, write: 75 * SECOND } as const;

const LENGTHS = { d: DAY, h: HOUR, m: MINUTE, s: SECOND } as const;

/** ms of `7d`, `36h` or `1d12h`; undefined for anything else, and for no time at all. */
export function durationOf(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d{1,9})([dhms])/g)];
  if (parts.map(([whole]) => whole).join('') !== text) return undefined;
  const sum = parts.reduce((ms, [, count, unit]) => ms + Number(count) * LENGTHS[unit as keyof typeof LENGTHS], 0);
  return sum > 0 ? sum : undefined;
}

/** Full seconds of a time in milliseconds. A service tells no more, and what is due in five minutes is not due in four. */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / SECOND) * SECOND;
}

// Times as ISO 8601 in UTC.

/**
 * ms UTC of a time; undefined for what is none. A bare date is its first moment. One without a zone is UTC, and not of this
 * machine, as `Date.parse` has it.
 */
export function instantOf(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const ms = Date.parse(/[T ][\d:.]+$/.test(text) ? `${text}Z` : text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** `2026-11-20T14:03:11Z`; milliseconds only where there are some. `ms` UTC. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** An ISO time to the second that has begun. */
export function isoSeconds(ms: number): string {
  return isoTime(wholeSeconds(ms));
}
