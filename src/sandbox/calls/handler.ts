/** What a handler of the sandbox gets and gives. A missing handler or a reply that lacks a field does not compile. */
import type { Operations } from '../../contract/calls.ts';
import type { CARD } from '../../contract/card.ts';
import type { EventName } from '../../contract/events.ts';
import type { CompleteOf, Shape } from '../../contract/field.ts';
import type { InputOf, Operation, ReplyOf } from '../../contract/operation.ts';
import { REFUSALS, type RefusalName } from '../../contract/refusals.ts';
import type { AdminName, AdminOperations } from '../../contract/sandbox/admin.ts';
import { Secret } from '../../core/secret.ts';
import type { Sql } from '../store/sql.ts';
import type { IdSource } from './deterministic-ids.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface Call<Row extends Operation = Operation> {
  /** Open transaction; for reading operations a read. The effect, its event and its idempotency record share it. */
  readonly sql: Sql;
  /** Clock of the sandbox, ms UTC. */
  readonly now: number;
  /** Checked input: path parameters, query (defaults filled in by the handler) and body; money in cents. */
  readonly input: InputOf<Row>;
  readonly idSource: IdSource;
  /** Records an event in this transaction, with a row for each matching active subscription. */
  emit(event: EventName, data: Fields): void;
}

/** One handler for each operation of the interface. */
export type Handlers = {
  readonly [N in keyof Operations]: (call: Call<Operations[N]>) => ReplyOf<Operations[N]>;
};

/** What serves an operation of the control surface in one transaction; a reply may leave out what does not apply. */
export type AdminHandlers = {
  readonly [N in AdminName]: (call: Call<AdminOperations[N]>) => PartialReply<AdminOperations[N]>;
};

/** Of an operation that answers with one thing, whatever of it applies. */
export type PartialReply<Row extends Operation> = Row['returns']['kind'] extends 'page' | 'list'
  ? ReplyOf<Row>
  : Fields;

/** A definite no, answered with the row's status. Thrown by rules and handlers; the effect is rolled back. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: RefusalName;
  /** That of the row, but for what the service has no row for. */
  readonly status: number;
  /** Beside the usual ones of the refusal. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(refusal: RefusalName, message: string, status: number = REFUSALS[refusal].status, headers = {}) {
    super(message);
    this.refusal = refusal;
    this.status = status;
    this.headers = headers;
  }
}

/** What was looked for by its id. Throws `not_found` where it is not there. */
export function found<T>(row: T | undefined, what: string, id: string): T {
  if (row !== undefined) return row;
  throw new Refused('not_found', `no ${what} ${id}`);
}

/** A simulation that the thing it names cannot take in the state it is in; the message says which that is. */
export function impossible(message: string): Refused {
  return new Refused('invalid_request', message, 409);
}

// An object of the service that is stored as the exact text it is sent as.

/** Stands where an object of the service does; `JSON.parse` of its text is the object itself. */
export class Encoded {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** For whoever encodes it like any object. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** A stored card among the objects handlers give; `answer.ts` sends its text as it is. */
export function encodedCard(document: string): CompleteOf<typeof CARD> {
  return new Encoded(document) as unknown as CompleteOf<typeof CARD>;
}

// The last step before something leaves: secrets are unwrapped and take the name they travel under.

const AS_THEY_ARE = new Map<Shape, boolean>();

/** No field of the shape is sealed or has another name outside. */
function travelsAsItIs(shape: Shape): boolean {
  const known = AS_THEY_ARE.get(shape);
  if (known !== undefined) return known;
  const answer = Object.values(shape).every(({ kind, wire }) => kind !== 'sealed' && wire === undefined);
  AS_THEY_ARE.set(shape, answer);
  return answer;
}

/** An object as it is sent; only fields that the shape seals are exposed. */
export function wireObject(shape: Shape, value: Fields): Fields {
  if (travelsAsItIs(shape)) return value;
  const sent: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    sent[field?.wire ?? name] = field?.kind === 'sealed' && part instanceof Secret ? part.expose() : part;
  }
  return sent;
}
