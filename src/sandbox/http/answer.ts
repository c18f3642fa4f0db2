/** From what a handler gave, or why it refused, to status, headers and exact bytes of an answer. */
import { HEADERS } from '../../contract/envelopes.ts';
import type { Shape } from '../../contract/field.ts';
import type { Operation, PageFacts } from '../../contract/operation.ts';
import { REFUSALS, type RefusalName } from '../../contract/refusals.ts';
import { SANDBOX_MARK } from '../../contract/sandbox/basis.ts';
import { type Encoded, encodedText, type Refused, wireObject } from '../calls/handler.ts';
import type { StoredAnswer } from './idempotency.ts';
import type { Allowance } from './limits.ts';

/** An answer as it is stored under a key: without what belongs to the single request. */
export type Answer = StoredAnswer;

type Fields = Readonly<Record<string, unknown>>;

/** The answer to a request that was carried out. */
export function replyAnswer(row: Operation, reply: unknown): Answer {
  const { kind, status } = row.returns;
  if (kind === 'none') return { status, headers: {}, body: '' };
  return { status, headers: {}, body: replyText(row, reply) };
}

function replyText({ returns }: Operation, reply: unknown): string {
  if (returns.kind === 'one') return textOf(returns.shape, reply as Fields);
  const { data, page } = reply as { data: readonly Fields[]; page: PageFacts };
  const rows = data.map(item => textOf(returns.shape, item)).join(',');
  if (returns.kind === 'list') return `{"data":[${rows}]}`;
  const { page: number, per_page, total, total_pages } = page;
  return `{"data":[${rows}],"meta":${JSON.stringify({ page: number, per_page, total, total_pages })}}`;
}

function textOf(shape: Shape, value: Fields | Encoded): string {
  return encodedText(value) ?? JSON.stringify(wireObject(shape, value as Fields));
}

/** The answer to a request that was refused: exactly the four stated fields (interface 2.7, A-100). */
export function refusalAnswer(refusal: RefusalName, message: string, requestId: string): Answer {
  const { status } = REFUSALS[refusal];
  return errorAnswer({ status, error: refusal, message, headers: headersOf(refusal) }, requestId);
}

/** The answer to what a handler threw. */
export function refusedAnswer({ refusal, message, status }: Refused, requestId: string): Answer {
  return errorAnswer({ status, error: refusal, message, headers: headersOf(refusal) }, requestId);
}

export interface ErrorFacts {
  readonly status: number;
  readonly error: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error the service has no row for, such as 421. */
export function errorAnswer({ status, error, message, headers = {} }: ErrorFacts, requestId: string): Answer {
  return { status, headers, body: JSON.stringify({ error, message, code: status, request_id: requestId }) };
}

function headersOf(refusal: RefusalName): Readonly<Record<string, string>> {
  switch (refusal) {
    case 'unauthorized':
      return { 'WWW-Authenticate': 'Bearer' };
    case 'idempotency_in_progress':
    case 'service_unavailable':
      return { [HEADERS.retry_after.name]: '1' };
    default:
      return {};
  }
}

/** Whether a refusal is stored for its key and repeated. */
export function isStored({ refusal }: Refused): boolean {
  return 'storedForKey' in REFUSALS[refusal];
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
    'X-RateLimit-Limit': String(allowance.limit),
    'X-RateLimit-Remaining': String(allowance.remaining),
    'X-RateLimit-Reset': String(allowance.resetAt),
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
  headers['Content-Length'] = String(Buffer.byteLength(answer.body));
  return headers;
}
