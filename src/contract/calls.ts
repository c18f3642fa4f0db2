/** Types of the calls that a table of operations allows. */
import type { InputOf, ItemOf, Operation, ReplyOf, ResultOf } from './operation.ts';
import type { OPERATIONS } from './operations.ts';
import type { CALLS } from './raw.ts';

export type Table = Readonly<Record<string, Operation>>;
export type NameIn<T extends Table> = keyof T & string;
type NamesWith<T extends Table, E> = { [N in NameIn<T>]: T[N]['effect'] extends E ? N : never }[NameIn<T>];

export type Operations = typeof OPERATIONS;
export type OperationName = NameIn<Operations>;
/** The operations of the interface, and requests in the caller's own words. */
export type Calls = typeof CALLS;
export type CallName = NameIn<Calls>;

/** What a caller hands in: path parameters, query and body side by side; money as cents. */
export type Input<N extends CallName> = InputOf<Calls[N]>;
/** What the client returns: money as `Usd`, only the fields that must be there are sure to be. */
export type Result<N extends CallName> = ResultOf<Calls[N]>;
/** What a sandbox handler returns: every field. */
export type Reply<N extends OperationName> = ReplyOf<Operations[N]>;
/** One entry of a list operation. */
export type Item<N extends CallName> = ItemOf<Calls[N]>;

/** Operations that change nothing and reveal nothing. */
export type ReadName = NamesWith<Calls, 'read'>;
/** Operations that change something: guarded, journaled, not sent in a dry run. */
export type WriteName = NamesWith<Calls, 'reversible' | 'moves-money' | 'irreversible'>;
/** Operations whose answer comes page by page. */
export type PagedName<T extends Table = Calls> = {
  [N in NameIn<T>]: T[N]['returns']['kind'] extends 'page' ? N : never;
}[NameIn<T>];
