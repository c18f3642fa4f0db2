/**
 * An input of rows, CSV or NDJSON, as records with places; read once and strictly. Lines and columns count from 1,
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
  readonly records: Iterable<InputRecord>;
}

/** Tells the form by the first character: no CSV header begins with a brace. Throws `usage` for an empty input. */
export async function readRecords(
  bytes: AsyncIterable<Uint8Array>,
  { name, checkHeader }: RecordSettings,
): Promise<Records> {
  const reader = new Utf8Reader(name);
  let text = '';
  for await (const piece of bytes) text += reader.push(piece);
  text += reader.end();
  const first = text.trimStart()[0];
  if (first === undefined) throw usage(`${name} is empty; it needs a header line, or one JSON object a line`);
  if (first === '[') throw oneDocument(name, text.slice(0, text.indexOf('[')).split('\n').length);
  if (first === '{') return { form: 'ndjson', records: jsonRecords(text, name) };
  const [header, ...found] = csvRecords(text);
  if (header?.fields === undefined) {
    const { line, column, text: what } = header?.fault ?? { line: 1, column: 1, text: 'it is missing' };
    throw usage(`${name}: the header, line ${line}, column ${column}: ${what}`);
  }
  checkHeader(header.fields);
  const names = header.fields.map(field => field.text);
  return {
    form: 'csv',
    records: found.map((record, index) => ({ row: index + 1, line: record.line, ...cellsOf(record, names) })),
  };
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

function* jsonRecords(text: string, name: string): Generator<InputRecord> {
  let row = 0;
  /** Where the first row broke off. */
  let brokeOff: number | undefined;
  for (const [index, each] of text.split('\n').entries()) {
    const line = index + 1;
    if (each.length > LONGEST_LINE)
      throw usage(`${name}: line ${line} is longer than ${LONGEST_LINE.toLocaleString('en-US')} characters`);
    const begins = each.trimStart()[0];
    if (begins === undefined) continue;
    row += 1;
    if (row === 2 && brokeOff !== undefined && begins !== '{') throw oneDocument(name, brokeOff);
    const { members, fault } = readJsonLine(each);
    // `{"data": [...], "page": {...}}` in one line.
    if (row === 1 && Array.isArray(members?.get('data')?.value)) throw oneDocument(name, line);
    if (members !== undefined) {
      yield { row, line, cells: new Map([...members].map(([name, member]) => [name, { line, ...member }])) };
      continue;
    }
    if (row === 1 && fault.unfinished) brokeOff = line;
    yield { row, line, fault: { line, column: fault.column, text: begins === '{' ? fault.text : NO_OBJECT } };
  }
}

const NO_OBJECT = 'not a JSON object; the file began with one, so each line must be one';

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

const PLAIN_END = /[",\r\n]/g;

/**
 * CSV as RFC 4180 has it: quotes only around a whole field, lines ended by LF or CRLF, empty lines left out. After a fault reading
 * goes on with the next line, so that every fault is found.
 */
export function* csvRecords(text: string): Generator<CsvRecord> {
  let [at, line, column] = [0, 1, 1];
  while (at < text.length) {
    const recordLine = line;
    const fields: CsvField[] = [];
    let fault: Fault | undefined;
    let isEmpty = true;
    for (let isOver = false; !isOver && fault === undefined; ) {
      const from = { line, column };
      const isQuoted = text[at] === '"';
      const end = isQuoted ? quotedEnd(text, at) : plainEnd(text, at);
      const raw = text.slice(at, end);
      const value = isQuoted ? raw.slice(1, -1).replaceAll('""', '"') : raw;
      const lines = isQuoted ? raw.split('\n') : [raw];
      line += lines.length - 1;
      column = (lines.length > 1 ? 1 : column) + pointsIn(lines.at(-1) ?? '');
      at = end;
      const wrong = fieldFault(text, value, { from, end: { line, column }, at, isQuoted });
      if (wrong !== undefined) {
        // Named as what it is: the quotes of its names would be wrong quotes of CSV.
        const isObject = fields.length === 0 && raw.startsWith('{');
        fault = isObject ? { ...from, text: 'a JSON object in a CSV file; a file has one form' } : wrong;
        const newline = text.indexOf('\n', at);
        at = newline < 0 ? text.length : newline;
      } else {
        fields.push({ ...from, text: value });
        // An empty field in quotes is a value: a line that holds only one is no empty line.
        isEmpty &&= value === '' && !isQuoted && fields.length === 1;
        isOver = text[at] !== ',';
        if (text[at] === '\r') at += 1;
        else if (!isOver) [at, column] = [at + 1, column + 1];
      }
    }
    at += 1;
    [line, column] = [line + 1, 1];
    if (fault !== undefined) yield { line: recordLine, fault };
    else if (!isEmpty) yield { line: recordLine, fields };
  }
}

function plainEnd(text: string, at: number): number {
  PLAIN_END.lastIndex = at;
  return PLAIN_END.exec(text)?.index ?? text.length;
}

/** Behind the closing quote; behind the text where it is never closed. */
function quotedEnd(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote >= 0; quote = text.indexOf('"', quote + 2)) {
    if (text[quote + 1] !== '"') return quote + 1;
  }
  return text.length + 1;
}

/** What is wrong with a field, or with what follows it. */
function fieldFault(
  text: string,
  value: string,
  { from, end, at, isQuoted }: { from: Position; end: Position; at: number; isQuoted: boolean },
): Fault | undefined {
  if (at > text.length) return { ...from, text: 'a quote is opened here and never closed' };
  if (value.length > LONGEST_LINE)
    return { ...from, text: `a field is longer than ${LONGEST_LINE.toLocaleString('en-US')} characters` };
  const next = text[at] ?? '\n';
  if (next === ',' || next === '\n' || (next === '\r' && text[at + 1] === '\n')) return undefined;
  if (next === '\r') return { ...end, text: 'a carriage return alone; lines end with LF or CRLF' };
  const what = isQuoted
    ? 'there is text after a closing quote; quote the whole field'
    : 'a quote inside a field without quotes; quote the field and double the quote';
  return { ...end, text: what };
}

/** Objects in objects: metadata is the only one, and nothing needs more. */
const DEEPEST = 4;

/** Its members with the columns of their values, from 1, in code points. Never throws. `unfinished`: it ended where more was expected. */
export function readJsonLine(line: string) {
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
