/** What a handler of the sandbox gets and gives. A missing handler or a reply that lacks a field does not compile. */
import type { AdminName, AdminOperations, OperationName, Operations } from '../contract/calls.ts';
import type { EventName } from '../contract/events.ts';
import type { AskedOf, Shape } from '../contract/field.ts';
import type { Operation, ReplyOf } from '../contract/operation.ts';
import { REFUSALS, type RefusalName } from '../contract/refusals.ts';
import type { Sql } from './store/sql.ts';

/** Chance of the sandbox: fixed by the seed, so that the same calls give the same ids, numbers and codes. */
export interface Chance {
  /** `card_` + 24 lowercase base32 characters, or counted (`card_1`) in tests. Never given out twice. */
  id(kind: 'card' | 'bin' | 'txn' | 'dep' | 'tds' | 'wh' | 'evt' | 'req'): Promise<string>;
  /** A number of `count` digits as text, for card numbers, CVVs and codes. */
  digits(purpose: string, count: number): Promise<string>;
  /** `whsec_` + 32 bytes base64url. */
  webhookSecret(): Promise<string>;
}

type Part<Row, Key extends string> = Row extends { readonly [K in Key]: infer S extends Shape } ? AskedOf<S> : unknown;

/** Checked input: path parameters, query (defaults filled in by the handler) and body; money in cents. */
export type Asked<Row> = Part<Row, 'params'> & Part<Row, 'query'> & Part<Row, 'body'>;

export interface Call<Row extends Operation = Operation> {
  /** Open transaction; for reading operations a read. The effect, its event and its idempotency record share it. */
  readonly sql: Sql;
  readonly account: string;
  /** Clock of the sandbox, ms UTC. */
  readonly now: number;
  readonly input: Asked<Row>;
  readonly chance: Chance;
  /** Records an event in this transaction, with a row for each matching active subscription. */
  emit(event: EventName, data: Readonly<Record<string, unknown>>): Promise<void>;
}

type HandlersOf<Table extends Readonly<Record<string, Operation>>> = {
  readonly [N in keyof Table]: (call: Call<Table[N]>) => Promise<ReplyOf<Table[N]>>;
};

/** One handler for each operation of the interface. */
export type Handlers = HandlersOf<Operations>;
/** One handler for each operation of the admin surface; replies may leave out what does not apply. */
export type AdminHandlers = {
  readonly [N in AdminName]: (call: Call<AdminOperations[N]>) => Promise<Readonly<Record<string, unknown>>>;
};
export type { AdminName, OperationName };

/** A definite no, answered with the row's status. Thrown by rules and handlers; the effect is rolled back. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: RefusalName;

  constructor(refusal: RefusalName, message: string) {
    super(message);
    this.refusal = refusal;
  }

  get status(): number {
    return REFUSALS[this.refusal].status;
  }
}
