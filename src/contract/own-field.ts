/**
 * Fields that are a choice of ours and no fact of the service: of the sandbox's control surface, and of our own options and
 * arguments. Each is said by one sentence.
 */
import * as field from './field.ts';

type More = Omit<field.FieldFacts, 'doc' | 'basis' | 'must' | 'item' | 'shape' | 'choices'>;

const about = (doc: string, more?: More) => ({ doc, basis: {}, ...more });

export const text = (doc: string, more?: More) => field.text(about(doc, more));
export const sealed = (doc: string) => field.sealed(about(doc));
export const money = (doc: string, more?: More) => field.money(about(doc, more));
export const integer = (doc: string, more?: More) => field.integer(about(doc, more));
export const number = (doc: string, more?: More) => field.number(about(doc, more));
export const flag = (doc: string, more?: More) => field.flag(about(doc, more));
export const time = (doc: string) => field.time(about(doc));
export const map = (doc: string) => field.map(about(doc));
export const choice = <const C extends readonly string[]>(choices: C, doc: string, more?: More) =>
  field.choice(choices, about(doc, more));
export const list = <Wire, Asked>(item: field.Field<Wire, Asked>, doc: string) => field.list(item, about(doc));
export const object = <const S extends field.Shape>(shape: S, doc: string, more?: More) =>
  field.object(shape, about(doc, more));
/** A list of texts, and one of objects. */
export const texts = (doc: string) => list(text('One of them.'), doc);
export const rows = <const S extends field.Shape>(shape: S, doc: string) => list(object(shape, 'One of them.'), doc);
