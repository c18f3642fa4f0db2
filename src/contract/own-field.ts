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
