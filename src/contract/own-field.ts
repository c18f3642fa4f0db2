/**
 * Fields that are a choice of ours and no fact of the service: of the sandbox's control surface, and of our own options and
 * arguments. Each is said by one sentence.
 */
import * as field from './field.ts';

const ours =
  <Wire, Asked>(make: field.Maker<Wire, Asked>) =>
  (doc: string, more?: field.More) =>
    make(doc, {}, more);

export const text = ours(field.text);
export const sealed = ours(field.sealed);
export const money = ours(field.money);
export const integer = ours(field.integer);
export const number = ours(field.number);
export const flag = ours(field.flag);
export const time = ours(field.time);
export const map = ours(field.map);
export const choice = <const C extends readonly string[]>(choices: C, doc: string, more?: field.More) =>
  field.choice(choices, doc, {}, more);
export const list = <Wire, Asked>(item: field.Field<Wire, Asked>, doc: string) => field.list(item, doc, {});
export const object = <const S extends field.Shape>(shape: S, doc: string, more?: field.More) =>
  field.object(shape, doc, {}, more);
/** A list of texts, and one of objects. */
export const texts = (doc: string) => list(text('One of them.'), doc);
export const rows = <const S extends field.Shape>(shape: S, doc: string) => list(object(shape, 'One of them.'), doc);

/** Fields of our own answers; in every answer unless wrapped in `maybe`, never null unless in `orNull`. */
export const tells = {
  text: (doc: string) => field.must(text(doc)),
  word: <const C extends readonly string[]>(doc: string, choices: C) =>
    field.must(choice(choices, doc)) as field.Field<C[number], C[number], true>,
  time: (doc: string) => field.must(time(doc)),
  /** JSON numbers. */
  usd: (doc: string) => field.must(money(doc)) as field.Field<number, number, true>,
  count: (doc: string) => field.must(integer(doc)),
  number: (doc: string) => field.must(number(doc)),
  yes: (doc: string) => field.must(flag(doc)),
  map: (doc: string) => field.must(map(doc)),
  texts: (doc: string) => field.must(list(text(''), doc)),
  rows: <const S extends field.Shape>(shape: S, doc: string) => field.must(list(object(shape, ''), doc)),
  object: <const S extends field.Shape>(shape: S, doc: string) => field.must(object(shape, doc)),
  /** Whatever stands there. */
  json: <T = unknown>(doc: string): field.Field<T, T, true> => ({ kind: 'object', must: true, doc, basis: {} }),
} as const;

export const orNull = field.nullable;
export function maybe<Wire, Asked>(of: field.Field<Wire, Asked>): field.Field<Wire, Asked, false> {
  return { ...of, must: false };
}
