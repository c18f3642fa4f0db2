/**
 * An input of rows, CSV or NDJSON, as records with places; read once, strictly and piece by piece. Lines and columns count from 1,
 * columns in code points.
 */
import { CliError } from '../core/errors.ts';
import { LONGEST_LINE } from '../core/input-limits.ts';
import { walkJson } from '../core/json-position.ts';
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

/** Never throws. */
export function readJsonLine(line: string): JsonLine {
  const column = (at: number) => pointsIn(line.slice(0, at)) + 1;
  const columns = new Map<string, number>();
  /** Names of the objects that are open, the outermost first. */
  const names: Set<string>[] = [];
  let last = '';
  let wrong: { readonly at: number; readonly text: string } | undefined;
  const broken = walkJson(line, ({ is, at, end, depth }) => {
    if (is === 'value') {
      const sign = line[at] ?? '';
      if (depth === 0 && sign !== '{')
        wrong = { at, text: sign === '[' ? 'a list; NDJSON has one object a line' : 'not a JSON object' };
      if (depth >= DEEPEST && /[{[]/.test(sign)) wrong ??= { at, text: 'too deep' };
      if (depth === 1) columns.set(last, column(at));
      names[depth] = new Set();
      return;
    }
    const name = JSON.parse(line.slice(at, end)) as string;
    if (names[depth - 1]?.has(name))
      wrong ??= { at, text: `${JSON.stringify(name.slice(0, 60))} is given a second time` };
    names[depth - 1]?.add(name);
    if (depth === 1) last = name;
  });
  const fault = wrong ?? broken;
  if (fault !== undefined) {
    const { at, text } = fault;
    return { fault: { column: column(at), text, unfinished: at >= line.trimEnd().length } };
  }
  const values = Object.entries(JSON.parse(line) as Readonly<Record<string, unknown>>);
  return { members: new Map(values.map(([name, value]) => [name, { value, column: columns.get(name) ?? 1 }])) };
}
