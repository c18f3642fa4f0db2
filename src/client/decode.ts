/**
 * JSON of an answer to the result of its operation: values, objects, envelopes, card details, answers that no row describes,
 * and what is checked against what was asked (docs/design/contract-and-assumptions.md, "How to read an assumption").
 */

import { COMBINED_EXPIRY, DETAILS, FUNDING } from '../contract/card.ts';
import { ENVELOPES } from '../contract/envelopes.ts';
import type { AnyField, FieldKind, Shape } from '../contract/field.ts';
import { staysWhole } from '../contract/named-shapes.ts';
import type { ListPage, PageFacts, RawAnswer } from '../contract/operation.ts';
import { wireName } from '../contract/overrides.ts';
import { PAGE_META, SECRET_NAMES } from '../contract/resources.ts';
import { isCardNumber, isHarmless, isInexact, isLastFour, maskedValue, passesLuhn } from '../core/card-numbers.ts';
import { DAY } from '../core/durations.ts';
import { type Cents, centsOf, isTooLarge, toUsd } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import { REDACTED } from '../core/redaction.ts';
import { Secret } from '../core/secret.ts';
import type { Target } from './encode.ts';
import type { RequestFacts } from './errors.ts';
import type { Redactor } from './redact.ts';
import { headerText, textOf, type WireHeaders } from './wire.ts';

/** `warning` is a clause about the value at a path, without the value. */
type ReadValue =
  | { readonly ok: true; readonly value: unknown; readonly warning?: string }
  | { readonly ok: false; readonly problem: string };

const fine = (value: unknown, warning?: string): ReadValue =>
  warning === undefined ? { ok: true, value } : { ok: true, value, warning };
const wrong = (problem: string): ReadValue => ({ ok: false, problem });

const DECIMAL = /^-?\d+(?:\.\d{1,2})?$/;

/** Reads a value that is neither absent nor null. Never throws; a problem never quotes the value. */
export function readValue(field: AnyField, value: unknown): ReadValue {
  const isWhole = Number.isSafeInteger(value);
  switch (field.kind) {
    case 'money':
      return readMoney(value, field.unsigned === true);
    case 'integer':
      if (typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return fine(Number(value));
      return isWhole ? fine(value) : wrong('is not a whole number');
    case 'number':
      return Number.isFinite(value) ? fine(value) : wrong('is not a number');
    case 'flag':
      return typeof value === 'boolean' ? fine(value) : wrong('is not true or false');
    case 'sealed':
      // A number on the wire may have lost leading zeros; the shape check of details finds that.
      return isWhole || (typeof value === 'string' && value !== '')
        ? fine(new Secret(String(value)))
        : wrong('is not text');
    case 'list':
      return readList(field, value);
    case 'map':
      return readMap(value);
    case 'object':
      return isObject(value) ? fine(value) : wrong('is not an object');
    default:
      if (typeof value === 'string') return readText(field, value);
      // Ids may be digits and category codes numbers; a code may have lost leading zeros.
      return isWhole
        ? fine(String(value), field.secret ? 'is a number and may lack leading zeros' : undefined)
        : wrong('is not text');
  }
}

function readMoney(value: unknown, isUnsigned: boolean): ReadValue {
  const isText = typeof value === 'string';
  const amount = isText && DECIMAL.test(value) ? Number(value) : value;
  if (typeof amount !== 'number') return wrong(isText ? NO_AMOUNT : 'is not an amount of money');
  // More decimals, infinite, negative zero or beyond safe cents: such a number must not decide anything.
  if (!isText && isTooLarge(amount)) return wrong('is larger than an amount whose cents are exact');
  if (centsOf(amount) === undefined)
    return wrong(isText ? NO_AMOUNT : 'is not an amount with at most two decimals (A-139)');
  return fine(isUnsigned ? Math.abs(amount) : amount, isText ? 'is an amount as text' : undefined);
}

const NO_AMOUNT = 'is text that is not an amount of money';

/** A text may be bound to one word, in upper or lower case. */
function readText({ must, only, usually }: AnyField, value: string): ReadValue {
  if (must && value === '') return wrong('is empty');
  const isOther = (word: string | undefined) => word !== undefined && value !== '' && value.toUpperCase() !== word;
  if (isOther(only)) return wrong(`is not ${only}, and amounts are understood in ${only} alone`);
  return fine(value, isOther(usually) ? `is not ${usually} in some records: sums leave those out` : undefined);
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
  const texts = Object.entries(value).map(([key, entry]) => [
    key,
    typeof entry === 'string' ? entry : JSON.stringify(entry),
  ]);
  // Own properties, so that a key like __proto__ stays a plain key.
  return fine(Object.fromEntries(texts));
}

// An object against its shape: aliases, overrides, unknown fields.

type Values = Readonly<Record<string, unknown>>;

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

/** A field of a shape with every name it may have on the wire, the likeliest first. */
interface Slot {
  readonly slot: string;
  readonly field: AnyField;
  readonly names: readonly string[];
  /** First members of the other names. */
  readonly others: readonly string[];
  /** An id, with no last four digits beside it: no card number, whatever its digits. */
  readonly isId: boolean;
  /** What `typeof` says of a value that may be left as it stands; undefined where none may. */
  readonly type: 'string' | 'number' | 'boolean' | undefined;
  /** The one text that it may or should hold. */
  readonly word: string | undefined;
}

const TYPES: Readonly<Partial<Record<FieldKind, Slot['type']>>> = {
  ...{ text: 'string', choice: 'string', time: 'string' },
  ...{ money: 'number', integer: 'number', number: 'number', flag: 'boolean' },
};

const SLOTS = new WeakMap<Shape, readonly Slot[]>();

/** Worked out once: lists of thousands of objects have the same shape. */
function slotsOf(shape: Shape): readonly Slot[] {
  let slots = SLOTS.get(shape);
  slots ??= Object.entries(shape).map(([slot, field]) => ({
    slot,
    field,
    names: [field.wire ?? slot, ...(field.also ?? [])],
    others: (field.also ?? []).map(name => name.split('.')[0] ?? name),
    isId: staysWhole(slot) && !Object.keys(shape).some(isLastFour),
    type: TYPES[field.kind],
    word: field.usually ?? field.only,
  }));
  SLOTS.set(shape, slots);
  return slots;
}

/**
 * Whether a value is what its field should hold as it stands: nothing is changed and nothing said. The usual case, and one
 * of a few steps, for lists of a million rows come here value by value.
 */
function isPlain({ field, type, word }: Slot, value: unknown): boolean {
  if (typeof value !== type) return false;
  if (typeof value === 'string') return !(value === '' && field.must) && (word ?? value) === value;
  if (typeof value !== 'number') return true;
  if (field.kind !== 'money') return Number.isSafeInteger(value);
  return centsOf(value) !== undefined && !(field.unsigned && value < 0);
}

/**
 * Whether an object is what reading would make of it: the members of the shape in its order, each as it should be and too
 * short of digits for a card number, and no others. Lists of a million rows come here; the object itself is then the result.
 * Not for shapes that hold secrets.
 */
function isAsRead(source: Values, shape: Shape): boolean {
  const slots = slotsOf(shape);
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
    // Another member may hold the value that is null here.
    const isFine =
      value === null
        ? !slot.field.must && !slot.others.some(other => Object.hasOwn(source, other))
        : isPlain(slot, value) && (slot.isId || isHarmless(value));
    if (!isFine) return false;
    next += 1;
  }
  for (; next < slots.length; next += 1) if (slots[next]?.field.must) return false;
  return true;
}

/** Reads an object. Never throws. Unknown fields are kept, unless the shape holds secrets or their name is one. */
export function readObject(source: Values, { shape, at, nameOf }: DecodeFacts): ReadObject {
  const value: Record<string, unknown> = {};
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const taken = new Set<string>();
  const slots = slotsOf(shape);
  for (const each of slots) {
    const { slot, field, names } = each;
    const override = nameOf(slot);
    const good: { readonly name: string; readonly read: Extract<ReadValue, { ok: true }> }[] = [];
    let [isNull, bad]: [boolean, string?] = [false];
    // The first name with a readable value; of sealed fields all of them.
    for (const name of override === undefined ? names : [override, ...names]) {
      const raw = valueAt(source, name);
      if (raw === undefined) continue;
      isNull ||= raw === null;
      if (raw === null) continue;
      const read = isPlain(each, raw) ? fine(raw) : readValue(field, raw);
      if (read.ok) good.push({ name, read });
      else bad ??= read.problem;
      if (read.ok && field.kind !== 'sealed') break;
    }
    const path = at === '' ? slot : `${at}.${slot}`;
    const [first] = good;
    if (first !== undefined) {
      const candidates = field.kind === 'sealed' ? good.map(({ read }) => (read.value as Secret).expose()) : [];
      if (new Set(candidates).size > 1) {
        problems.push({ path, text: `has two candidates: ${good.map(each => each.name).join(', ')}` });
      }
      value[slot] = first.read.value;
      for (const { name } of good) if (name !== slot) taken.add(name);
      if (first.read.warning) warnings.push(`${path} ${first.read.warning}`);
    } else if (bad !== undefined) {
      // An amount that cannot be trusted must not look like an absent one.
      if (field.must || field.kind === 'money' || field.only !== undefined) problems.push({ path, text: bad });
      else warnings.push(`${path} ${bad} and is left out`);
    } else if (field.must) problems.push({ path, text: isNull ? 'is null' : 'is missing' });
    else if (isNull) value[slot] = null;
  }
  if (slots.some(({ field }) => field.kind === 'sealed')) return { value, problems, warnings };
  for (const key of Object.keys(source)) {
    if (Object.hasOwn(shape, key) || taken.has(key) || !mayBeKept(key)) continue;
    value[key] = withoutSecretMembers(source[key]);
  }
  return { value, problems, warnings };
}

/** `card.balance` goes into the object `card`, unless a member is literally called so. Own members alone count. */
function valueAt(source: Values, name: string): unknown {
  if (Object.hasOwn(source, name)) return source[name];
  const dot = name.indexOf('.');
  const head = name.slice(0, Math.max(0, dot));
  const inner = dot > 0 && Object.hasOwn(source, head) ? source[head] : undefined;
  return isObject(inner) ? valueAt(inner, name.slice(dot + 1)) : undefined;
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

/**
 * Reads a single object bare, or wrapped in `data` or a resource name, up to two wrappers deep. The first reading
 * without a problem wins; else the one with the fewest, so that the error names what is really missing.
 */
export function readSingle(value: unknown, read: (source: Values, at: string) => ReadObject): ReadObject {
  if (!isObject(value)) {
    return { value: {}, problems: [{ path: 'the answer', text: 'is not an object' }], warnings: [] };
  }
  // Mostly it is bare, and nobody need look for wrappers.
  let best = read(value, '');
  if (best.problems.length === 0) return best;
  for (const { source, at } of wrapped(value, '', 2)) {
    const reading = read(source, at);
    if (reading.problems.length === 0) return reading;
    if (reading.problems.length < best.problems.length) best = reading;
  }
  return best;
}

function wrapped(source: Values, at: string, levels: number): { source: Values; at: string }[] {
  if (levels === 0) return [];
  return ENVELOPES.single.also.flatMap(name => {
    const inner = Object.hasOwn(source, name) ? source[name] : undefined;
    const path = at === '' ? name : `${at}.${name}`;
    return isObject(inner) ? [{ source: inner, at: path }, ...wrapped(inner, path, levels - 1)] : [];
  });
}

interface FoundRows {
  readonly rows: readonly unknown[];
  /** Where the rows are: `data`, or empty for a bare array. */
  readonly at: string;
  readonly page: PageFacts;
  /** The service named a further page in a way the `page` parameter does not speak of, or said there is none. */
  readonly next?: boolean | undefined;
}

/** Rows and paging of a list answer; undefined when no variant yields an array. */
export function findRows(value: unknown, headers: WireHeaders): FoundRows | undefined {
  if (Array.isArray(value)) return { rows: value, at: '', ...pagingOf({}, headers) };
  if (!isObject(value)) return undefined;
  const { name, also } = ENVELOPES.array;
  const arrays = Object.keys(value).filter(key => Array.isArray(value[key]));
  const at = [name, ...also].find(key => arrays.includes(key)) ?? (arrays.length === 1 ? arrays[0] : undefined);
  if (at !== undefined) return { rows: value[at] as unknown[], at, ...pagingOf(value, headers) };
  const inner = Object.hasOwn(value, name) ? findRows(value[name], headers) : undefined;
  return inner && { ...inner, at: inner.at === '' ? name : `${name}.${inner.at}` };
}

function pagingOf(around: Values, headers: WireHeaders): Pick<FoundRows, 'page' | 'next'> {
  const { container, also, hasMore, nextPage, nextCursor, totalHeader } = ENVELOPES.paging;
  const box = [container, ...also].map(key => valueAt(around, key)).find(isObject) ?? around;
  // A paging object that cannot be read is no reason to lose the rows: the loop has other ways to stop.
  const { value: read } = readObject(box, { shape: PAGE_META, at: '', nameOf: () => undefined });
  const total = Number(read['total'] ?? headerText(headers, totalHeader) ?? Number.NaN);
  const more = hasMore.map(key => valueAt(box, key)).find(flag => typeof flag === 'boolean');
  // `next_page: null` says that this was the last one; an absent member says nothing.
  const named = [...nextPage, ...nextCursor].filter(key => Object.hasOwn(box, key));
  const saysNext = named.length === 0 ? undefined : named.some(key => box[key] !== null && box[key] !== '');
  const link = headerText(headers, 'link');
  const next = more ?? saysNext ?? (link === undefined ? undefined : /rel="?next"?/i.test(link));
  const names = ['page', 'per_page', 'total', 'total_pages'].filter(key => typeof read[key] === 'number');
  const page = {
    ...Object.fromEntries(names.map(key => [key, read[key]])),
    ...(Number.isSafeInteger(total) && { total }),
    ...(more !== undefined && { has_more: more }),
  };
  return next === undefined ? { page } : { page, next };
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
function readDetails(source: Values, facts: DecodeFacts): ReadObject {
  const read = readObject(source, facts);
  const value: Record<string, unknown> = { ...read.value };
  const names = [facts.nameOf('expiry'), ...COMBINED_EXPIRY].filter(name => name !== undefined);
  const texts = names.map(name => valueAt(source, name)).filter(text => typeof text === 'string');
  const [expiry] = texts.map(splitExpiry).filter(each => each !== undefined);
  const isExpiry = ({ path }: Problem) => /(?:^|\.)exp_(?:month|year)$/.test(path);
  if (expiry !== undefined && read.problems.some(isExpiry)) {
    Object.assign(value, { exp_month: expiry.month, exp_year: expiry.year });
  }
  const problems = expiry === undefined ? read.problems : read.problems.filter(each => !isExpiry(each));
  if (typeof value['exp_year'] === 'number') value['exp_year'] = fullYear(value['exp_year']);
  return { value, problems: [...problems, ...shapeProblems(source, value)], warnings: read.warnings };
}

function shapeProblems(source: Values, value: Values): Problem[] {
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

// An answer that no row describes, without secrets, what looks like one, and short digits with a card number.

/** `hidden` counts what was taken out; `inexact` names numbers with more digits than are kept of one. Depth is bounded by `readBody`. */
export function withoutSecrets(value: unknown, redactor: Redactor) {
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
    const isCode = (part: unknown) => /^(?:string|number)$/.test(typeof part) && /^\d{3,4}$/.test(String(part));
    // A number was here, so three or four digits with it are its code, under whatever name.
    const hadNumber = hidden > before && kept.some(([, part]) => part === REDACTED);
    return Object.fromEntries(
      kept.map(([name, part]) => [name, hadNumber && name !== 'last4' && isCode(part) ? hide() : part]),
    );
  };
  return { value: clean(value, 'the answer'), hidden, inexact: [...inexact] };
}

/** The answer of a raw request; a body that is no JSON is undefined. */
export function decodeRaw(
  { status, headers }: { readonly status: number; readonly headers: WireHeaders },
  came: unknown,
  redactor: Redactor,
): Decoded {
  const { value, hidden, inexact } = withoutSecrets(came, redactor);
  const shown = Object.entries(headers).filter(([name]) => !/^(?:set-cookie|proxy-|www-authenticate)/i.test(name));
  const result: RawAnswer = {
    status,
    headers: Object.fromEntries(shown.map(([name, text]) => [name.toLowerCase(), redactor.text(textOf(text ?? ''))])),
    body: value,
    hidden,
  };
  return { result, problems: [], warnings: inexact.map(inexactAt) };
}

// A usable 2xx body as the result of its operation, checked against what was asked.

type Asked = Pick<RequestFacts, 'target' | 'input'>;

export interface Decoded {
  /** An object, or a `ListPage`. Partial when there are problems. */
  readonly result: unknown;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** Lists: whether the service says that more follow. */
  readonly next?: boolean | undefined;
}

/** Reads the JSON of an answer. Never throws. */
export function decodeAnswer(request: Asked, value: unknown, headers: WireHeaders): Decoded {
  const { returns } = request.target.row;
  if (returns.kind === 'none') return decodeNone(request, value);
  return returns.kind === 'one' ? decodeOne(request, value) : decodeList(request, value, headers);
}

const isNot = (answered: unknown, wanted: unknown) =>
  `is ${JSON.stringify(answered)}, but asked for was ${JSON.stringify(wanted)}`;

/** Nothing must come; what comes all the same must not deny it or speak of another resource. */
function decodeNone({ target, input }: Asked, value: unknown): Decoded {
  const { deleted, id } = isObject(value) ? value : {};
  const wanted = Object.keys(target.row.params ?? {}).map(name => input[name]);
  const problems: Problem[] = [];
  if (deleted === false) problems.push({ path: 'deleted', text: 'is false' });
  if (typeof id === 'string' && wanted.length > 0 && !wanted.includes(id)) {
    problems.push({ path: 'id', text: isNot(id, wanted[0]) });
  }
  return { result: undefined, problems, warnings: [] };
}

function decodeOne(request: Asked, value: unknown): Decoded {
  const { shape } = request.target.row.returns;
  const read = shape === DETAILS ? readDetails : readObject;
  const nameOf = namesOf(request.target);
  const single = readSingle(value, (source, at) => {
    const reading = read(source, { shape, at, nameOf });
    return { ...reading, problems: [...reading.problems, ...differences(request, reading.value)] };
  });
  const { problems, warnings } = single;
  if (shape === DETAILS) return { result: single.value, problems, warnings };
  const result = shape === FUNDING ? withRequested(request, single.value) : single.value;
  const { value: clean, hidden, inexact } = maskedValue(result, wholeIn(shape));
  return { result: clean, problems, warnings: [...warnings, ...hidden.map(hiddenAt), ...inexact.map(inexactAt)] };
}

/** Card and amount of a transfer, where the answer leaves out what was asked for anyway. */
function withRequested({ input }: Asked, value: Values): Values {
  const { card_id: card = input['card_id'], amount = toUsd(input['amount'] as Cents) } = value;
  return { ...value, card_id: card, amount };
}

function decodeList({ target, input }: Asked, value: unknown, headers: WireHeaders): Decoded {
  const found = findRows(value, headers);
  if (found === undefined) return { result: undefined, problems: [{ path: 'data', text: 'is missing' }], warnings: [] };
  const { rows, at, page, next } = found;
  const { shape } = target.row.returns;
  const nameOf = namesOf(target);
  // Neither overridden nor secret: rows may be what reading would make of them.
  const isUsual = slotsOf(shape).every(({ slot, field }) => nameOf(slot) === undefined && field.kind !== 'sealed');
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const data = rows.map((row, index): Values => {
    if (isUsual && isObject(row) && isAsRead(row, shape)) return row;
    const path = `${at}[${index}]`;
    if (!isObject(row)) {
      problems.push({ path, text: 'is not an object' });
      return {};
    }
    const object = readObject(row, { shape, at: path, nameOf });
    problems.push(...object.problems);
    for (const each of object.warnings) warnings.push(each.replace(`[${index}]`, '[]'));
    const { value: clean, hidden, inexact } = maskedValue(object.value, wholeIn(shape));
    for (const place of hidden) warnings.push(hiddenAt(`${at}[].${place}`));
    for (const place of inexact) warnings.push(inexactAt(`${at}[].${place}`));
    return clean as Values;
  });
  for (const filter of Object.keys(target.row.query ?? {})) {
    if (input[filter] !== undefined) problems.push(...contradictions(data, at, filter, input[filter]));
  }
  for (const slot of mixedSigns(rows, shape)) {
    warnings.push(
      `${at}[].${slot} is negative in some records of a type and not in others; the type tells the direction`,
    );
  }
  const result: ListPage<Values> = { data, page };
  return { result, problems, warnings, next };
}

/** A service may count whole days, of whatever zone, and its clock may be another one. */
const RANGE_MARGIN_MS = DAY;

/** Rows of a list that do not fit a filter. What a row leaves out says nothing. */
function contradictions(rows: readonly Values[], at: string, filter: string, wanted: unknown): Problem[] {
  const isBound = filter === 'from' || filter === 'to';
  const member = isBound ? 'created_at' : filter;
  return rows.flatMap((row, index) => {
    const is = row[member];
    if (typeof is !== 'string') return [];
    const after = Date.parse(is) - Date.parse(String(wanted));
    const isOther = isBound
      ? (filter === 'from' ? -after : after) > RANGE_MARGIN_MS
      : is.toLowerCase() !== String(wanted).toLowerCase();
    const text = `is ${JSON.stringify(is)}, which the filter ${filter} leaves out (${JSON.stringify(wanted)})`;
    return isOther ? [{ path: `${at}[${index}].${member}`, text }] : [];
  });
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

function namesOf({ name, overrides }: Target) {
  return (slot: string) => wireName(name, slot, overrides);
}

/** Answers about another resource or another amount count as lacking what they must hold. */
function differences({ target, input }: Asked, value: Values): Problem[] {
  const { params, body, returns } = target.row;
  const { shape } = returns;
  const problems: Problem[] = [];
  for (const [param, field] of Object.entries(params ?? {})) {
    const slot = [param, 'id'].find(each => field.names !== undefined && shape[each]?.names === field.names);
    const answered = slot === undefined ? undefined : (value[slot] ?? undefined);
    if (slot === undefined || answered === undefined || answered === input[param]) continue;
    problems.push({ path: slot, text: isNot(answered, input[param]) });
  }
  if (isMoney(body) && isMoney(shape) && typeof value['amount'] === 'number') {
    const differs = value['amount'] !== toUsd(input['amount'] as Cents);
    if (differs) problems.push({ path: 'amount', text: 'is a different amount than asked for' });
  }
  return problems;
}

function isMoney(shape: Shape | undefined): boolean {
  return shape?.['amount']?.kind === 'money';
}
