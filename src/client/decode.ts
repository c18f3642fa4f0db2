/**
 * JSON of an answer to the result of its operation: values, objects, envelopes, card details, answers that no row describes,
 * and what is checked against what was asked (docs/design/contract-and-assumptions.md, "How to read an assumption").
 */

import { COMBINED_EXPIRY, DETAILS, FUNDING } from '../contract/card.ts';
import { ENVELOPES } from '../contract/envelopes.ts';
import { staysWhole } from '../contract/events.ts';
import type { Evidence } from '../contract/evidence.ts';
import type { AnyField, FieldKind, Shape } from '../contract/field.ts';
import type { ListPage, Operation, PageFacts, RawAnswer } from '../contract/operation.ts';
import { wireName } from '../contract/overrides.ts';
import { PAGE_META } from '../contract/resources.ts';
import { SECRET_NAMES } from '../contract/secret-names.ts';
import { isInexact, maskedValue, passesLuhn } from '../core/card-numbers.ts';
import { DAY } from '../core/durations.ts';
import { type Cents, centsOf, isTooLarge, toUsd } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import { REDACTED } from '../core/redaction.ts';
import { Secret } from '../core/secret.ts';
import { headerText, textOf } from './body.ts';
import type { Target } from './encode.ts';
import type { Redactor } from './redact.ts';
import type { WireHeaders } from './transport.ts';

/** `warning` is a clause about the value at a path, without the value. */
type ReadValue =
  | { readonly ok: true; readonly value: unknown; readonly warning?: string }
  | { readonly ok: false; readonly problem: string };

const fine = (value: unknown, warning?: string): ReadValue =>
  warning === undefined ? { ok: true, value } : { ok: true, value, warning };
const wrong = (problem: string): ReadValue => ({ ok: false, problem });

/**
 * Whether a value is what the field should hold as it stands: nothing is changed and nothing said. The usual case, and one
 * of a few steps, for lists of a million rows come here value by value.
 */
function isPlain(field: AnyField, value: unknown): boolean {
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

// An object against its shape: aliases, overrides, unknown fields.

interface Problem {
  /** Where in the answer: `data[3].balance`. */
  readonly path: string;
  /** `is missing`, `is not an amount …`; never the value. */
  readonly text: string;
}

interface ReadObject {
  /** Slots of the shape and the unknown fields of the service; whole only when there are no problems. */
  readonly value: Record<string, unknown>;
  readonly problems: readonly Problem[];
  /** Warnings: the path, then what is odd. */
  readonly warnings: readonly string[];
}

interface DecodeFacts {
  readonly shape: Shape;
  /** Path of the object in the answer, empty for the whole. */
  readonly at: string;
  /** Name on the wire that an override gives a slot. */
  readonly nameOf: (slot: string) => string | undefined;
}

interface Found {
  readonly name: string;
  readonly read: Extract<ReadValue, { ok: true }>;
}

/** A field of a shape with every name it may have on the wire, the likeliest first. */
interface Slot {
  readonly slot: string;
  readonly field: AnyField;
  readonly names: readonly string[];
  /** First members of the other names. */
  readonly others: readonly string[];
}

interface Reading {
  readonly slots: readonly Slot[];
  readonly sealed: boolean;
}

const READINGS = new WeakMap<Shape, Reading>();

/** Worked out once: lists of thousands of objects have the same shape. */
function readingOf(shape: Shape): Reading {
  const known = READINGS.get(shape);
  if (known !== undefined) return known;
  const slots = Object.entries(shape).map(([slot, field]) => ({
    slot,
    field,
    names: [field.wire ?? slot, ...(field.also ?? [])],
    others: (field.also ?? []).map(name => name.split('.')[0] ?? name),
  }));
  const reading = { slots, sealed: slots.some(({ field }) => field.kind === 'sealed') };
  READINGS.set(shape, reading);
  return reading;
}

/**
 * Whether an object is what reading would make of it: the members of the shape in its order, each as it should be, and no
 * others. Lists of a million rows come here; the object itself is then the result. Not for shapes that hold secrets.
 */
function isAsRead(source: Readonly<Record<string, unknown>>, shape: Shape): boolean {
  const { slots, sealed } = readingOf(shape);
  let next = 0;
  for (const name in source) {
    let slot = slots[next];
    while (slot !== undefined && slot.slot !== name) {
      if (slot.field.must) return false;
      next += 1;
      slot = slots[next];
    }
    if (slot === undefined) return false;
    const value = source[name];
    if (value === null ? slot.field.must || hasOther(source, slot) : !isPlain(slot.field, value)) return false;
    next += 1;
  }
  for (; next < slots.length; next += 1) if (slots[next]?.field.must) return false;
  return !sealed;
}

/** Whether another member may hold the value that is null here. */
function hasOther(source: Readonly<Record<string, unknown>>, { others }: Slot): boolean {
  for (const name of others) if (Object.hasOwn(source, name)) return true;
  return false;
}

/** Reads an object. Never throws. Unknown fields are kept, unless the shape holds secrets or their name is one. */
export function readObject(source: Readonly<Record<string, unknown>>, facts: DecodeFacts): ReadObject {
  const { shape, at, nameOf } = facts;
  const value: Record<string, unknown> = {};
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const taken = new Set<string>();
  const { slots, sealed } = readingOf(shape);
  for (const { slot, field, names } of slots) {
    const override = nameOf(slot);
    const raw = override === undefined && names[0] === slot && Object.hasOwn(source, slot) ? source[slot] : undefined;
    if (raw !== undefined && isPlain(field, raw)) {
      value[slot] = raw;
      continue;
    }
    const path = () => (at === '' ? slot : `${at}.${slot}`);
    const { good, bad, isNull } = lookUp(source, field, namesFor(names, override));
    const [first] = good;
    if (first !== undefined) {
      if (field.kind === 'sealed' && disagree(good)) {
        problems.push({ path: path(), text: `has two candidates: ${good.map(each => each.name).join(', ')}` });
      }
      value[slot] = first.read.value;
      for (const each of good) if (each.name !== slot) taken.add(each.name);
      if (first.read.warning) warnings.push(`${path()} ${first.read.warning}`);
    } else if (bad !== undefined) {
      // An amount that cannot be trusted must not look like an absent one.
      if (field.must || field.kind === 'money' || field.only !== undefined) problems.push({ path: path(), text: bad });
      else warnings.push(`${path()} ${bad} and is left out`);
    } else if (field.must) problems.push({ path: path(), text: isNull ? 'is null' : 'is missing' });
    else if (isNull) value[slot] = null;
  }
  if (!sealed) keepUnknown(source, value, { shape, taken });
  return { value, problems, warnings };
}

function namesFor(names: readonly string[], override: string | undefined): readonly string[] {
  return override === undefined ? names : [override, ...names];
}

const NOTHING: { readonly good: readonly Found[]; readonly bad?: string; readonly isNull: boolean } = {
  good: [],
  isNull: false,
};

/** The first candidate name with a readable value, or why the first one there is not; of sealed fields all of them. */
function lookUp(source: Readonly<Record<string, unknown>>, field: AnyField, names: readonly string[]): typeof NOTHING {
  let isNull = false;
  let bad: string | undefined;
  let good: Found[] | undefined;
  for (const name of names) {
    const raw = valueAt(source, name);
    if (raw === undefined) continue;
    if (raw === null) {
      isNull = true;
      continue;
    }
    const read = readValue(field, raw);
    if (!read.ok) {
      bad ??= read.problem;
      continue;
    }
    good ??= [];
    good.push({ name, read });
    if (field.kind !== 'sealed') break;
  }
  if (good === undefined && bad === undefined && !isNull) return NOTHING;
  return { good: good ?? [], ...(bad !== undefined && { bad }), isNull };
}

/** `card.balance` goes into the object `card`, unless a member is literally called so. Own members alone count. */
function valueAt(source: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(source, name)) return source[name];
  if (!name.includes('.')) return undefined;
  const [head = '', ...rest] = name.split('.');
  if (rest.length === 0 || !Object.hasOwn(source, head)) return undefined;
  const inner = source[head];
  return isObject(inner) ? valueAt(inner, rest.join('.')) : undefined;
}

function disagree(found: readonly Found[]): boolean {
  const texts = found.map(({ read }) => (read.value as Secret).expose());
  return new Set(texts).size > 1;
}

interface Kept {
  readonly shape: Shape;
  readonly taken: ReadonlySet<string>;
}

function keepUnknown(source: Readonly<Record<string, unknown>>, value: Record<string, unknown>, kept: Kept): void {
  for (const key of Object.keys(source)) {
    if (Object.hasOwn(kept.shape, key) || kept.taken.has(key) || !mayBeKept(key)) continue;
    value[key] = withoutSecretMembers(source[key]);
  }
}

/** A card object "carries no full card number" (2.1); should one come, or a webhook secret, it goes no further. */
function mayBeKept(key: string): boolean {
  return key !== '__proto__' && !SECRET_NAMES.has(key.toLowerCase());
}

function withoutSecretMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecretMembers);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => mayBeKept(key));
  return Object.fromEntries(entries.map(([key, entry]) => [key, withoutSecretMembers(entry)]));
}

// Finds the object or the rows in whatever an answer is wrapped in (A-20, A-21; reading rule 5).

type Source = Readonly<Record<string, unknown>>;

/**
 * Reads a single object bare, or wrapped in `data` or a resource name, up to two wrappers deep. The first reading
 * without a problem wins; else the one with the fewest, so that the error names what is really missing.
 */
export function readSingle(value: unknown, read: (source: Source, at: string) => ReadObject): ReadObject {
  if (!isObject(value)) {
    return { value: {}, problems: [{ path: 'the answer', text: 'is not an object' }], warnings: [] };
  }
  // Mostly it is bare, and nobody need look for wrappers.
  let best = read(value, '');
  if (best.problems.length === 0) return best;
  for (const { source, at } of wrapped(value, '', 2).slice(1)) {
    const reading = read(source, at);
    if (reading.problems.length === 0) return reading;
    if (reading.problems.length < best.problems.length) best = reading;
  }
  return best;
}

function wrapped(source: Source, at: string, levels: number): { source: Source; at: string }[] {
  const inner = ENVELOPES.single.also.flatMap(name => {
    const value = Object.hasOwn(source, name) ? source[name] : undefined;
    return levels > 0 && isObject(value) ? wrapped(value, at === '' ? name : `${at}.${name}`, levels - 1) : [];
  });
  return [{ source, at }, ...inner];
}

interface FoundRows {
  readonly rows: readonly unknown[];
  /** Where the rows are: `data`, or empty for a bare array. */
  readonly at: string;
  readonly page: PageFacts;
  /** The service named a further page in a way the `page` parameter does not speak of, or said there is none. */
  readonly next?: boolean;
}

/** Rows and paging of a list answer; undefined when no variant yields an array. */
export function findRows(value: unknown, headers: WireHeaders): FoundRows | undefined {
  const list = findList(value);
  return list && { rows: list.rows, at: list.at, ...paging(list.around, headers) };
}

/** The rows, where they are, and what stands around them. */
interface FoundList extends Pick<FoundRows, 'rows' | 'at'> {
  readonly around: Source;
}

function findList(value: unknown): FoundList | undefined {
  if (Array.isArray(value)) return { rows: value, at: '', around: {} };
  if (!isObject(value)) return undefined;
  const { name, also } = ENVELOPES.array;
  const named = [name, ...also].find(key => Object.hasOwn(value, key) && Array.isArray(value[key]));
  const arrays = named === undefined ? Object.keys(value).filter(key => Array.isArray(value[key])) : [];
  const at = named ?? (arrays.length === 1 ? arrays[0] : undefined);
  if (at !== undefined) return { rows: value[at] as unknown[], at, around: value };
  const inner = Object.hasOwn(value, name) ? findList(value[name]) : undefined;
  return inner && { ...inner, at: inner.at === '' ? name : `${name}.${inner.at}` };
}

function paging(value: Source, headers: WireHeaders): Pick<FoundRows, 'page' | 'next'> {
  const { container, also, hasMore, nextPage, nextCursor, totalHeader } = ENVELOPES.paging;
  const box = [container, ...also].map(key => valueAt(value, key)).find(isObject) ?? value;
  // A paging object that cannot be read is no reason to lose the rows: the loop has other ways to stop.
  const { value: read } = readObject(box, { shape: PAGE_META, at: '', nameOf: () => undefined });
  const total = read['total'] ?? Number(headerText(headers, totalHeader) ?? Number.NaN);
  const more = hasMore.map(key => valueAt(box, key)).find(flag => typeof flag === 'boolean');
  const next = more ?? saysNext(box, [...nextPage, ...nextCursor]) ?? linkNext(headers);
  const known = { ...pick(read), ...(Number.isSafeInteger(total) && { total: total as number }) };
  return {
    page: { ...known, ...(more !== undefined && { has_more: more }) },
    ...(next !== undefined && { next }),
  };
}

function pick(read: Source): PageFacts {
  const names = ['page', 'per_page', 'total', 'total_pages'].filter(name => typeof read[name] === 'number');
  return Object.fromEntries(names.map(name => [name, read[name]]));
}

/** `next_page: null` says that this was the last one; an absent member says nothing. */
function saysNext(box: Source, names: readonly string[]): boolean | undefined {
  const there = names.filter(name => Object.hasOwn(box, name));
  return there.length === 0 ? undefined : there.some(name => box[name] !== null && box[name] !== '');
}

function linkNext(headers: WireHeaders): boolean | undefined {
  const link = headerText(headers, 'link');
  return link === undefined ? undefined : /rel="?next"?/i.test(link);
}

// What is checked of card details beyond their names before anything is shown.

/** Month and year of `MM/YY`, `MM/YYYY`, `MMYY` or `YYYY-MM`. */
export function splitExpiry(text: string): { readonly month: number; readonly year: number } | undefined {
  const monthFirst = /^(\d{1,2})\s*[/-]\s*(\d{2}|\d{4})$/.exec(text) ?? /^(\d{2})(\d{2})$/.exec(text);
  const yearFirst = /^(\d{4})-(\d{1,2})$/.exec(text);
  const month = Number(yearFirst?.[2] ?? monthFirst?.[1]);
  const year = fullYear(Number(yearFirst?.[1] ?? monthFirst?.[2]));
  return month >= 1 && month <= 12 && Number.isFinite(year) ? { month, year } : undefined;
}

const fullYear = (year: number) => (year < 100 ? year + 2000 : year);

/** Reads details: expiry in one text or two parts, then number, code and expiry must have the right shape. */
function readDetails(source: Readonly<Record<string, unknown>>, facts: DecodeFacts): ReadObject {
  const read = readObject(source, facts);
  const value: Record<string, unknown> = { ...read.value };
  const problems = read.problems.filter(({ path }) => !(isExpiry(path) && fillExpiry(source, value, facts)));
  if (typeof value['exp_year'] === 'number') value['exp_year'] = fullYear(value['exp_year']);
  return { value, problems: [...problems, ...shapeProblems(source, value)], warnings: read.warnings };
}

const isExpiry = (path: string) => /(?:^|\.)exp_(?:month|year)$/.test(path);

function fillExpiry(
  source: Readonly<Record<string, unknown>>,
  value: Record<string, unknown>,
  { nameOf }: DecodeFacts,
): boolean {
  const names = [nameOf('expiry'), ...COMBINED_EXPIRY].filter(name => name !== undefined);
  const texts = names.map(name => valueAt(source, name)).filter(text => typeof text === 'string');
  const [expiry] = texts.map(splitExpiry).filter(each => each !== undefined);
  if (expiry === undefined) return false;
  value['exp_month'] = expiry.month;
  value['exp_year'] = expiry.year;
  return true;
}

function shapeProblems(source: Readonly<Record<string, unknown>>, value: Readonly<Record<string, unknown>>): Problem[] {
  const problems: Problem[] = [];
  const number = (value['number'] as Secret | undefined)?.expose();
  const code = (value['cvv'] as Secret | undefined)?.expose();
  const last4 = valueAt(source, 'last4') ?? valueAt(source, 'card.last4');
  const check = (path: string, good: boolean, text: string) => good || problems.push({ path, text });
  if (number !== undefined) {
    const digits = /^\d{13,19}$/.test(number);
    check('number', digits, 'is not 13 to 19 digits');
    check('number', !digits || passesLuhn(number), 'does not pass the check digit test');
    check(
      'number',
      typeof last4 !== 'string' || number.endsWith(last4),
      'does not end in the last4 of the same answer',
    );
  }
  if (code !== undefined) check('cvv', /^\d{3,4}$/.test(code), 'is not 3 or 4 digits');
  for (const slot of ['exp_month', 'exp_year'] as const) {
    const part = value[slot];
    const { min = 0, max = 0 } = DETAILS[slot];
    if (typeof part === 'number') check(slot, part >= min && part <= max, `is not from ${min} to ${max}`);
  }
  return problems;
}

// An answer that no row describes, without secrets, what looks like one, and short digits beside a card number.

interface Cleaned {
  readonly value: unknown;
  /** Values that were taken out. */
  readonly hidden: number;
  /** Names of numbers with more digits than are kept of one. */
  readonly inexact: readonly string[];
}

/** Never throws. Depth is bounded by `readBody`. */
export function withoutSecrets(value: unknown, redactor: Redactor): Cleaned {
  let hidden = 0;
  const inexact = new Set<string>();
  const hide = () => {
    hidden += 1;
    return REDACTED;
  };
  const clean = (part: unknown, at: string): unknown => {
    if (typeof part === 'string') {
      const text = redactor.text(part);
      return text === part ? part : hide() && text;
    }
    if (typeof part === 'number') {
      if (isCardNumber(part)) return hide();
      if (isInexact(part)) inexact.add(at);
      return part;
    }
    if (Array.isArray(part)) return part.map(each => clean(each, at));
    return isObject(part) ? cleanMembers(part) : part;
  };
  const cleanMembers = (members: Readonly<Record<string, unknown>>): unknown => {
    const before = hidden;
    const kept = Object.entries(members).map(([name, part]) => {
      const secret = SECRET_NAMES.has(name.toLowerCase()) && part !== null && part !== '';
      return [redactor.text(name), secret ? hide() : clean(part, name)] as const;
    });
    // A number was here, so three or four digits beside it are its code, under whatever name.
    const beside = hidden > before && kept.some(([, part]) => part === REDACTED);
    return Object.fromEntries(
      kept.map(([name, part]) => [name, beside && name !== 'last4' && isCode(part) ? hide() : part]),
    );
  };
  return { value: clean(value, 'the answer'), hidden, inexact: [...inexact] };
}

interface Received {
  readonly status: number;
  readonly headers: WireHeaders;
}

/** The answer of a raw request; a body that is no JSON is undefined. */
export function decodeRaw({ status, headers }: Received, came: unknown, redactor: Redactor): Decoded {
  const { value, hidden, inexact } = withoutSecrets(came, redactor);
  const shown = Object.entries(headers).filter(([name]) => !/^(?:set-cookie|proxy-|www-authenticate)/i.test(name));
  const result: RawAnswer = {
    status,
    headers: Object.fromEntries(shown.map(([name, text]) => [name.toLowerCase(), redactor.text(textOf(text ?? ''))])),
    body: value,
    hidden,
  };
  return { result, problems: [], contradicts: false, warnings: inexact.map(inexactAt) };
}

function isCardNumber(value: number): boolean {
  return Number.isSafeInteger(value) && /^\d{13,19}$/.test(String(value)) && passesLuhn(String(value));
}

function isCode(value: unknown): boolean {
  return (typeof value === 'string' || typeof value === 'number') && /^\d{3,4}$/.test(String(value));
}

// A usable 2xx body as the result of its operation, checked against what was asked.

type Values = Readonly<Record<string, unknown>>;

export interface RequestFacts {
  readonly target: Target;
  readonly input: Values;
  /** What the effect of a write is judged by. */
  readonly evidence?: Evidence | undefined;
  /** As in `CallOptions`. */
  readonly keyOfCaller?: boolean | undefined;
}

export interface Decoded {
  /** An object, or a `ListPage`. Partial when there are problems. */
  readonly result: unknown;
  readonly problems: readonly Problem[];
  /** The answer speaks of another card, webhook or amount than was asked. */
  readonly contradicts: boolean;
  readonly warnings: readonly string[];
  /** Lists: whether the service says that more follow. */
  readonly next?: boolean;
}

/** Reads the JSON of an answer. Never throws. */
export function decodeAnswer(asked: RequestFacts, value: unknown, headers: WireHeaders): Decoded {
  const { returns } = asked.target.row;
  if (returns.kind === 'none') return decodeNone(asked, value);
  return returns.kind === 'one' ? decodeOne(asked, value) : decodeList(asked, value, headers);
}

/** Nothing must come; what comes all the same must not deny it or speak of another resource. */
function decodeNone({ target, input }: RequestFacts, value: unknown): Decoded {
  const said = isObject(value) ? value : {};
  const asked = Object.keys(target.row.params ?? {}).map(name => input[name]);
  const problems: Problem[] = [];
  if (said['deleted'] === false) problems.push({ path: 'deleted', text: 'is false' });
  if (typeof said['id'] === 'string' && asked.length > 0 && !asked.includes(said['id'])) {
    problems.push({
      path: 'id',
      text: `is ${JSON.stringify(said['id'])}, but asked for was ${JSON.stringify(asked[0])}`,
    });
  }
  return { result: undefined, problems, contradicts: problems.length > 0, warnings: [] };
}

function decodeOne(asked: RequestFacts, value: unknown): Decoded {
  const { shape } = asked.target.row.returns;
  const read = shape === DETAILS ? readDetails : readObject;
  let contradictions: Set<Problem> | undefined;
  const { nameOf } = naming(asked.target);
  const single = readSingle(value, (source, at) => {
    const reading = read(source, { shape, at, nameOf });
    const against = differences(asked, reading.value);
    if (against.length === 0) return reading;
    contradictions ??= new Set();
    for (const each of against) contradictions.add(each);
    return { ...reading, problems: [...reading.problems, ...against] };
  });
  const contradicts = single.problems.some(problem => contradictions?.has(problem));
  const result = shape === FUNDING ? withRequested(asked, single.value) : single.value;
  if (shape === DETAILS) return { result, problems: single.problems, contradicts, warnings: single.warnings };
  const { value: clean, hidden, inexact } = maskedValue(result, wholeIn(shape));
  return {
    result: clean,
    problems: single.problems,
    contradicts,
    warnings: [...single.warnings, ...hidden.map(hiddenAt), ...inexact.map(inexactAt)],
  };
}

/** Card and amount of a transfer, where the answer leaves out what was asked for anyway. */
export function withRequested({ input }: Pick<RequestFacts, 'input'>, value: Values): Values {
  const { card_id: card = input['card_id'], amount = toUsd(input['amount'] as Cents) } = value;
  return { ...value, card_id: card, amount };
}

function decodeList({ target, input }: RequestFacts, value: unknown, headers: WireHeaders): Decoded {
  const found = findRows(value, headers);
  if (found === undefined) {
    return { result: undefined, problems: [{ path: 'data', text: 'is missing' }], contradicts: false, warnings: [] };
  }
  const { shape } = target.row.returns;
  const { nameOf } = naming(target);
  const whole = wholeIn(shape);
  const hasNames = Object.keys(shape).some(slot => nameOf(slot) !== undefined);
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const data = found.rows.map((row, index) => {
    if (!isObject(row)) {
      problems.push({ path: `${found.at}[${index}]`, text: 'is not an object' });
      return {};
    }
    let value: unknown = row;
    if (hasNames || !isAsRead(row, shape)) {
      const read = readObject(row, { shape, at: `${found.at}[${index}]`, nameOf });
      problems.push(...read.problems);
      for (const each of read.warnings) warnings.push(each.replace(`[${index}]`, '[]'));
      ({ value } = read);
    }
    const { value: clean, hidden, inexact } = maskedValue(value, whole);
    for (const place of hidden) warnings.push(hiddenAt(`${found.at}[].${place}`));
    for (const place of inexact) warnings.push(inexactAt(`${found.at}[].${place}`));
    const contradicted = contradictedFilter(clean as Values, target.row, input);
    if (contradicted !== undefined)
      problems.push({ ...contradicted, path: `${found.at}[${index}].${contradicted.path}` });
    return clean as Values;
  });
  for (const slot of mixedSigns(found.rows, shape)) {
    warnings.push(
      `${found.at}[].${slot} is negative in some records of a type and not in others; the type tells the direction`,
    );
  }
  const result: ListPage<Values> = { data, page: found.page };
  return { result, problems, contradicts: false, warnings, ...(found.next !== undefined && { next: found.next }) };
}

/** A service may count whole days, of whatever zone, and its clock may be another one. */
const RANGE_MARGIN_MS = DAY;

/** The first filter of a list that one of its rows does not fit. What a row leaves out says nothing. */
function contradictedFilter(value: Values, { query }: Operation, input: Values): Problem | undefined {
  for (const name in query) {
    const asked = input[name];
    if (asked === undefined) continue;
    const slot = name === 'from' || name === 'to' ? 'created_at' : name;
    const is = value[slot];
    if (typeof is !== 'string') continue;
    const apart = Date.parse(is) - Date.parse(String(asked));
    const fits =
      name === 'from'
        ? !(apart < -RANGE_MARGIN_MS)
        : name === 'to'
          ? !(apart > RANGE_MARGIN_MS)
          : is === asked || is.toLowerCase() === String(asked).toLowerCase();
    if (!fits)
      return {
        path: slot,
        text: `is ${JSON.stringify(is)}, which the filter ${name} leaves out (${JSON.stringify(asked)})`,
      };
  }
  return undefined;
}

/** A seed of a sandbox has up to sixteen digits of its own; no operation of a service has that field. */
function wholeIn(shape: Shape): (name: string) => boolean {
  return shape['seed'] === undefined ? staysWhole : name => name === 'seed' || staysWhole(name);
}

const hiddenAt = (place: string) => `${place} looks like a card number; it is masked`;
const inexactAt = (place: string) =>
  `${place} is a number of more digits than can be kept; it may be shown with others`;

/** Fields whose sign is left out although the service itself does not agree on it. */
function mixedSigns(rows: readonly unknown[], shape: Shape): string[] {
  const unsigned = Object.keys(shape).filter(slot => shape[slot]?.unsigned);
  return unsigned.filter(slot => {
    if (!rows.some(row => isObject(row) && Number(row[slot]) < 0)) return false;
    const seen = new Set<string>();
    for (const row of rows)
      if (isObject(row) && Number(row[slot]) !== 0) seen.add(`${row['type']} ${Number(row[slot]) < 0}`);
    return [...seen].some(each => each.endsWith(' true') && seen.has(each.replace(/ true$/, ' false')));
  });
}

function naming({ name, overrides }: Target) {
  return { nameOf: (slot: string) => wireName(name, slot, overrides) };
}

/** Answers about another resource or another amount count as lacking what they must hold. */
function differences({ target, input }: RequestFacts, value: Values): Problem[] {
  const { row } = target;
  const { shape } = row.returns;
  const problems: Problem[] = [];
  for (const [param, field] of Object.entries(row.params ?? {})) {
    const slot = [param, 'id'].find(each => field.names !== undefined && shape[each]?.names === field.names);
    const answered = slot === undefined ? undefined : value[slot];
    if (slot !== undefined && answered !== undefined && answered !== null && answered !== input[param]) {
      problems.push({
        path: slot,
        text: `is ${JSON.stringify(answered)}, but asked for was ${JSON.stringify(input[param])}`,
      });
    }
  }
  if (isMoney(row.body) && isMoney(shape) && typeof value['amount'] === 'number') {
    const differs = value['amount'] !== toUsd(input['amount'] as Cents);
    if (differs) problems.push({ path: 'amount', text: 'is a different amount than asked for' });
  }
  return problems;
}

function isMoney(shape: Shape | undefined): boolean {
  return shape?.['amount']?.kind === 'money';
}
