/**
 * The calls that the client can make, and their types: operations of the interface, and requests in the caller's own words, for
 * `api`. Those are rows like any other, so that guard, journal, retries and redaction treat them like any other, and no part of the
 * interface. A write of them is never repeated by itself and counts as moving money (docs/design/reliability.md, section 3).
 */
import { must } from './field.ts';
import {
  type InputOf,
  type ItemOf,
  type Operation,
  pageOf,
  type ReplyOf,
  type ResultOf,
  rowsWith,
  untouched,
} from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { integer, text } from './own-field.ts';

const PATH = must(text('Path and query below the base address.'));
const METHOD = must(text('HTTP method.'));

const reading = rowsWith({ raw: true, section: '4', basis: {}, effect: 'read', repeat: 'freely' });
const writing = rowsWith({ raw: true, section: '4', basis: {}, effect: 'moves-money', repeat: 'never' });

export const RAW_OPERATIONS = {
  'api.read': reading('Read any path', 'GET /', { params: { method: METHOD, path: PATH }, returns: untouched({}) }),
  'api.pages': reading('Read any list page by page', 'GET /', {
    params: { path: PATH },
    query: { page: integer('Page.') },
    returns: pageOf({}, {}),
  }),
  'api.write': writing('Send any change', 'POST /', {
    params: { method: METHOD, path: PATH },
    body: { body: text('JSON text.') },
    returns: untouched({}),
  }),
} as const;

/** Every call the client can make. */
export const CALLS = { ...OPERATIONS, ...RAW_OPERATIONS } as const;

/** Create, fund, withdraw, and terminate, which moves the balance back: what a journal keeps, and what takes an intent. */
export function isJournaled(operation: string): boolean {
  const row = Object.hasOwn(CALLS, operation) ? (CALLS as Readonly<Record<string, Operation>>)[operation] : undefined;
  return row?.effect === 'moves-money' || (row?.effect === 'irreversible' && row.leadsTo !== undefined);
}

// Types of the calls that a table of operations allows.

export type Table = Readonly<Record<string, Operation>>;
export type NameIn<T extends Table> = keyof T & string;
type NamesWith<T extends Table, E> = { [N in NameIn<T>]: T[N]['effect'] extends E ? N : never }[NameIn<T>];

export type Operations = typeof OPERATIONS;
export type OperationName = NameIn<Operations>;
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
