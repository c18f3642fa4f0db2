/** From what a handler gave, or why it refused, to status, headers and exact bytes of an answer. */
import { HEADERS } from '../../contract/envelopes.ts';
import type { Shape } from '../../contract/field.ts';
import type { Operation, PageFacts } from '../../contract/operation.ts';
import { REFUSALS } from '../../contract/refusals.ts';
import { SANDBOX_MARK } from '../../contract/sandbox/basis.ts';
import { type Encoded, encodedText, type Refused, wireObject } from '../calls/handler.ts';
import type { Allowance } from './limits.ts';

/** An answer as it is stored under a key: without what belongs to the single request. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Exact text of the body. */
  readonly body: string;
  /** Sent in place of the body. */
  readonly file?: { readonly path: string; remove(): Promise<void> };
}

type Fields = Readonly<Record<string, unknown>>;

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
  return encodedText(value) ?? JSON.stringify(wireObject(shape, value as Fields));
}

/** The answer to what a handler threw: exactly the four stated fields (interface 2.7, A-100). */
export function refusedAnswer({ refusal, message, status, headers: own }: Refused, requestId: string): Answer {
  const headers: Record<string, string> = { ...own };
  if (refusal === 'unauthorized') headers['WWW-Authenticate'] = 'Bearer';
  if (refusal === 'idempotency_in_progress' || refusal === 'service_unavailable')
    headers[HEADERS.retry_after.name] = '1';
  return errorAnswer({ status, error: refusal, message, headers }, requestId);
}

interface ErrorFacts extends Pick<Answer, 'status'>, Partial<Pick<Answer, 'headers'>> {
  readonly error: string;
  readonly message: string;
}

/** An error of another status or word than the service has. */
export function errorAnswer({ status, error, message, headers = {} }: ErrorFacts, requestId: string): Answer {
  return { status, headers, body: JSON.stringify({ error, message, code: status, request_id: requestId }) };
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
  headers['Content-Length'] ??= String(Buffer.byteLength(answer.body));
  return headers;
}
