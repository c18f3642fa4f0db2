/** The shape of an operation row, and the types derived from one. */

import type { Basis } from './basis.ts';
import { EVENTS, type EventName } from './events.ts';
import type { CompleteOf, InputFields, Shape, ValueOf, WireOf } from './field.ts';
import type { RefusalName } from './refusals.ts';
import type { PAGE_META } from './resources.ts';

/** Drives confirmation, dry run, journal, live guard and redaction, so that no command can forget them. */
export const EFFECTS = ['read', 'reversible', 'moves-money', 'irreversible', 'reveals-secret'] as const;
export type Effect = (typeof EFFECTS)[number];
/** The only thing the retry policy looks at. */
export type Repeat = 'freely' | 'with-key' | 'never';
/** Where the money of an operation goes. */
export type Transfer = 'to-card' | 'to-wallet';
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

/** What an operation answers: one object, a plain list, a page of a list, nothing, or whatever comes. */
export interface Returns<
  Kind extends 'one' | 'list' | 'page' | 'none' | 'raw' = 'one' | 'list' | 'page' | 'none' | 'raw',
  S extends Shape = Shape,
> {
  readonly kind: Kind;
  readonly shape: S;
  readonly status: number;
  readonly basis: Basis;
  /** Of an answer that is a file and not JSON. */
  readonly contentType?: string;
}

export interface Operation {
  readonly summary: string;
  /** Section of the interface; `contract show` and the OpenAPI document are in this order. */
  readonly section: string;
  readonly method: Method;
  /** Relative to the base address; `{name}` is a path parameter of `params`. */
  readonly path: `/${string}`;
  readonly basis: Basis;
  readonly effect: Effect;
  readonly repeat: Repeat;
  /** Methods besides GET by which a service may read this; an override may choose among them, and no others. */
  readonly alsoReadBy?: readonly Method[];
  /** Method, path and body are the caller's own words; see `calls.ts`. */
  readonly raw?: true;
  /**
   * Of the sandbox alone: asked, nothing of what it holds changes. No number is taken, no timer fires, no fault is met,
   * and it stands in no log.
   */
  readonly leavesNoTrace?: true;
  /** Asked without a key, and never given one: who answers has proved nothing yet. */
  readonly credential?: 'none';
  readonly params?: Shape;
  readonly query?: Shape;
  readonly body?: Shape;
  /** What is wrong with an input although each of its fields is right. */
  readonly together?: TogetherCheck;
  /** Content type of a body that is a file and not JSON. */
  readonly takes?: string;
  readonly returns: Returns;
  readonly fails?: readonly RefusalName[];
  readonly emits?: readonly EventName[];
  /**
   * The operation that reads the same resource, when an action answers without it (reading rule 7). Without `leadsTo` the
   * answer, or else what is read, must show every member of the body that was sent.
   */
  readonly readBack?: string;
  /** The operation that lists what a delete removes, and the parameter that has its id there: what is gone is not listed. */
  readonly removesFrom?: { readonly list: string; readonly id: string };
  /** Milliseconds one attempt may take, where that is more than usual. */
  readonly patienceMs?: number;
  /** The state an action leads to. */
  readonly leadsTo?: { readonly field: string; readonly value: string };
  /** Where the amount goes; the balances of card and wallet show it. */
  readonly transfer?: Transfer;
  /** What a create makes, and is judged as: see `evidence.ts`. */
  readonly makes?: 'card' | 'webhook';
}

/** Makes what is answered in one way, with a status that few rows say otherwise. */
const answering =
  <const Kind extends Returns['kind']>(kind: Kind, usual: number) =>
  <const S extends Shape>(shape: S, basis: Basis, status = usual): Returns<Kind, S> => ({ kind, shape, status, basis });

export const one = answering('one', 200);
export const listOf = answering('list', 200);
export const pageOf = answering('page', 200);
export const nothing = (basis: Basis) => answering('none', 204)({}, basis);
export const untouched = (basis: Basis) => answering('raw', 200)({}, basis);

type Flatten<T> = { [K in keyof T]: T[K] };
type Named = Pick<Operation, 'summary' | 'method' | 'path'>;

/** Makes rows that have this in common, where they do not say otherwise: what each does, by which route, and all else. */
export function rowsWith<const Common extends Partial<Operation>>(common: Common) {
  return <const Own extends Partial<Operation>>(summary: string, route: `${Method} /${string}`, own: Own) => {
    const [method, path] = route.split(' ') as [Method, Operation['path']];
    return { ...common, summary, method, path, ...own } as Flatten<Named & Omit<Common, keyof Own> & Own>;
  };
}

type Part<Row, Key extends string> = Row extends { readonly [K in Key]: infer S extends Shape }
  ? InputFields<S>
  : unknown;

/** Everything a caller hands in, path parameters, query and body side by side; no name occurs twice in a row. */
export type InputOf<Row> = Part<Row, 'params'> & Part<Row, 'query'> & Part<Row, 'body'>;

export interface ListPage<Item> {
  readonly data: readonly Item[];
  readonly page: PageFacts;
}

/** An answer nobody has read: the JSON as it came, without what is secret. */
export interface RawAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for an empty body. */
  readonly body: unknown;
  /** How many values were taken out of it. */
  readonly hidden: number;
}

/** Where a list stands; a member the service does not tell is absent. */
export type PageFacts = ValueOf<typeof PAGE_META> & { readonly has_more?: boolean };

interface Answers<Single> {
  readonly none: undefined;
  readonly raw: RawAnswer;
  readonly one: Single;
  readonly list: ListPage<Single>;
  readonly page: ListPage<Single>;
}
type Answer<Row, Read extends 'wire' | 'complete'> = Row extends { readonly returns: Returns<infer Kind, infer S> }
  ? Answers<Made<S, Read>>[Kind]
  : never;
type Made<S extends Shape, Read> = Read extends 'wire' ? WireOf<S> : CompleteOf<S>;

/** What the client returns for a row. */
export type ResultOf<Row> = Answer<Row, 'wire'>;
/** What a sandbox handler must return for a row: every field. */
export type ReplyOf<Row> = Answer<Row, 'complete'>;
/** One entry of a list operation. */
export type ItemOf<Row> = ResultOf<Row> extends ListPage<infer Item> ? Item : never;

// What is wrong with an input although each of its fields is right: the sandbox asks it of every request; commands of the sandbox,
// steps of a scenario and methods of the library are checked before anything is sent.

/** With the field it stands at; none where it is about several. */
type Mismatch = { readonly field?: string | undefined; readonly text: string };
export type TogetherCheck = (step: {
  /** Names of the fields that are there. */
  readonly given: ReadonlySet<string>;
  /** Those whose values are known before the first step. */
  readonly values: Readonly<Record<string, unknown>>;
  /** What a field is called where it is typed; its own name when left out. */
  readonly called?: (field: string) => string;
}) => Mismatch | undefined;

/** Of these fields there is exactly one. */
export const oneOf =
  (...names: readonly string[]): TogetherCheck =>
  ({ given, called = name => name }) =>
    names.filter(name => given.has(name)).length === 1
      ? undefined
      : { text: `one of ${names.map(called).join(' and ')} is needed` };

/** Events of a subscription are names that there are. */
export const knownEvents: TogetherCheck = ({ values: { events } }) => {
  if (!Array.isArray(events)) return undefined;
  if (events.length === 0) return { field: 'events', text: 'events must not be empty; * is all' };
  const other = events.find(name => name !== '*' && !Object.hasOwn(EVENTS, String(name)));
  return other === undefined ? undefined : { field: 'events', text: `${JSON.stringify(other)} is no event; * is all` };
};
