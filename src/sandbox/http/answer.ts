/** From what a handler gave, or why it refused, to status, headers and exact bytes of an answer. */
import { FIXED_HEADERS, HEADERS } from '../../contract/envelopes.ts';
import type { Shape } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Operation, PageFacts } from '../../contract/operation.ts';
import { SANDBOX_MARK } from '../../contract/sandbox/basis.ts';
import { RATE_WINDOW } from '../../contract/spans.ts';
import { Encoded, type Fields, type Refused, wireObject } from '../calls/handler.ts';
import type { Sql } from '../store/sql.ts';

/** An answer as it is stored under a key: without what belongs to the single request. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Exact text of the body. */
  readonly body: string;
  /** Path of what is sent in place of the body, and then removed. */
  readonly file?: string;
}

/** The answer to a request that was executed. */
export function replyAnswer({ returns }: Operation, reply: unknown): Answer {
  const { kind, status, shape } = returns;
  const answer = (body: string) => ({ status, headers: {}, body });
  if (kind === 'none') return answer('');
  if (kind === 'one') return answer(textOf(shape, reply as Fields));
  const { data, page } = reply as { data: readonly Fields[]; page: PageFacts };
  const rows = data.map(item => textOf(shape, item)).join(',');
  if (kind === 'list') return answer(`{"data":[${rows}]}`);
  const { page: number, per_page, total, total_pages } = page;
  return answer(`{"data":[${rows}],"meta":${JSON.stringify({ page: number, per_page, total, total_pages })}}`);
}

function textOf(shape: Shape, value: Fields | Encoded): string {
  return value instanceof Encoded ? value.text : JSON.stringify(wireObject(shape, value));
}

/** The answer to what a handler threw: exactly the four stated fields (interface 2.7, A-100). */
export function refusedAnswer({ refusal, message, status, headers: own }: Refused, requestId: string): Answer {
  const headers: Record<string, string> = { ...own };
  if (refusal === 'unauthorized') headers[FIXED_HEADERS.www_authenticate.name] = 'Bearer';
  if (refusal === 'idempotency_in_progress' || refusal === 'service_unavailable')
    headers[HEADERS.retry_after.name] = '1';
  return errorAnswer({ status, error: refusal, message, headers }, requestId);
}

type ErrorFacts = Pick<Answer, 'status'> & Partial<Answer> & Readonly<Record<'error' | 'message', string>>;

/** An error of another status or word than the service has. */
export function errorAnswer({ status, error, message, headers = {} }: ErrorFacts, requestId: string): Answer {
  return { status, headers, body: JSON.stringify({ error, message, code: status, request_id: requestId }) };
}

/** A stored answer once more, marked as such. */
export function replayed(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, [HEADERS.idempotent_replayed.name]: 'true' } };
}

/** Adds what tells where the caller stands with a rate limit. */
export function withAllowance(answer: Answer, allowance: Allowance | undefined): Answer {
  if (allowance === undefined) return answer;
  const headers: Record<string, string> = {
    ...answer.headers,
    [FIXED_HEADERS.rate_limit_limit.name]: String(allowance.limit),
    [FIXED_HEADERS.rate_limit_remaining.name]: String(allowance.remaining),
    [FIXED_HEADERS.rate_limit_reset.name]: String(allowance.resetAt),
  };
  if (allowance.retryAfter !== undefined) headers[HEADERS.retry_after.name] = String(allowance.retryAfter);
  return { ...answer, headers };
}

/** Headers of every answer, around those of its own; `bare` ones lack what HTTP can do without. */
export function headersFor(answer: Answer, requestId: string, bare = false): Record<string, string> {
  const headers: Record<string, string> = { [SANDBOX_MARK]: 'true' };
  if (!bare) {
    headers[HEADERS.request_id.name] = requestId;
    headers['Cache-Control'] = 'no-store';
  }
  Object.assign(headers, answer.headers);
  if (answer.status === 204) return headers;
  headers['Content-Type'] ??= 'application/json; charset=utf-8';
  headers['Content-Length'] ??= String(Buffer.byteLength(answer.body));
  return headers;
}

// Rate limits: at most so many requests in any 60 seconds of real time. Rows, because every command is a process of its own.

type Bucket = 'details' | 'general';

export type Allowance = ReturnType<typeof countRequest>;

const ROWS = { details: LIMITS.detailsRate, general: LIMITS.generalRate } as const;

/** Which limits a server keeps: every one, those that the interface states, or none. */
export type LimitsKept = 'all' | 'stated' | 'none';

/** Whether requests of this kind are counted. */
export function isCounted(kept: LimitsKept, bucket: Bucket): boolean {
  if (kept === 'stated') return ROWS[bucket].basis.stated !== undefined;
  return kept === 'all';
}

/**
 * Counts a request, unless it is over the limit: a refused one uses no place. `real` is ms UTC on the clock that counts,
 * `shown` on that of the sandbox.
 */
export function countRequest(sql: Sql, { bucket, real, shown }: { bucket: Bucket; real: number; shown: number }) {
  const limit = ROWS[bucket].max;
  // Rows of the future are left by a clock that was set back; they would bar the way for long.
  sql.run(
    'delete from rate_hits where bucket = ? and (real_at < ? or real_at > ?)',
    bucket,
    real - RATE_WINDOW,
    real + RATE_WINDOW,
  );
  const counted =
    'select coalesce(sum(hits), 0) as used, coalesce(min(real_at), ?) as oldest from rate_hits where bucket = ?';
  const { used, oldest } = sql.one<Record<'used' | 'oldest', number>>(counted, real, bucket);
  if (used < limit) {
    sql.run(
      `insert into rate_hits (bucket, real_at, hits) values (?, ?, 1)
       on conflict (bucket, real_at) do update set hits = rate_hits.hits + 1`,
      bucket,
      real,
    );
  }
  // Both ends of the minute belong to it, so the place is free one ms after.
  const freeAt = oldest + RATE_WINDOW + 1;
  return {
    limit,
    remaining: Math.max(0, limit - used - 1),
    /** When the next place comes free, seconds since 1970 UTC on the clock of the sandbox, as the header Date. */
    resetAt: Math.ceil((freeAt - real + shown) / 1000),
    /** Seconds to wait; undefined when this request was let through. */
    retryAfter: used < limit ? undefined : Math.max(1, Math.ceil((freeAt - real) / 1000)),
  };
}
