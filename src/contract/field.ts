/**
 * Field constructors. A field says what one value of the wire is: its kind, its limits, where that is known
 * from. TypeScript types, flags, validation on both sides, JSON Schema and help are derived from it.
 *
 * Two type parameters: `Wire` is what an answer holds (money as `Usd`), `Asked` what a caller hands in
 * (money as `Cents`).
 */
import type { Cents, Usd } from '../core/money.ts';
import type { Secret } from '../core/secret.ts';
import type { Basis } from './basis.ts';

export type FieldKind =
  | 'text'
  | 'sealed'
  | 'money'
  | 'integer'
  | 'number'
  | 'flag'
  | 'choice'
  | 'time'
  | 'list'
  | 'map'
  | 'object';

export interface FieldFacts {
  /** One sentence or less, for help and documents. */
  readonly doc: string;
  readonly basis: Basis;
  /** In a body or query: the caller must give it. In an answer: without it the answer is exit 13. */
  readonly must?: boolean;
  readonly nullable?: boolean;
  /** Never logged, never in messages; `x-secret` in the OpenAPI document. */
  readonly secret?: boolean;
  /** Lowest and highest value: cents for money, else the number itself. Both inclusive. */
  readonly min?: number;
  readonly max?: number;
  /** A sign says nothing that another field does not say; it is left out when read. */
  readonly unsigned?: boolean;
  /** Shortest and longest text in code points; most keys of a map. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** No control, format or unassigned characters. */
  readonly printable?: boolean;
  readonly maxKeys?: number;
  /** What a text must look like beside that, and how it is said: `must be …`. */
  readonly form?: { readonly holds: (text: string) => boolean; readonly says: string };
  /** Words the interface or we know. The sandbox refuses others, the client shows them as they are. */
  readonly choices?: readonly string[];
  /** The one word that an answer may hold, in capitals; with another one the answer is exit 13. */
  readonly only?: string;
  /** The word that an answer usually holds, in capitals; another one is kept, with a warning. */
  readonly usually?: string;
  readonly item?: AnyField;
  readonly shape?: Shape;
  /** Name on the wire when it is not the field's own name. */
  readonly wire?: string;
  /**
   * Other names on the wire that are read as this field
   * (docs/design/contract-and-assumptions.md, "How to read an assumption"). Dots go into objects.
   */
  readonly also?: readonly string[];
  /** What the service uses when the value is not sent; words or a value. */
  readonly defaults?: string | number;
  /**
   * Value or id this field names, so that completion, pickers and short ids know where candidates come from; `pending`
   * is an authorization or a challenge.
   */
  readonly names?:
    | 'card'
    | 'bin'
    | 'webhook'
    | 'event'
    | 'category'
    | 'profile'
    | 'op'
    | 'fleet'
    | 'transaction'
    | 'challenge'
    | 'pending';
  /** A place, a setting or a patience of this machine, which the service never gets: long digits in it are no card number. */
  readonly local?: 'file' | 'folder' | 'address' | 'setting' | 'duration';
}

export interface Field<Wire, Asked, Must extends boolean = boolean> extends FieldFacts {
  readonly kind: FieldKind;
  readonly must: Must;
  /** Types alone, no value has them. Names and not symbols, so that other rooms can name the type. */
  readonly '~wire'?: Wire;
  readonly '~asked'?: Asked;
}

// biome-ignore lint/suspicious/noExplicitAny: the one place where fields of every type are held together
export type AnyField = Field<any, any>;
export type Shape = Readonly<Record<string, AnyField>>;

/** What a row may say of a field beside its sentence and where it is known from. */
export type More = Omit<FieldFacts, 'doc' | 'basis' | 'must' | 'item' | 'shape' | 'choices'>;

/** Makes fields of one kind, each by a sentence and its basis. */
export type Maker<Wire, Asked> = (doc: string, basis: Basis, more?: More) => Field<Wire, Asked, false>;

const maker =
  <Wire, Asked>(kind: FieldKind, of: Partial<FieldFacts> = {}): Maker<Wire, Asked> =>
  (doc, basis, more) => ({ ...of, ...more, doc, basis, kind, must: false });

export const text = maker<string, string>('text');
/** Text that arrives wrapped in a `Secret`: card number, CVV. */
export const sealed = maker<Secret, Secret>('sealed', { secret: true });
/** USD; a JSON number on the wire, integer cents inside. `min` and `max` are cents. */
export const money = maker<Usd, Cents>('money');
export const integer = maker<number, number>('integer');
export const number = maker<number, number>('number');
export const flag = maker<boolean, boolean>('flag');
/** ISO 8601 UTC text (interface 2). */
export const time = maker<string, string>('time');
export const map = maker<Readonly<Record<string, string>>, Readonly<Record<string, string>>>('map');

export function choice<const C extends readonly string[]>(choices: C, doc: string, basis: Basis, more?: More) {
  return maker<string, C[number]>('choice', { choices })(doc, basis, more);
}

export function list<Wire, Asked>(item: Field<Wire, Asked>, doc: string, basis: Basis, more?: More) {
  return maker<readonly Wire[], readonly Asked[]>('list', { item })(doc, basis, more);
}

/** An object of its own fields inside another. */
export function object<const S extends Shape>(shape: S, doc: string, basis: Basis, more?: More) {
  return maker<WireOf<S>, InputFields<S>>('object', { shape })(doc, basis, more);
}

/** Makes a field one that must be there; see `FieldFacts.must`. */
export function must<Wire, Asked>(of: Field<Wire, Asked>): Field<Wire, Asked, true> {
  return { ...of, must: true };
}

/** A field whose value may be null. */
export function nullable<Wire, Asked, Must extends boolean>(of: Field<Wire, Asked, Must>) {
  return { ...of, nullable: true } as Field<Wire | null, Asked | null, Must>;
}

type WireOfField<F> = F extends Field<infer W, infer _A> ? W : never;
type AskedOfField<F> = F extends Field<infer _W, infer A> ? A : never;
type Required<S extends Shape> = { [K in keyof S]: S[K]['must'] extends true ? K : never }[keyof S];
type Flatten<T> = { [K in keyof T]: T[K] };

/** An answer as read: what must be there is, the rest may be absent or null. Unknown fields are kept. */
export type WireOf<S extends Shape> = Flatten<
  { readonly [K in Required<S>]: WireOfField<S[K]> } & {
    readonly [K in Exclude<keyof S, Required<S>>]?: WireOfField<S[K]> | null;
  }
>;

/** An answer as the sandbox makes it: every field, in the types of the wire. */
export type CompleteOf<S extends Shape> = { readonly [K in keyof S]: WireOfField<S[K]> };

/** An answer of our own: what need not be there is left out, and never null where its field does not say so. */
export type ValueOf<S extends Shape> = Flatten<
  { readonly [K in Required<S>]: WireOfField<S[K]> } & {
    readonly [K in Exclude<keyof S, Required<S>>]?: WireOfField<S[K]>;
  }
>;

/** What a caller hands in for a body, a query or path parameters. */
export type InputFields<S extends Shape> = Flatten<
  { readonly [K in Required<S>]: AskedOfField<S[K]> } & {
    readonly [K in Exclude<keyof S, Required<S>>]?: AskedOfField<S[K]> | undefined;
  }
>;
