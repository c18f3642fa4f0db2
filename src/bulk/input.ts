/**
 * An input of rows, CSV or NDJSON, as records with places; read once, strictly and piece by piece. Lines and columns count from 1,
 * columns in code points.
 */
import { CliError } from '../core/errors.ts';
import { LONGEST_LINE } from '../core/input-limits.ts';
import { Utf8Reader } from '../core/text.ts';

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Fault extends Position {
  /** A sentence that names the column or the member; what stood there is quoted and shortened. */
  readonly text: string;
}

/** Code points of a text. */
function pointsIn(text: string): number {
  return /[\ud800-\udbff]/.test(text) ? [...text].length : text.length;
}

/** `line 3, column 9: amount "1e3" is not an amount`. */
export function faultLine({ line, column, text }: Fault): string {
  return `line ${line}, column ${column}: ${text}`;
}

export interface Cell extends Position {
  /** Text in CSV, a JSON value in NDJSON. */
  readonly value: unknown;
}

/** One row of the input. `row` counts them from 1; `line` is where it begins. */
export type InputRecord = { readonly row: number; readonly line: number } & (
  | { readonly cells: ReadonlyMap<string, Cell>; readonly fault?: undefined }
  | { readonly fault: Fault }
);

interface RecordSettings {
  /** How the input is called in messages. */
  readonly name: string;
  /** Looks at the names of the columns of CSV. Throws `usage` for names it does not know or misses. */
  readonly checkHeader: (header: readonly CsvField[]) => void;
}

interface Records {
  readonly form: 'csv' | 'ndjson';
  readonly records: AsyncIterable<InputRecord>;
}

/** Tells the form by the first character: no CSV header begins with a brace. Throws `usage` for an empty input. */
export async function readRecords(
  bytes: AsyncIterable<Uint8Array>,
  { name, checkHeader }: RecordSettings,
): Promise<Records> {
  const pieces = texts(bytes, name)[Symbol.asyncIterator]();
  let head = '';
  while (head.trim() === '') {
    const { done, value } = await pieces.next();
    if (done) throw usage(`${name} is empty; it needs a header line, or one JSON object a line`);
    head += value;
  }
  async function* whole() {
    yield head;
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
  }
  const first = head.trimStart()[0];
  if (first === '[') throw oneDocument(name, head.slice(0, head.indexOf('[')).split('\n').length);
  if (first === '{') return { form: 'ndjson', records: jsonRecords(whole(), name) };
  return { form: 'csv', records: csvRecords(whole(), { name, checkHeader }) };
}

async function* texts(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  const reader = new Utf8Reader(name);
  for await (const piece of bytes) {
    const text = reader.push(piece);
    if (text !== '') yield text;
  }
  const rest = reader.end();
  if (rest !== '') yield rest;
}

async function* csvRecords(
  pieces: AsyncIterable<string>,
  { name, checkHeader }: RecordSettings,
): AsyncGenerator<InputRecord> {
  const reader = createCsvReader();
  let names: readonly string[] | undefined;
  let row = 0;
  const take = (found: CsvRecord): InputRecord | undefined => {
    if (names === undefined) {
      if (found.fault !== undefined)
        throw usage(`${name}: the header, line ${found.fault.line}, column ${found.fault.column}: ${found.fault.text}`);
      names = found.fields.map(({ text }) => text);
      checkHeader(found.fields);
      return undefined;
    }
    row += 1;
    return { row, line: found.line, ...cellsOf(found, names) };
  };
  for await (const piece of pieces) {
    for (const found of reader.push(piece)) {
      const record = take(found);
      if (record !== undefined) yield record;
    }
  }
  for (const found of reader.end()) {
    const record = take(found);
    if (record !== undefined) yield record;
  }
}

function cellsOf(found: CsvRecord, names: readonly string[]) {
  if (found.fault !== undefined) return { fault: found.fault };
  const { fields, line } = found;
  if (fields.length !== names.length) {
    const extra = fields[names.length];
    const place = extra ?? { line, column: 1 };
    const text = `${fields.length} ${fields.length === 1 ? 'field' : 'fields'}, the header has ${names.length}`;
    return { fault: { line: place.line, column: place.column, text } };
  }
  return {
    cells: new Map(
      fields.map(({ text, line, column }, index) => [names[index] ?? '', { value: text, line, column }] as const),
    ),
  };
}

async function* jsonRecords(pieces: AsyncIterable<string>, name: string): AsyncGenerator<InputRecord> {
  let [line, row, rest] = [0, 0, ''];
  /** Where the first row broke off. */
  let brokeOff: number | undefined;
  const take = (text: string): InputRecord | undefined => {
    line += 1;
    const begins = text.trimStart()[0];
    if (begins === undefined) return undefined;
    row += 1;
    if (row === 2 && brokeOff !== undefined && begins !== '{') throw oneDocument(name, brokeOff);
    const read = readJsonLine(text);
    if (row === 1 && isListOfOurs(read)) throw oneDocument(name, line);
    if (read.fault === undefined)
      return { row, line, cells: new Map([...read.members].map(([name, member]) => [name, { line, ...member }])) };
    const { column, text: what, unfinished } = read.fault;
    if (row === 1 && unfinished) brokeOff = line;
    return { row, line, fault: { line, column, text: begins === '{' ? what : NO_OBJECT } };
  };
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE)
      throw usage(
        `${name}: line ${line + lines.length + 1} is longer than ${LONGEST_LINE.toLocaleString('en-US')} characters`,
      );
    for (const text of lines) {
      const record = take(text);
      if (record !== undefined) yield record;
    }
  }
  const last = take(rest);
  if (last !== undefined) yield last;
}

const NO_OBJECT = 'not a JSON object; the file began with one, so each line must be one';

/** `{"data": [...], "page": {...}}` in one line. */
function isListOfOurs({ members }: JsonLine): boolean {
  return Array.isArray(members?.get('data')?.value);
}

/** What `-o json` prints: a document over many lines, or a list. Each of its lines would be a wrong row. */
function oneDocument(name: string, line: number): CliError {
  return usage(
    `${name}, line ${line}: one JSON document, as -o json prints it; rows are NDJSON, one object a line (-o ndjson), or CSV (-o csv)`,
  );
}

function usage(message: string): CliError {
  return new CliError('usage', { message: `${message}. Nothing was sent`, outcome: 'not_sent' });
}

export interface CsvField extends Position {
  readonly text: string;
}

export type CsvRecord =
  | { readonly line: number; readonly fields: readonly CsvField[]; readonly fault?: undefined }
  | { readonly line: number; readonly fields?: undefined; readonly fault: Fault };

interface CsvReader {
  /** Records that ended in this piece. A piece must not end inside a code point. */
  push(piece: string): readonly CsvRecord[];
  /** The record that the end of the input ends. */
  end(): readonly CsvRecord[];
}

const LONE_RETURN = 'a carriage return alone; lines end with LF or CRLF';

type State = 'start' | 'plain' | 'quoted' | 'after' | 'return' | 'skip';

/** Ends a run of ordinary characters. */
const PLAIN_END = /[",\r\n]/g;
const QUOTED_END = /["\n]/g;

/**
 * CSV as RFC 4180 has it: quotes only around a whole field, lines ended by LF or CRLF, empty lines left out. After a fault reading
 * goes on with the next line, so that every fault is found.
 */
export function createCsvReader(): CsvReader {
  let records: CsvRecord[] = [];
  let fields: CsvField[] = [];
  let state: State = 'start';
  let text = '';
  let [line, column, recordLine] = [1, 1, 1];
  let from: Position = { line, column };
  /** An empty field in quotes is a value: a line that holds only one is no empty line. */
  let inQuotes = false;

  const here = (): Position => ({ line, column });

  function endField(): void {
    fields.push({ ...from, text });
    text = '';
  }

  function endRecord(): void {
    const empty = fields.length === 1 && fields[0]?.text === '' && !inQuotes;
    if (!empty) records.push({ line: recordLine, fields });
    nextLine();
    fields = [];
    beginRecord();
  }

  function beginRecord(): void {
    recordLine = line;
    beginField();
  }

  function beginField(): void {
    from = here();
    inQuotes = false;
    state = 'start';
  }

  function nextLine(): void {
    line += 1;
    column = 1;
  }

  function fault(place: Position, what: string): void {
    // Named as what it is: the quotes of its names would be wrong quotes of CSV.
    const isObject = fields.length === 0 && text.startsWith('{');
    const fault = isObject
      ? { ...from, text: 'a JSON object in a CSV file; a file has one form' }
      : { ...place, text: what };
    records.push({ line: recordLine, fault });
    fields = [];
    text = '';
    state = 'skip';
  }

  /** Takes a run up to the next character that means something; returns where it ended. */
  function run(piece: string, at: number, end: RegExp): number {
    end.lastIndex = at;
    const found = end.exec(piece);
    const to = found === null ? piece.length : found.index;
    if (to > at) {
      const part = piece.slice(at, to);
      text += part;
      column += pointsIn(part);
      if (text.length > LONGEST_LINE)
        fault(from, `a field is longer than ${LONGEST_LINE.toLocaleString('en-US')} characters`);
    }
    return to;
  }

  function unquoted(char: string): void {
    switch (char) {
      case ',':
        endField();
        column += 1;
        beginField();
        return;
      case '\r':
        column += 1;
        state = 'return';
        return;
      case '\n':
        endField();
        endRecord();
        return;
      default:
        if (state === 'start') {
          state = 'quoted';
          inQuotes = true;
          column += 1;
        } else if (state === 'after') fault(here(), 'there is text after a closing quote; quote the whole field');
        else fault(here(), 'a quote inside a field without quotes; quote the field and double the quote');
    }
  }

  function step(piece: string, at: number): number {
    const char = piece[at] ?? '';
    switch (state) {
      case 'skip': {
        const newline = piece.indexOf('\n', at);
        if (newline < 0) return piece.length;
        nextLine();
        beginRecord();
        return newline + 1;
      }
      case 'quoted': {
        if (char === '"') {
          column += 1;
          state = 'after';
          return at + 1;
        }
        if (char === '\n') {
          text += char;
          nextLine();
          return at + 1;
        }
        return run(piece, at, QUOTED_END);
      }
      case 'after':
        if (char !== '"') break;
        text += char;
        column += 1;
        state = 'quoted';
        return at + 1;
      case 'return':
        if (char === '\n') break;
        fault({ line, column: column - 1 }, LONE_RETURN);
        return at;
      default:
        if (!/[",\r\n]/.test(char)) {
          state = 'plain';
          return run(piece, at, PLAIN_END);
        }
    }
    unquoted(char);
    return at + 1;
  }

  function taken(): readonly CsvRecord[] {
    const found = records;
    records = [];
    return found;
  }

  return {
    push(piece) {
      for (let at = 0; at < piece.length; ) at = step(piece, at);
      return taken();
    },
    end() {
      if (state === 'quoted') fault(from, 'a quote is opened here and never closed');
      else if (state === 'return') fault({ line, column: column - 1 }, LONE_RETURN);
      else if (state !== 'skip' && (state !== 'start' || fields.length > 0)) {
        endField();
        endRecord();
      }
      return taken();
    },
  };
}

interface JsonMember {
  readonly value: unknown;
  /** Of the value, from 1, in code points. */
  readonly column: number;
}

type JsonLine =
  | { readonly members: ReadonlyMap<string, JsonMember>; readonly fault?: undefined }
  | { readonly members?: undefined; readonly fault: LineFault };

interface LineFault {
  readonly column: number;
  readonly text: string;
  /** The line ended where more was expected. */
  readonly unfinished: boolean;
}

/** Objects in objects: metadata is the only one, and nothing needs more. */
const DEEPEST = 4;
const SPACE = /[ \t\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const WORD = /true|false|null/y;
const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };

class Unreadable extends Error {
  readonly at: number;
  constructor(at: number, text: string) {
    super(text);
    this.at = at;
  }
}

/** Never throws. */
export function readJsonLine(line: string): JsonLine {
  const column = (at: number) => pointsIn(line.slice(0, at)) + 1;
  try {
    const begin = skip(line, 0);
    if (line[begin] === '[') throw new Unreadable(begin, 'a list; NDJSON has one object a line');
    if (line[begin] !== '{') throw new Unreadable(begin, 'not a JSON object');
    const { members, end } = readObject(line, begin, 1);
    const rest = skip(line, end);
    if (rest < line.length) throw new Unreadable(rest, 'there is text after the object');
    return { members: new Map([...members].map(([name, { value, at }]) => [name, { value, column: column(at) }])) };
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    return {
      fault: { column: column(thrown.at), text: thrown.message, unfinished: thrown.at >= line.trimEnd().length },
    };
  }
}

interface Read {
  readonly value: unknown;
  readonly end: number;
}

function readValue(line: string, at: number, depth: number): Read {
  switch (line[at]) {
    case '{': {
      const { members, end } = readObject(line, at, depth + 1);
      // fromEntries defines own properties, so a name like __proto__ stays a plain name.
      return { value: Object.fromEntries([...members].map(([name, { value }]) => [name, value])), end };
    }
    case '[':
      return readList(line, at, depth + 1);
    case '"':
      return readString(line, at);
    default: {
      const word = match(WORD, line, at);
      if (word !== undefined) return { value: WORDS[word], end: at + word.length };
      const number = match(NUMBER, line, at);
      if (number === undefined) throw new Unreadable(at, 'a value was expected here');
      return { value: Number(number), end: at + number.length };
    }
  }
}

function readObject(line: string, begin: number, depth: number) {
  if (depth > DEEPEST) throw new Unreadable(begin, 'too deep');
  const members = new Map<string, { readonly value: unknown; readonly at: number }>();
  let at = skip(line, begin + 1);
  if (line[at] === '}') return { members, end: at + 1 };
  for (;;) {
    if (line[at] !== '"') throw new Unreadable(at, 'a name in quotes was expected here');
    const { value, end } = readString(line, at);
    const name = String(value);
    if (members.has(name)) throw new Unreadable(at, `${JSON.stringify(name.slice(0, 60))} is given a second time`);
    at = expect(line, skip(line, end), ':');
    at = skip(line, at);
    const member = readValue(line, at, depth);
    members.set(name, { value: member.value, at });
    at = skip(line, member.end);
    if (line[at] === '}') return { members, end: at + 1 };
    at = skip(line, expect(line, at, ','));
  }
}

function readList(line: string, begin: number, depth: number): Read {
  if (depth > DEEPEST) throw new Unreadable(begin, 'too deep');
  const value: unknown[] = [];
  let at = skip(line, begin + 1);
  if (line[at] === ']') return { value, end: at + 1 };
  for (;;) {
    const entry = readValue(line, at, depth);
    value.push(entry.value);
    at = skip(line, entry.end);
    if (line[at] === ']') return { value, end: at + 1 };
    at = skip(line, expect(line, at, ','));
  }
}

function readString(line: string, at: number): Read {
  const text = match(STRING, line, at);
  if (text === undefined) throw new Unreadable(at, 'a quote is opened here and never closed');
  try {
    return { value: JSON.parse(text) as string, end: at + text.length };
  } catch {
    throw new Unreadable(at, 'not a JSON string: a control character or a wrong escape');
  }
}

function expect(line: string, at: number, char: string): number {
  if (line[at] !== char) throw new Unreadable(at, `${JSON.stringify(char)} was expected here`);
  return at + 1;
}

function skip(line: string, at: number): number {
  return at + (match(SPACE, line, at) ?? '').length;
}

function match(pattern: RegExp, line: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0];
}
