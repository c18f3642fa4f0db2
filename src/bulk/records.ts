/** An input of rows, CSV or NDJSON, as records with places; read once and piece by piece. */

import { CliError } from '../core/errors.ts';
import { LONGEST_LINE } from '../core/input-limits.ts';
import { Utf8Reader } from '../core/text.ts';
import { type CsvField, type CsvRecord, createCsvReader } from './csv.ts';
import { type JsonLine, readJsonLine } from './json-line.ts';
import type { Fault, Position } from './position.ts';

export interface Cell extends Position {
  /** Text in CSV, a JSON value in NDJSON. */
  readonly value: unknown;
}

/** One row of the input. `row` counts them from 1; `line` is where it begins. */
export type InputRecord = { readonly row: number; readonly line: number } & (
  | { readonly cells: ReadonlyMap<string, Cell>; readonly fault?: undefined }
  | { readonly fault: Fault }
);

export interface RecordSettings {
  /** How the input is called in messages. */
  readonly name: string;
  /** Looks at the names of the columns of CSV. Throws `usage` for names it does not know or misses. */
  readonly checkHeader: (header: readonly CsvField[]) => void;
}

export interface Records {
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

/** What `-o json` prints: a document over many lines, or a list. Each of its lines would be told as a wrong row. */
function oneDocument(name: string, line: number): CliError {
  return usage(
    `${name}, line ${line}: one JSON document, as -o json prints it; rows are NDJSON, one object a line (-o ndjson), or CSV (-o csv)`,
  );
}

function usage(message: string): CliError {
  return new CliError('usage', { message: `${message}. Nothing was sent`, outcome: 'not_sent' });
}
