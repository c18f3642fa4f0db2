/**
 * What is wrong with a value, in a sentence that names the limit; shared by flags (before anything is sent),
 * by the sandbox (400 `invalid_request`) and by bulk rows.
 */
import { containsSecret } from '../core/card-numbers.ts';
import { amountBehindNoise, cents, centsOf, dollars, isTooLarge, plainAmount } from '../core/money.ts';
import { isObject, type Values } from '../core/objects.ts';
import { holdsKeyOrSecret } from '../core/redaction.ts';
import type { AnyField, Shape } from './field.ts';
import { LIMITS } from './limits.ts';

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Said of a text that is kept and sent in clear; the text itself is never repeated. */
export const HOLDS_SECRET =
  'holds what looks like a card number, an API key or a webhook secret, and would be kept and sent in clear: leave it out';

/** Said of an argument; the number itself is never repeated. */
export const TYPED_NUMBER =
  'looks like a card number, and would be kept and sent in clear. A card is named by its id, as cards list shows it; an id that only looks so is taken from a file';

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;

/** `from 1.00 to 5000.00 USD`, `at most 64 characters`, `active, frozen or terminated`; empty when unlimited. */
export function limitText(field: Omit<AnyField, 'doc' | 'basis' | 'must'>): string {
  const { kind, min, max } = field;
  if (field.choices) return orList(field.choices);
  if (field.minLength !== undefined) return `at least ${field.minLength} characters`;
  if (field.maxLength !== undefined) return `at most ${field.maxLength} characters`;
  if (field.maxKeys !== undefined) return `at most ${field.maxKeys} keys`;
  const show = (value: number) => (kind === 'money' ? (value / 100).toFixed(2) : String(value));
  const unit = kind === 'money' ? ' USD' : '';
  if (min !== undefined && max !== undefined) return `from ${show(min)} to ${show(max)}${unit}`;
  if (min !== undefined) return `at least ${show(min)}${unit}`;
  return max === undefined ? '' : `at most ${show(max)}${unit}`;
}

/**
 * `violation` for what the caller asks for: no key and no webhook secret in a text, no card number in a free one, which a
 * service would take, and no id that is longer than an id can be.
 */
export function inputViolation(field: AnyField, value: unknown): string | undefined {
  // The form of an id is not shown (section 2.1): digits alone may be one, and must be usable. So may those of a path.
  const isFree = field.names === undefined && field.local === undefined;
  if (!field.secret && hasSecretText(value, isFree ? containsSecret : holdsKeyOrSecret)) return HOLDS_SECRET;
  return idViolation(field, value) ?? violation(field, value);
}

/** Of an id that a person typed: a card number is easily taken for the id of its card, and would be kept in clear. */
export function typedIdViolation({ names, secret }: AnyField, value: unknown): string | undefined {
  if (names === undefined || secret || typeof value !== 'string' || !containsSecret(value)) return undefined;
  return TYPED_NUMBER;
}

/** Of a field that names something, which is an id or a short word. */
function idViolation({ names, maxLength }: AnyField, value: unknown): string | undefined {
  const { max } = LIMITS.idLength;
  if (names === undefined || maxLength !== undefined || typeof value !== 'string' || value.length <= max)
    return undefined;
  return `has ${value.length} characters, and an id has at most ${max}`;
}

function hasSecretText(value: unknown, isSecret: (text: string) => boolean): boolean {
  if (typeof value === 'string') return isSecret(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => isSecret(name) || hasSecretText(member, isSecret));
}

/** A value of the wire (money as a JSON number) against its field; undefined when it is fine. */
export function violation(field: AnyField, value: unknown): string | undefined {
  if (value === null) return field.nullable ? undefined : 'must not be null';
  switch (field.kind) {
    case 'money':
      return moneyViolation(field, value);
    case 'integer':
      if (!Number.isSafeInteger(value)) return 'must be a whole number';
      return rangeViolation(field, value as number);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? rangeViolation(field, value) : 'must be a number';
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'list':
      return listViolation(field, value);
    case 'map':
      return mapViolation(field, value);
    case 'object':
      return isObject(value) ? undefined : 'must be an object';
    default:
      return textViolation(field, value);
  }
}

function moneyViolation(field: AnyField, value: unknown): string | undefined {
  if (typeof value !== 'number') return 'must be a number of USD';
  if (isTooLarge(value)) return 'is larger than an amount whose cents are exact';
  const amount = centsOf(value);
  if (amount === undefined) {
    const meant = amountBehindNoise(String(value));
    const write = meant === undefined ? '' : `: write ${plainAmount(meant)}`;
    return `must be an amount with at most two decimals${write}`;
  }
  return rangeViolation(field, amount);
}

function rangeViolation(field: AnyField, value: number): string | undefined {
  const tooLow = field.min !== undefined && value < field.min;
  const tooHigh = field.max !== undefined && value > field.max;
  if (!tooLow && !tooHigh) return undefined;
  const shown = field.kind === 'money' ? dollars(cents(value)) : String(value);
  return `${shown} is outside the limit: ${limitText(field)}`;
}

function textViolation(field: AnyField, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be text';
  if (value.includes('\0')) return 'must not contain a NUL character';
  if (!value.isWellFormed()) return 'must be well-formed Unicode text';
  if (field.choices && !field.choices.includes(value)) return `must be ${orList(field.choices)}`;
  if (field.kind === 'time' && (!ISO_TIME.test(value) || Number.isNaN(Date.parse(value)) || !isCalendarDay(value))) {
    return 'must be an ISO 8601 time such as 2026-11-20T14:00:00Z';
  }
  // Not quoted: it may be a secret.
  if (field.printable && UNPRINTABLE.test(value)) return 'must be printable text, without control characters';
  if (field.form && !field.form.holds(value)) return field.form.says;
  const length = [...value].length;
  if (field.minLength !== undefined && [...value.trim()].length < field.minLength) {
    return `${length} characters are too few: ${limitText(field)}`;
  }
  if (field.maxLength !== undefined && length > field.maxLength) {
    return `${length} characters are over the limit: ${limitText(field)}`;
  }
  if (field.must && value === '') return 'must not be empty';
  return undefined;
}

/** Whether the day a text begins with is in the calendar: reading it as a time makes 2 March of 2026-02-30. */
export function isCalendarDay(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function listViolation(field: AnyField, value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be a list';
  if (field.must && value.length === 0) return 'must not be empty';
  const { item } = field;
  if (item === undefined) return undefined;
  for (const [index, entry] of value.entries()) {
    const wrong = violation(item, entry);
    if (wrong) return `entry ${index + 1} ${wrong}`;
  }
  return undefined;
}

function mapViolation(field: AnyField, value: unknown): string | undefined {
  if (!isObject(value)) return 'must be an object of keys and values';
  const entries = Object.entries(value);
  if (field.maxKeys !== undefined && entries.length > field.maxKeys) {
    return `${entries.length} keys are over the limit: ${limitText(field)}`;
  }
  const { metadataKeyLength, metadataValueLength } = LIMITS;
  for (const [key, entry] of entries) {
    if (key === '' || [...key].length > metadataKeyLength.max || !key.isWellFormed() || key.includes('\0')) {
      return `a key must have 1 to ${metadataKeyLength.max} characters`;
    }
    if (typeof entry !== 'string') return `the value of ${JSON.stringify(key)} must be text`;
    if ([...entry].length > metadataValueLength.max) {
      return `the value of ${JSON.stringify(key)} is longer than ${metadataValueLength.max} characters`;
    }
    const wrong = textViolation({ ...field, kind: 'text', must: false }, entry);
    if (wrong) return `the value of ${JSON.stringify(key)} ${wrong}`;
  }
  return undefined;
}

function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

export interface Problem {
  /** Name of the field, on the wire; of one inside an object with the names of both. */
  readonly field: string;
  readonly text: string;
  /** The word that is none of those there are, and those: for whoever names the nearest one. */
  readonly word?: { readonly given: string; readonly known: readonly string[] };
}

/**
 * First problem of a body or a query, values in wire form (money as JSON numbers); undefined when it is fine.
 * Unknown fields are a problem: sending is exact (reading rule 1).
 */
export function shapeProblem(shape: Shape, values: Values): Problem | undefined {
  for (const [field, row] of Object.entries(shape)) {
    const value = Object.hasOwn(values, field) ? values[field] : undefined;
    if (value === undefined) {
      if (row.must) return { field, text: 'is missing' };
      continue;
    }
    const text = violation(row, value);
    if (text !== undefined) return { field, text, ...wordOf(row.choices, value) };
    const inner =
      value !== null && row.shape && isNamed(row.shape) ? shapeProblem(row.shape, value as Values) : undefined;
    if (inner !== undefined) return { ...inner, field: `${field}.${inner.field}` };
  }
  const unknown = Object.keys(values).find(key => !Object.hasOwn(shape, key));
  if (unknown === undefined) return undefined;
  const known = Object.keys(shape);
  return {
    field: unknown,
    text: `is not known here; known: ${known.join(', ') || 'nothing'}`,
    ...wordOf(known, unknown),
  };
}

/** An object whose shape names nothing may hold anything. */
const isNamed = (shape: Shape) => Object.keys(shape).length > 0;

/** Nothing where there are no words to choose from, or no word was given. */
export function wordOf(known: readonly string[] | undefined, given: unknown): Pick<Problem, 'word'> {
  return known === undefined || typeof given !== 'string' ? {} : { word: { given, known } };
}
