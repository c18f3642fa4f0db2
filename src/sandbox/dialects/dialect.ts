/**
 * A way of speaking that another service of this kind may have (docs/design/contract-and-assumptions.md, section 14).
 */

import type { OperationName } from '../../contract/calls.ts';
import type { EventName } from '../../contract/events.ts';
import type { Method, Operation } from '../../contract/operation.ts';
import type { AdminHandlers, Handlers } from '../calls/handler.ts';
import type { Answer } from '../http/answer.ts';
import type { Sql } from '../store/sql.ts';

export interface Dialect {
  /** What is other than usual. */
  readonly changes: string;
  /** `X-Idempotency-Key` is dropped at the edge. */
  readonly ignoresKeys?: true;
  /** Nothing but what HTTP itself asks for. */
  readonly bareHeaders?: true;
  /** Routes in place of the usual ones. */
  readonly paths?: Partial<Record<OperationName, { readonly method?: Method; readonly path: `/${string}` }>>;
  /** Changes an answer of the service on its way out. */
  readonly speak?: (spoken: Spoken) => Answer | Promise<Answer>;
  /** Changes the payload of an event on its way out. */
  readonly payload?: (event: Fields) => Fields;
  readonly signature?: { readonly header: string; readonly prefix: string };
  /** Rules, not only words: handlers that stand in for the usual ones. */
  readonly handlers?: Partial<Handlers>;
  readonly adminHandlers?: Partial<AdminHandlers>;
  /** Changes what a handler gives, within its transaction. */
  readonly reply?: (within: Within, operation: string, reply: unknown) => Promise<unknown>;
  /** The same for the object in an event. */
  readonly eventData?: (within: Within, event: EventName, data: Fields) => Promise<Fields>;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface Within {
  readonly sql: Sql;
  readonly account: string;
}

export interface Spoken {
  readonly operation: string;
  readonly row: Operation;
  readonly answer: Answer;
  /** The JSON of the answer; undefined when it has none. */
  readonly body: unknown;
  /** Path parameters. */
  readonly params: Fields;
  /** The usual answer to reading a card. */
  readonly readCard: (id: string) => Promise<Answer>;
}

/** The same answer with another body, with or without another status. */
export function withBody(answer: Answer, body: unknown, status = answer.status): Answer {
  return { ...answer, status, body: JSON.stringify(body) };
}
