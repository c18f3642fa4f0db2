/** One value of an answer against its field: what the client tolerates when reading (reading rules 3, 4, 6, 11). */

import type { AnyField, FieldKind } from '../contract/field.ts';
import { centsOf, isTooLarge } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import { Secret } from '../core/secret.ts';

/** `warning` is a clause about the value at a path, without the value. */
export type ReadValue =
  | { readonly ok: true; readonly value: unknown; readonly warning?: string }
  | { readonly ok: false; readonly problem: string };

const fine = (value: unknown, warning?: string): ReadValue =>
  warning === undefined ? { ok: true, value } : { ok: true, value, warning };
const wrong = (problem: string): ReadValue => ({ ok: false, problem });

/**
 * Whether a value is what the field should hold as it stands: nothing is changed and nothing said. The usual case, and one
 * of a few steps, for lists of a million rows come here value by value.
 */
export function isPlain(field: AnyField, value: unknown): boolean {
  if (typeof value === 'string') {
    if (!TEXTS.has(field.kind) || (field.must && value === '')) return false;
    return (field.usually ?? field.only ?? value) === value;
  }
  if (typeof value === 'number') {
    if (field.kind !== 'money') return NUMBERS.has(field.kind) && Number.isSafeInteger(value);
    return centsOf(value) !== undefined && !(field.unsigned && value < 0);
  }
  if (typeof value === 'boolean') return field.kind === 'flag';
  return false;
}

const TEXTS: ReadonlySet<string> = new Set<FieldKind>(['text', 'choice', 'time']);
const NUMBERS: ReadonlySet<string> = new Set<FieldKind>(['integer', 'number']);

const DECIMAL = /^-?\d+(?:\.\d{1,2})?$/;

/** Reads a value that is neither absent nor null. Never throws; a problem never quotes the value. */
export function readValue(field: AnyField, value: unknown): ReadValue {
  switch (field.kind) {
    case 'money':
      return field.unsigned ? withoutSign(readMoney(value)) : readMoney(value);
    case 'integer':
      return readInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? fine(value) : wrong('is not a number');
    case 'flag':
      return typeof value === 'boolean' ? fine(value) : wrong('is not true or false');
    case 'sealed':
      return readSealed(value);
    case 'list':
      return readList(field, value);
    case 'map':
      return readMap(value);
    case 'object':
      return isObject(value) ? fine(value) : wrong('is not an object');
    default:
      return readText(field, value);
  }
}

function readMoney(value: unknown): ReadValue {
  if (typeof value === 'string') {
    const amount = DECIMAL.test(value) ? Number(value) : undefined;
    if (amount === undefined || centsOf(amount) === undefined) return wrong('is text that is not an amount of money');
    return fine(amount, 'is an amount as text');
  }
  if (typeof value !== 'number') return wrong('is not an amount of money');
  // More decimals, infinite, negative zero or beyond safe cents: such a number must not decide anything.
  if (isTooLarge(value)) return wrong('is larger than an amount whose cents are exact');
  return centsOf(value) === undefined ? wrong('is not an amount with at most two decimals (A-139)') : fine(value);
}

function withoutSign(read: ReadValue): ReadValue {
  return read.ok ? { ...read, value: Math.abs(read.value as number) } : read;
}

function readInteger(value: unknown): ReadValue {
  if (typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return fine(Number(value));
  return Number.isSafeInteger(value) ? fine(value) : wrong('is not a whole number');
}

/** A number on the wire may have lost leading zeros; the shape check of details finds that. */
function readSealed(value: unknown): ReadValue {
  if (typeof value === 'string' && value !== '') return fine(new Secret(value));
  return Number.isSafeInteger(value) ? fine(new Secret(String(value))) : wrong('is not text');
}

/** A text that may be bound to one word, in upper or lower case. */
function readWord({ only, usually }: AnyField, value: string): ReadValue {
  const isOther = (word: string | undefined) => word !== undefined && value !== '' && value.toUpperCase() !== word;
  if (isOther(only)) return wrong(`is not ${only}, and amounts are understood in ${only} alone`);
  return isOther(usually) ? fine(value, `is not ${usually} in some records: sums leave those out`) : fine(value);
}

function readText(field: AnyField, value: unknown): ReadValue {
  if (typeof value === 'string') return field.must && value === '' ? wrong('is empty') : readWord(field, value);
  if (!Number.isSafeInteger(value)) return wrong('is not text');
  // Ids may be digits and category codes numbers; a code may have lost leading zeros.
  return field.secret ? fine(String(value), 'is a number and may lack leading zeros') : fine(String(value));
}

function readList(field: AnyField, value: unknown): ReadValue {
  if (!Array.isArray(value)) return wrong('is not a list');
  const { item } = field;
  if (item === undefined) return fine(value);
  const read = value.map(entry => readValue(item, entry));
  const bad = read.findIndex(entry => !entry.ok);
  return bad === -1 ? fine(read.map(entry => entry.ok && entry.value)) : wrong(`has an unreadable entry ${bad + 1}`);
}

/** The type of metadata values is not shown: what is not text is kept as its JSON text. */
function readMap(value: unknown): ReadValue {
  if (!isObject(value)) return wrong('is not an object');
  const texts = Object.keys(value).map(key => {
    const entry = value[key];
    return [key, typeof entry === 'string' ? entry : JSON.stringify(entry)] as const;
  });
  // Own properties, so that a key like __proto__ stays a plain key.
  return fine(Object.fromEntries(texts));
}
