/**
 * What rows of a list look like in text: which members, in which order, and what a value may be so that reading it and
 * writing it again would change nothing (docs/design/contract-and-assumptions.md, section 3). Sources of regular
 * expressions over Latin-1.
 */

import type { AnyField, Shape } from '../contract/field.ts';
import { SECRET_NAMES } from '../contract/secret-names.ts';
import { isObject } from '../core/objects.ts';
import type { RawMember } from '../core/raw-rows.ts';

/** A character of a text that stands for itself. */
export const PLAIN = '[^"\\\\\\x00-\\x1f]';
/** Written so that a text without an escape, and most are, is one loop. */
const TEXT = `"${PLAIN}*(?:\\\\(?:[bfnrt"\\\\/]|u[0-9a-fA-F]{4})${PLAIN}*)*"`;
const NUMBER = '-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?';
const SCALAR = `${TEXT}|${NUMBER}|true|false|null`;

/** Digits with at most so many decimals, and no more of them than cents can be told apart; negative zero is none. */
const DIGITS = '(?:0|[1-9]\\d{0,11})';
const CENTS = `${DIGITS}(?:\\.\\d\\d?)?`;
const SIGN = '(?:-(?!0(?:\\.0+)?[,}\\]]))?';
const FINITE = `${SIGN}${DIGITS}(?:\\.\\d{1,12})?`;

/** A row is told from others by it, byte for byte. */
const ID = `"${PLAIN}+"`;

const listOf = (value: string) => `\\[(?:(?:${value})(?:,(?:${value}))*)?\\]`;
const objectOf = (key: string, value: string) => `\\{(?:${key}:(?:${value})(?:,${key}:(?:${value}))*)?\\}`;
const nested = (key: string, value: string) => `${SCALAR}|${listOf(value)}|${objectOf(key, value)}`;

const anyCase = (name: string) => name.replace(/[a-z]/g, letter => `[${letter}${letter.toUpperCase()}]`);
const NO_PROTOTYPE = `(?!"__proto__")"${PLAIN}*"`;
/** Members with these names go no further. */
const KEY = `(?!"(?:__proto__|${[...SECRET_NAMES].map(anyCase).join('|')})")"${PLAIN}*"`;
/** Two levels of lists and objects; what is deeper is read as usual. */
export const ANY = nested(KEY, nested(KEY, SCALAR));

/** The source for a field of the contract, or for a member it does not have; undefined when such rows must be read. */
function valueSource(field: AnyField | undefined): string | undefined {
  if (field === undefined) return ANY;
  if (field.secret) return undefined;
  switch (field.kind) {
    case 'money':
      return field.unsigned ? CENTS : `${SIGN}${CENTS}`;
    case 'integer':
      return `${SIGN}${DIGITS}`;
    case 'number':
      return FINITE;
    case 'flag':
      return 'true|false';
    case 'list':
      return field.item?.kind === 'text' ? listOf(TEXT) : undefined;
    case 'map':
      return objectOf(NO_PROTOTYPE, TEXT);
    case 'sealed':
    case 'object':
      return undefined;
    default:
      if (field.usually !== undefined) return `"${anyCase(field.usually.toLowerCase())}"`;
      return field.must ? `(?!"")${TEXT}` : TEXT;
  }
}

/** Names in the order in which all rows have them, optional ones included; undefined when there is no one order. */
function mergedOrder(known: readonly string[], rows: readonly (readonly string[])[]): readonly string[] | undefined {
  const order = [...known];
  for (const names of rows) {
    let at = 0;
    for (const name of names) {
      const place = order.indexOf(name);
      if (place === -1) order.splice(at, 0, name);
      else if (place < at) return undefined;
      at = (place === -1 ? at : place) + 1;
    }
  }
  return order;
}

interface Order {
  readonly order: readonly string[];
  readonly shape: Shape;
}

/** Whether a row has, or may have, a value of another name for this member. */
function isRival(other: string, name: string, { order, shape }: Order): boolean {
  const [head = '', ...inner] = other.split('.');
  if (head === name || !order.includes(head)) return false;
  // Nothing is inside of a text.
  return inner.length === 0 || !Object.hasOwn(shape, head) || ['map', 'object'].includes(shape[head]?.kind ?? '');
}

/**
 * The members of these rows and of those `known` before. Undefined where a row is no object, has members in another
 * order or none that all have in front, or where a value could be read as that of another member.
 */
export function membersOf(
  rows: readonly unknown[],
  shape: Shape,
  known: readonly RawMember[] = [],
): readonly RawMember[] | undefined {
  if (!rows.every(isObject)) return undefined;
  const names = rows.map(row => Object.keys(row));
  const order = mergedOrder(
    known.map(({ name }) => name),
    names,
  );
  if (order === undefined) return undefined;
  const isAlways = (name: string) =>
    names.every(each => each.includes(name)) &&
    (known.length === 0 || known.some(each => each.name === name && !each.isOptional));
  const members: RawMember[] = [];
  for (const name of order) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const value = valueSource(field);
    const isOptional = !isAlways(name);
    // Null or absent, the value of such a member would be taken for it.
    const hasRival = [field?.wire ?? name, ...(field?.also ?? [])].some(each => isRival(each, name, { order, shape }));
    if (value === undefined || (isOptional && (members.length === 0 || hasRival || name === 'id'))) return undefined;
    const isNullable = field !== undefined && !field.must && !hasRival;
    members.push({ name, value: name === 'id' ? ID : isNullable ? `${value}|null` : value, isOptional });
  }
  return members.length > 0 ? members : undefined;
}
