/** A request as far as it is understood before the store is asked: its route, its values, its key. */
import type { IncomingHttpHeaders } from 'node:http';
import { shapeProblem } from '../../contract/check.ts';
import type { Shape } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { FaultPhase, OneFault, RequestAction } from '../../contract/sandbox/fault-rule.ts';
import { centsOf } from '../../core/money.ts';
import { Refused } from '../calls/handler.ts';
import type { Allowance } from './limits.ts';
import type { Route } from './routing.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface ParsedRequest {
  readonly route: Route;
  readonly path: string;
  readonly params: Fields;
  readonly query: Fields;
  /** The query as it was sent, without its question mark. */
  readonly queryText: string;
  /** Fields of the body, or why there are none: said after the request was counted. */
  readonly body: Fields | Refused;
  /** Fields of the body, also of a request that is refused for something else; undefined where it could not be read. */
  readonly bodyRead: Fields | undefined;
  /** Set where the request has a key that is honoured. */
  readonly keyed: Keying | undefined;
  /** The idempotency key as it was sent, honoured or not. */
  readonly keySent: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Real time it arrived, ms of a clock that is never set. */
  readonly arrivedAt: number;
  /** Last four characters of the API key. */
  readonly keyLast4: string;
  /** A fault for this request alone, from its header. */
  readonly fault?: OneFault | undefined;
  /** It was counted, named and made to wait already. */
  readonly passed?: Passed | undefined;
  /** Ends waits, when the server stops. */
  readonly stopping: AbortSignal;
}

/** A fault that meets this request: when, what, and what is answered instead. */
export interface AppliedFault {
  /** Reads are always carried out first: there is no effect to keep from happening. */
  readonly phase: FaultPhase;
  readonly action: RequestAction;
  /** Seeds what the action leaves random. */
  readonly source: string;
}

export interface Passed {
  readonly requestId: string;
  readonly allowance: Allowance | undefined;
  readonly appliedFault: AppliedFault;
}

/** The idempotency record a request belongs to. */
export interface Keying {
  readonly scope: string;
  readonly fingerprint: string;
  /** Fingerprint of a request under the same key that this process is still working on. */
  readonly rival: string | undefined;
}

/** JSON numbers of USD become integer cents here and nowhere else. */
export function withCents(shape: Shape, body: Fields): Fields {
  const converted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const isMoney = Object.hasOwn(shape, name) && shape[name]?.kind === 'money';
    converted[name] = isMoney && typeof value === 'number' ? centsOf(value) : value;
  }
  return converted;
}

/** Throws when the body could not be read. */
export function bodyOf({ body }: ParsedRequest): Fields {
  if (body instanceof Refused) throw body;
  return body;
}

export function problemOf({ route: { row }, params, query, body }: ParsedRequest): Refused | undefined {
  if (body instanceof Refused) return body;
  const problem =
    shapeProblem(row.params ?? {}, params) ??
    shapeProblem(row.query ?? {}, query) ??
    shapeProblem(row.body ?? {}, body);
  return problem && new Refused('invalid_request', `${problem.field}: ${problem.text}`);
}

export function refuseProblem(parsed: ParsedRequest): void {
  const problem = problemOf(parsed);
  if (problem !== undefined) throw problem;
}

/** The key a request is to be kept under; undefined where none is honoured. Throws `invalid_request`. */
export function honouredKey(route: Route, header: string | undefined): string | undefined {
  if (header === undefined || route.surface === 'admin' || route.row.method !== 'POST') return undefined;
  if (/^[\x20-\x7e]+$/.test(header) && header.length <= LIMITS.idempotencyKey.max) return header;
  throw new Refused(
    'invalid_request',
    `An idempotency key has 1 to ${LIMITS.idempotencyKey.max} printable ASCII characters.`,
  );
}

/** the account is part of the record's key already. */
export function scopeOf({ route, path }: Pick<ParsedRequest, 'route' | 'path'>, key: string): string {
  return `${route.row.method} ${path} ${key}`;
}
