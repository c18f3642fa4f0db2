/**
 * Rate limits: at most so many requests in any 60 seconds of real time. Rows, because every command is
 * a process of its own.
 */
import { LIMITS } from '../../contract/limits.ts';
import { RATE_WINDOW } from '../../contract/spans.ts';
import type { Sql } from '../store/sql.ts';

export type Bucket = 'details' | 'general';

export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** When the next place comes free, seconds since 1970 UTC on the clock of the sandbox, as the header Date. */
  readonly resetAt: number;
  /** Seconds to wait; undefined when this request was let through. */
  readonly retryAfter: number | undefined;
}

const ROWS = { details: LIMITS.detailsRate, general: LIMITS.generalRate } as const;

/** Which limits a server keeps: every one, those that the interface states, or none. */
export type LimitsKept = 'all' | 'stated' | 'none';

/** Whether requests of this kind are counted. */
export function isCounted(kept: LimitsKept, bucket: Bucket): boolean {
  if (kept === 'stated') return 'stated' in ROWS[bucket].basis && ROWS[bucket].basis.stated !== undefined;
  return kept === 'all';
}

/**
 * Counts a request, unless it is over the limit: a refused one uses no place. `real` is ms UTC on the clock that counts,
 * `shown` on that of the sandbox.
 */
export function countRequest(
  sql: Sql,
  { bucket, real, shown }: { bucket: Bucket; real: number; shown: number },
): Allowance {
  const limit = ROWS[bucket].max;
  // Rows of the future are left by a clock that was set back; they would bar the way for long.
  sql.run(
    'delete from rate_hits where bucket = ? and (real_at < ? or real_at > ?)',
    bucket,
    real - RATE_WINDOW,
    real + RATE_WINDOW,
  );
  const rows = sql.all<{ real_at: number; hits: number }>(
    'select real_at, hits from rate_hits where bucket = ? order by real_at',
    bucket,
  );
  const used = rows.reduce((sum, row) => sum + row.hits, 0);
  if (used < limit) {
    sql.run(
      `insert into rate_hits (bucket, real_at, hits) values (?, ?, 1)
       on conflict (bucket, real_at) do update set hits = rate_hits.hits + 1`,
      bucket,
      real,
    );
  }
  const oldest = rows[0]?.real_at ?? real;
  // Both ends of the minute belong to it, so the place is free one ms after.
  const freeAt = oldest + RATE_WINDOW + 1;
  return {
    limit,
    remaining: Math.max(0, limit - used - 1),
    resetAt: Math.ceil((freeAt - real + shown) / 1000),
    retryAfter: used < limit ? undefined : Math.max(1, Math.ceil((freeAt - real) / 1000)),
  };
}
