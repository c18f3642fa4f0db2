/** Times of the service: ms UTC inside, ISO 8601 text on the wire. */
import { DAY, instantOf } from '../../core/durations.ts';
import { Refused } from '../calls/handler.ts';

/** `2026-01-05T10:00:00Z`, with milliseconds only where there are some. */
export function isoTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  const text = SECONDS.get(second) ?? secondText(second);
  const rest = ms - second * 1000;
  return rest === 0 ? `${text}Z` : `${text}.${String(rest).padStart(3, '0')}Z`;
}

/** Texts of seconds: what is written now is mostly of this second, or ends with the same month. */
const SECONDS = new Map<number, string>();
const MOST_SECONDS = 64;

function secondText(second: number): string {
  const text = new Date(second * 1000).toISOString().slice(0, -'.000Z'.length);
  if (SECONDS.size >= MOST_SECONDS) SECONDS.clear();
  SECONDS.set(second, text);
  return text;
}

/** Last second of the month 36 months on. */
export function cardExpiry(createdAt: number): number {
  const created = new Date(createdAt);
  return Date.UTC(created.getUTCFullYear(), created.getUTCMonth() + 37, 1) - 1000;
}

/** Expired is a predicate, not a status. The last second of the month still counts. */
export function isExpired(card: { readonly expires_at: number }, now: number): boolean {
  return now > card.expires_at;
}

/** The calendar month, UTC, that holds `now`. */
export function monthOf(now: number) {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month, 1), before: Date.UTC(year, month + 1, 1) };
}

/**
 * What a row has that was made within a `from`/`to` filter, both inclusive; a bare date in `to` is the end of that UTC day, a
 * time without offset is UTC. Throws `invalid_request` when from is after to.
 */
export function createdWithin(asked: { from?: string | undefined; to?: string | undefined }) {
  const [from, until] = [instantOf(asked.from), instantOf(asked.to)];
  const to = until !== undefined && !asked.to?.includes('T') ? until + DAY - 1 : until;
  if (from !== undefined && to !== undefined && from > to) {
    throw new Refused('invalid_request', `from: ${asked.from} is after to: ${asked.to}`);
  }
  return { 'created_at >= ?': from, 'created_at <= ?': to };
}
