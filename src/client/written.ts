/**
 * Rows cut out of a page's bytes without parsing them. What a row looks like is learnt from rows that were read as
 * usual: only where reading changed nothing, and only while every further row has the same members in the same order
 * with values of the same kinds, are the bytes of the service as good as what we would write (ASSUMPTIONS, section 3).
 */
import { isAscii, isUtf8 } from 'node:buffer';
import type { AnyField, Shape } from '../contract/field.ts';
import type { Spans, WrittenRows } from '../row-text.ts';
import { isObject } from './values.ts';

/** A page whose rows are bytes; `rest` is its JSON with an empty list. */
export interface CutPage {
  readonly rest: unknown;
  readonly written: WrittenRows;
}

export interface Cutter {
  /** No page was learnt from so far. */
  readonly isNew: boolean;
  /** Takes note of what rows look like, from the JSON of a page and what was read from it. */
  learn(value: unknown, read: readonly unknown[]): void;
  /** Undefined when the page must be read as usual. */
  cut(bytes: Uint8Array): CutPage | undefined;
}

type Kind = 'text' | 'some text' | 'money' | 'integer' | 'flag';

interface Member {
  readonly name: string;
  /** `"name":`, with what stands before it. */
  readonly lead: Uint8Array;
  readonly kind: Kind;
  readonly nullable: boolean;
}

const HEAD = '{"data":[';
const NULL = Buffer.from('null');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const [LINE_END, QUOTE, COMMA, MINUS, POINT, ZERO, BACKSLASH, CLOSE, SMALL_N, END] = [
  10, 34, 44, 45, 46, 48, 92, 93, 110, 125,
];

export function createCutter(shape: Shape): Cutter {
  let members: readonly Member[] | undefined;
  let isOff = false;
  const head = Buffer.from(HEAD);
  return {
    get isNew() {
      return members === undefined && !isOff;
    },
    learn(value, read) {
      if (members !== undefined || isOff) return;
      const rows = isObject(value) && Array.isArray(value['data']) ? (value['data'] as unknown[]) : [];
      if (rows.length === 0) return;
      members = JSON.stringify(rows) === JSON.stringify(read) ? membersOf(rows, shape) : undefined;
      isOff = members === undefined;
    },
    cut(bytes) {
      return members !== undefined && startsWith(bytes, head, 0) && isUtf8(bytes) ? cutPage(bytes, members) : undefined;
    },
  };
}

/** The members all rows share, in their order; undefined where one is no plain value. */
function membersOf(rows: readonly unknown[], shape: Shape): readonly Member[] | undefined {
  const [first] = rows;
  if (!isObject(first)) return undefined;
  const members: Member[] = [];
  for (const name of Object.keys(first)) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const kind = kindOf(field, rows, name);
    if (kind === undefined || field?.secret) return undefined;
    const lead = Buffer.from(`${members.length === 0 ? '{' : ','}${JSON.stringify(name)}:`);
    members.push({ name, lead, kind, nullable: field?.must !== true });
  }
  return members.length > 0 ? members : undefined;
}

/** By the contract; a member it does not have must be text or null. */
function kindOf(field: AnyField | undefined, rows: readonly unknown[], name: string): Kind | undefined {
  switch (field?.kind) {
    case 'money':
    case 'integer':
    case 'flag':
      return field.kind;
    case 'text':
    case 'choice':
    case 'time':
      return field.must ? 'some text' : 'text';
    case undefined:
      return rows.every(row => isObject(row) && (row[name] === null || typeof row[name] === 'string'))
        ? 'text'
        : undefined;
    default:
      return undefined;
  }
}

function cutPage(bytes: Uint8Array, members: readonly Member[]): CutPage | undefined {
  /** Begin and end of each row and of its id. */
  const places: number[] = [];
  const id = members.findIndex(({ name }) => name === 'id');
  let at = HEAD.length;
  while (bytes[at] !== CLOSE) {
    const begin = at;
    let [idBegin, idEnd] = [0, 0];
    for (let index = 0; index < members.length; index += 1) {
      const member = members[index] as Member;
      if (!startsWith(bytes, member.lead, at)) return undefined;
      const from = at + member.lead.length;
      at = valueEnd(bytes, from, member);
      if (at < 0) return undefined;
      if (index === id) [idBegin, idEnd] = [from, at];
    }
    if (bytes[at] !== END) return undefined;
    at += 1;
    places.push(begin, at, idBegin, idEnd);
    if (bytes[at] === CLOSE) break;
    if (bytes[at] !== COMMA) return undefined;
    at += 1;
    if (bytes[at] === CLOSE) return undefined;
  }
  const rest = parsed(`${HEAD}${textOf(bytes, at, bytes.length)}`);
  return rest === undefined ? undefined : { rest, written: writtenRows(bytes, places, members) };
}

function startsWith(bytes: Uint8Array, lead: Uint8Array, at: number): boolean {
  for (let index = 0; index < lead.length; index += 1) if (bytes[at + index] !== lead[index]) return false;
  return true;
}

/** Where the value that begins at `at` ends; -1 for one of another kind, and for all that is not plain. */
function valueEnd(bytes: Uint8Array, at: number, { kind, nullable }: Member): number {
  if (bytes[at] === SMALL_N) return nullable && startsWith(bytes, NULL, at) ? at + 4 : -1;
  if (kind === 'text' || kind === 'some text') {
    const end = textEnd(bytes, at);
    return kind === 'some text' && end === at + 2 ? -1 : end;
  }
  if (kind === 'flag') return startsWith(bytes, TRUE, at) ? at + 4 : startsWith(bytes, FALSE, at) ? at + 5 : -1;
  return numberEnd(bytes, at, kind === 'money' ? 2 : 0);
}

function textEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return -1;
  for (let place = at + 1; place < bytes.length; place += 1) {
    const code = bytes[place] as number;
    if (code === QUOTE) return place + 1;
    if (code < 32) return -1;
    if (code === BACKSLASH) {
      if (!ESCAPED.test(textOf(bytes, place + 1, place + 6))) return -1;
      place += 1;
    }
  }
  return -1;
}

const ESCAPED = /^(?:[bfnrt"\\/]|u[0-9a-fA-F]{4})/;

/** Digits with at most so many decimals, and no more of them than cents can be told apart. */
function numberEnd(bytes: Uint8Array, at: number, decimals: number): number {
  let place = bytes[at] === MINUS ? at + 1 : at;
  const begin = place;
  while (isDigit(bytes[place])) place += 1;
  const digits = place - begin;
  if (digits === 0 || digits > 12 || (digits > 1 && bytes[begin] === ZERO)) return -1;
  if (decimals > 0 && bytes[place] === POINT) {
    const fraction = place + 1;
    place = fraction;
    while (isDigit(bytes[place])) place += 1;
    if (place === fraction || place - fraction > decimals) return -1;
  }
  // Negative zero is no amount.
  if (begin > at && /^-0(?:\.0+)?$/.test(textOf(bytes, at, place))) return -1;
  return bytes[place] === COMMA || bytes[place] === END ? place : -1;
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 48 && code <= 57;
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', from, to);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function writtenRows(bytes: Uint8Array, places: readonly number[], members: readonly Member[]): WrittenRows {
  const count = places.length / 4;
  const placeOf = (index: number, part: number) => places[index * 4 + part] ?? 0;
  return {
    count,
    fields: members.map(({ name }) => name),
    row: index => textOf(bytes, placeOf(index, 0), placeOf(index, 1)),
    id: index => textOf(bytes, placeOf(index, 2), placeOf(index, 3)),
    lines() {
      if (count === 0) return bytes.subarray(0, 0);
      // What stands between rows, and behind the last, is one byte each.
      for (let index = 0; index < count; index += 1) bytes[placeOf(index, 1)] = LINE_END;
      return bytes.subarray(placeOf(0, 0), placeOf(count - 1, 1) + 1);
    },
    spans: () => spansOf(bytes, members, { count, first: placeOf(0, 0) }),
  };
}

/** Every value of every row; undefined where a character is more than a byte, or not itself. */
function spansOf(
  bytes: Uint8Array,
  members: readonly Member[],
  { count, first }: { readonly count: number; readonly first: number },
): Spans | undefined {
  if (!isAscii(bytes) || bytes.includes(BACKSLASH)) return undefined;
  const places = new Int32Array(count * members.length * 2);
  let [at, next] = [first, 0];
  for (let row = 0; row < count; row += 1) {
    for (let index = 0; index < members.length; index += 1) {
      const member = members[index] as Member;
      const from = at + member.lead.length;
      at = valueEnd(bytes, from, member);
      places[next] = from;
      places[next + 1] = at;
      next += 2;
    }
    at += 2;
  }
  return { text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'), places };
}
