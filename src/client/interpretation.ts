/** What one attempt came to, and what it is judged by. */
import type { Evidence } from '../contract/evidence.ts';
import type { RefusalRule } from '../contract/refusal-weight.ts';
import type { RefusalName } from '../contract/refusals.ts';
import type { CliError } from '../core/errors.ts';
import type { Decoded, RequestFacts } from './answer.ts';
import type { FailureClass } from './classify.ts';
import type { Redactor } from './redact.ts';
import type { Exchange } from './transport.ts';

/** What is missing from a 2xx answer of a write. */
export type Ambiguity =
  /** 202: accepted, not done. */
  | 'pending'
  /** 204 or `{"success": true}`: done, and nothing to show. */
  | 'no_content'
  /** A member that must be there is not, or the wanted state does not show yet. */
  | 'lacking'
  /** Empty, unreadable, not of this API, or about something else. */
  | 'worthless';

export interface Received {
  readonly status: number;
  readonly requestId: string | undefined;
}

export type Interpretation =
  /** `reread` when it was not the answer that showed it. */
  | (Received & {
      readonly class: 'done';
      readonly decoded: Decoded;
      readonly reread?: boolean;
      /** Of a write: as it was judged by, its times by the clock of the service. */
      readonly evidence?: Evidence | undefined;
    })
  /** `error` is what to throw when the effect cannot be confirmed. */
  | (Received & {
      readonly class: 'unverified';
      readonly doubt: Ambiguity;
      readonly partial: Readonly<Record<string, unknown>>;
      readonly error: CliError;
      /** As it was judged by, its times by the clock of the service. */
      readonly evidence: Evidence | undefined;
    })
  | (Partial<Received> & {
      readonly class: FailureClass;
      readonly error: CliError;
      readonly again: boolean;
      readonly refusal?: RefusalName | undefined;
      /** Of a refused write. */
      readonly rule?: RefusalRule | undefined;
      /** The clause of the error that says what was answered. */
      readonly said: string;
    });

export interface Judged extends RequestFacts {
  readonly idempotencyKey: string | undefined;
  /** When the answer came, ms UTC by this machine. */
  readonly answeredAt: number;
  /** Scheme and host the request went to, for redirects. */
  readonly origin: string;
  /** Path and query of the request. */
  readonly path: string;
  /** Variables of the environment that name address and key. */
  readonly variables?: readonly string[] | undefined;
  readonly redactor: Redactor;
}

export type Answered = Extract<Exchange, { status: number }>;
