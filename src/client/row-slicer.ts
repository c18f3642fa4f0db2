/**
 * Rows cut out of a page's bytes without parsing them. What a row looks like is learnt from rows that were read as
 * usual: only where reading changed nothing, and only while every further row has the same members in the same order
 * with values of the same kinds, are the bytes of the service as good as what we would write
 * (docs/design/contract-and-assumptions.md, section 3).
 */
import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import type { Shape } from '../contract/field.ts';
import { mayHoldCardNumber } from '../core/card-numbers.ts';
import { membersPattern, namePattern, type RawMember, type RawRows, rowPattern } from '../core/raw-rows.ts';
import { findList } from './envelope.ts';
import { ANY, membersOf, PLAIN } from './row-pattern.ts';

/** A page whose rows are bytes; `rest` is its JSON with an empty list. */
export interface CutPage {
  readonly rest: unknown;
  readonly written: RawRows;
}

export interface Cutter {
  /** Takes note of what rows look like, from the JSON of a page and what was read from it. */
  learn(value: unknown, read: readonly unknown[]): void;
  /** Undefined when the page must be read as usual. */
  cut(bytes: Uint8Array): CutPage | undefined;
}

/** What is known of the rows, and the expressions made of it. All are sticky. */
interface Known {
  /** Name of the list in the page, empty for a bare one. */
  readonly at: string;
  readonly members: readonly RawMember[];
  readonly head: RegExp;
  readonly row: RegExp;
  /** Up to the id; undefined where rows have none. */
  readonly untilId: RegExp | undefined;
}

/** Pages that may teach something new. */
const MOST_LESSONS = 8;
/** Rows of a page there is room for at first. */
const FEW = 128;
const [LINE_END, COMMA, CLOSE] = [10, 44, 93];

/** White space before or behind the first name: then it stands everywhere. */
const SPACED = /^[[{]*(?:"[^"]*":[[{]*)?\s/;
/** What a parser makes another number of, or none. In a text it does no harm to see one. */
const ODD_NUMBER = /[:,[\s]-?(?:0(?<=-0)(?:\.0*)?[\s,}\]]|\d[\d.]*[eE]|\d{16})/;

export function createCutter(shape: Shape): Cutter {
  let known: Known | undefined;
  let lessons = 0;
  return {
    learn(value, read) {
      if (lessons === MOST_LESSONS) return;
      lessons += 1;
      const found = findList(value);
      if (found === undefined || found.rows.length === 0) return;
      const { at, rows } = found;
      const isSame = (known === undefined || known.at === at) && isDeepStrictEqual(rows, read);
      const members = isSame ? membersOf(rows, shape, known?.members) : undefined;
      known = members && expressions(at, members);
      if (known === undefined) lessons = MOST_LESSONS;
    },
    cut(bytes) {
      if (known === undefined || !isUtf8(bytes)) return undefined;
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const text = buffer.toString('latin1');
      if (mayHoldCardNumber(text)) return undefined;
      if (!SPACED.test(text)) return cutPage(buffer, text, known);
      const compact = ODD_NUMBER.test(text) ? undefined : compacted(buffer);
      return compact && cutPage(compact, compact.toString('latin1'), known);
    },
  };
}

/** Undefined for a list that stands deeper. */
function expressions(at: string, members: readonly RawMember[]): Known | undefined {
  if (at.includes('.')) return undefined;
  const sticky = (source: string) => new RegExp(source, 'y');
  const list = namePattern(at);
  const head = at === '' ? '\\[' : `\\{(?:(?!${list})"${PLAIN}*":(?:${ANY}),)*${list}\\[`;
  const id = members.findIndex(({ name }) => name === 'id');
  const before = membersPattern(members.slice(0, id));
  const untilId = id === -1 ? undefined : sticky(`\\{${before}${id === 0 ? '' : ','}${namePattern('id')}`);
  return { at, members, head: sticky(head), row: sticky(rowPattern(members)), untilId };
}

/** Where an expression that was tried at `from` got to; -1 when it does not match there. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** The same JSON without white space: parsing and writing take a fifth of what reading takes. */
function compacted(buffer: Buffer): Buffer | undefined {
  return tried(() => Buffer.from(JSON.stringify(JSON.parse(buffer.toString('utf8')))));
}

function cutPage(buffer: Buffer, text: string, known: Known): CutPage | undefined {
  const found = tried(() => placesIn(text, buffer, known));
  if (found === undefined) return undefined;
  const around = `${buffer.toString('utf8', 0, found.begin)}${buffer.toString('utf8', found.end)}`;
  const rest = tried(() => JSON.parse(around) as unknown);
  const emptied = findList(rest);
  if (emptied === undefined || emptied.at !== known.at || emptied.rows.length > 0) return undefined;
  return { rest, written: new RowsInText(buffer, text, { places: found, members: known.members }) };
}

interface Places {
  /** Of what stands between the brackets. */
  readonly begin: number;
  readonly end: number;
  readonly count: number;
  /** Where each row ends; the next begins a comma behind. */
  readonly ends: Int32Array;
  readonly ids: Int32Array | undefined;
}

function placesIn(text: string, bytes: Uint8Array, { head, row, untilId }: Known): Places | undefined {
  const begin = endOf(head, text, 0);
  if (begin === -1) return undefined;
  let [ends, ids] = [new Int32Array(FEW), new Int32Array(untilId === undefined ? 0 : 2 * FEW)];
  let [at, count] = [begin, 0];
  while (bytes[at] !== CLOSE || count > 0) {
    const end = endOf(row, text, at);
    if (end === -1) return undefined;
    if (count === ends.length) [ends, ids] = [doubled(ends), doubled(ids)];
    if (untilId !== undefined) {
      const id = endOf(untilId, text, at);
      ids[2 * count] = id;
      ids[2 * count + 1] = text.indexOf('"', id + 1) + 1;
    }
    ends[count] = end;
    count += 1;
    at = end + 1;
    if (bytes[end] !== COMMA) break;
  }
  const end = count === 0 ? begin : (ends[count - 1] as number);
  return bytes[end] === CLOSE ? { begin, end, count, ends, ids: untilId && ids } : undefined;
}

function doubled(places: Int32Array): Int32Array<ArrayBuffer> {
  const more = new Int32Array(2 * places.length);
  more.set(places);
  return more;
}

/** Undefined for text that is no JSON, is nested too deep, or has more escapes than an expression can go back through. */
function tried<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

class RowsInText implements RawRows {
  readonly members: readonly RawMember[];
  readonly text: string;
  readonly #buffer: Buffer;
  readonly #places: Places;

  constructor(buffer: Buffer, text: string, { places, members }: { places: Places; members: readonly RawMember[] }) {
    this.members = members;
    this.text = text;
    this.#buffer = buffer;
    this.#places = places;
  }

  get count(): number {
    return this.#places.count;
  }

  get ids(): Int32Array | undefined {
    return this.#places.ids;
  }

  get bytes(): Uint8Array {
    return this.#buffer;
  }

  begin(index: number): number {
    return index === 0 ? this.#places.begin : this.end(index - 1) + 1;
  }

  end(index: number): number {
    return this.#places.ends[index] as number;
  }

  row(index: number): string {
    return this.#buffer.toString('utf8', this.begin(index), this.end(index));
  }

  lines(): Uint8Array {
    const { begin, end, count, ends } = this.#places;
    if (count === 0) return this.#buffer.subarray(0, 0);
    // What stands between rows, and behind the last, is one byte each.
    for (let index = 0; index < count; index += 1) this.#buffer[ends[index] as number] = LINE_END;
    return this.#buffer.subarray(begin, end + 1);
  }
}
