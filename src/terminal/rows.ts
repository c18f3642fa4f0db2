/**
 * Rows and their fields: reading a path, choosing, ordering, refusing a name that is not there, and the formats that write
 * rows as they come: ndjson, TSV, CSV and ids.
 */
import { CliError, usage } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { isObject } from '../core/objects.ts';
import { guardFormula } from '../core/text.ts';
import type { Environment, Streams } from '../platform/host.ts';
import { machineCell, plainText } from './cells.ts';
import { printable, printableCell, printableJson } from './printable.ts';
import type { Column, OutputSettings, Presentation, Row } from './view.ts';

/** A result as rows: an object is one, an array is its elements, anything else one row with `value`. */
export function rowsOf(data: unknown): readonly Row[] {
  if (data === undefined) return [];
  const items = Array.isArray(data) ? data : [data];
  return items.map(item => (isObject(item) ? item : { value: item }));
}

/** The value of a field. An exact key wins over a dotted path; inherited keys do not exist. */
export function valueAt(row: Row, field: string): unknown {
  if (Object.hasOwn(row, field)) return row[field];
  let value: unknown = row;
  for (const key of field.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Only these fields, in the asked order; one the row does not have is left out. */
export function pick(row: Row, fields: readonly string[]): Row {
  return Object.fromEntries(
    fields.map(field => [field, valueAt(row, field)] as const).filter(([, value]) => value !== undefined),
  );
}

function knownNames(rows: readonly Row[], columns: readonly Column[]): Set<string> {
  const names = new Set(columns.map(column => column.field));
  for (const row of rows) for (const key of Object.keys(row)) names.add(key);
  return names;
}

function sortField(sort: string): string {
  return sort.startsWith('-') ? sort.slice(1) : sort;
}

type AskedNames = Pick<OutputSettings, 'fields' | 'columns' | 'sort' | 'promised'>;

/**
 * Throws `usage` for the first name of `--fields`, `--columns` or `--sort` that no row and no column has. A
 * dotted name needs only its first part: the keys of a map are free.
 */
export function checkNames(settings: AskedNames, rows: readonly Row[], columns: readonly Column[]): void {
  const { fields = [], columns: named = [], sort } = settings;
  const options = { '--fields': fields, '--columns': named, '--sort': sort === undefined ? [] : [sortField(sort)] };
  const asked = Object.entries(options).flatMap(([option, names]) => names.map(name => [option, name] as const));
  if (asked.length === 0) return;
  const known = knownNames(rows, columns);
  if (rows.length === 0) for (const name of settings.promised ?? []) known.add(name);
  for (const [option, name] of asked) {
    const head = name.split('.')[0] ?? name;
    if (known.has(name) || (head !== name && known.has(head))) continue;
    const meant = didYouMean(name, [...known]);
    throw usage(`${option}: there is no field "${name}".${meant} Fields: ${[...known].join(', ')}`);
  }
}

function inferredColumn(field: string): Column {
  return { field, title: field.toUpperCase(), kind: 'text', priority: 1 };
}

/** The columns that were asked for by name, undefined where none were. A field that has none of its own gets a plain one. */
export function askedColumns({ columns: asked, fields }: AskedNames, columns: readonly Column[]) {
  return (asked ?? fields)?.map((name): Column => {
    const own = columns.find(column => column.field === name);
    // What was asked for by name is not dropped on a narrow screen.
    return own === undefined ? inferredColumn(name) : { ...own, priority: 1 };
  });
}

/** The columns, or one for each key of the rows where a presentation has none. */
export function columnsFor(columns: readonly Column[], rows: readonly Row[]): readonly Column[] {
  return columns.length > 0 ? columns : [...knownNames(rows, [])].map(inferredColumn);
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'number' || typeof b === 'number') return typeof a === 'number' ? -1 : 1;
  const [left, right] = [plainText(a), plainText(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Stable order by one field, numbers by value. Rows without the field come last, either way round. */
function sortRows(rows: readonly Row[], sort: string | undefined): readonly Row[] {
  if (sort === undefined) return rows;
  const field = sortField(sort);
  const direction = sort.startsWith('-') ? -1 : 1;
  const keyed = rows.map(row => ({ row, key: valueAt(row, field) ?? undefined }));
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined) return Number(a.key === undefined) - Number(b.key === undefined);
    return direction * compare(a.key, b.key);
  });
  return keyed.map(({ row }) => row);
}

/** One call of `present`. */
export interface Job {
  readonly presentation: Presentation;
  readonly settings: OutputSettings;
  readonly streams: Streams;
  readonly env: Environment;
}

/** All rows of a result, in the asked order, names checked. Nothing has been written when this throws. */
export async function collectRows({ presentation, settings }: Job): Promise<readonly Row[]> {
  const rows: Row[] = [];
  if (presentation.listing === undefined) rows.push(...rowsOf(presentation.data));
  else for await (const batch of presentation.listing.batches) for (const row of batch) rows.push(row);
  checkNames(settings, rows, presentation.columns);
  return sortRows(rows, settings.sort).slice(0, presentation.listing?.most);
}

/** Says on standard error that rows are a part of what there is; a document says it itself, a screen in its footer. */
export async function noteCut({ presentation, settings, streams }: Job): Promise<void> {
  const cut = streams.stdout.closed || settings.quiet ? undefined : presentation.listing?.cutShort?.();
  if (cut !== undefined) await streams.stderr.write(`note: ${printable(cut)}\n`);
}

// The formats that write rows as they come.

interface RowFormat {
  /** Text before the first row. */
  readonly head?: string;
  readonly lines: (rows: readonly Row[]) => string;
}

/**
 * Writes batch after batch, and says on standard error where that was not all there is. The first rows settle the columns. A
 * closed stdout ends the reading of further pages too.
 */
async function streamRows(
  job: Job,
  formatFor: (rows: readonly Row[]) => RowFormat | Promise<RowFormat>,
): Promise<void> {
  const { presentation, settings, streams } = job;
  const { stdout } = streams;
  const runsOn = presentation.listing?.runsOn === true;
  let format: RowFormat | undefined;
  // Header and rows are one write: a refusal for these rows leaves stdout empty.
  const write = async (rows: readonly Row[]) => {
    if (stdout.closed) return;
    let head = '';
    if (format === undefined) {
      checkNames(settings, rows, presentation.columns);
      format = await formatFor(rows);
      head = format.head ?? '';
    }
    const text = head + format.lines(rows);
    if (text !== '') await stdout.write(text);
  };
  const isWhole = presentation.listing === undefined || settings.sort !== undefined;
  for await (const rows of isWhole ? [await collectRows(job)] : presentation.listing.batches) {
    // Of a run a stdout that takes nothing is found out before the work begins.
    if (rows.length > 0 || (runsOn && format === undefined)) await write(rows);
    if (stdout.closed && !runsOn) return;
  }
  if (format === undefined) await write([]);
  await noteCut(job);
}

function delimitedColumns({ presentation, settings }: Job, rows: readonly Row[]): readonly Column[] {
  const shown = () => columnsFor(presentation.columns, rows).filter(({ screenOnly }) => screenOnly !== true);
  return askedColumns(settings, presentation.columns) ?? shown();
}

/** TSV without a header or colour: fixed columns in a fixed order, the same whatever the screen and the environment. */
export function writeTsv(job: Job): Promise<void> {
  return streamRows(job, first => {
    const columns = delimitedColumns(job, first);
    return { lines: rows => rows.map(row => tsvLine(cellsOf(row, columns))).join('') };
  });
}

/**
 * One result off a terminal: `field<TAB>value` for each field that has a value, so that no reader has to count columns. A result of one
 * field is its value.
 */
export async function writeFields(job: Job): Promise<void> {
  const [row = {}] = await collectRows(job);
  const columns = delimitedColumns(job, [row]);
  const [only] = columns;
  // A list without entries is no line: who counts lines would count one.
  if (columns.length === 1 && only?.kind === 'list' && machineCell(only, valueAt(row, only.field)) === '') return;
  const cells = cellsOf(row, columns);
  const lines = columns.map(({ field }, at) => (cells[at] ? tsvLine([field, cells[at]]) : ''));
  await job.streams.stdout.write(columns.length === 1 ? tsvLine(cells) : lines.join(''));
}

/** CSV with a header of field names, also for an empty list. */
export function writeCsv(job: Job): Promise<void> {
  const { csvRaw } = job.settings;
  const asIs = csvRaw ? (text: string) => text : printableCell;
  // Newlines and tabs are text to whoever reads CSV; on a terminal they could pass for another row.
  const shown = job.streams.stdout.isTerminal ? printable : asIs;
  return streamRows(job, async first => {
    const columns = delimitedColumns(job, first);
    // Home of csv-stringify.
    const { stringify } = await import('csv-stringify/sync');
    const text = (records: string[][]) => stringify(records, { quoted_match: /[\r\n]/, record_delimiter: '\n' });
    const names = columns.map(({ field }) => guardFormula(shown(field)));
    const cells = (row: Row) =>
      columns.map(column => {
        const value = valueAt(row, column.field);
        const cell = shown(machineCell(column, value));
        return csvRaw || typeof value === 'number' ? cell : guardFormula(cell);
      });
    return { head: names.length === 0 ? '' : text([names]), lines: rows => text(rows.map(cells)) };
  });
}

/** One JSON object a line. */
export function writeNdjson(job: Job): Promise<void> {
  const { fields } = job.settings;
  return streamRows(job, () => ({
    lines: rows => jsonLines(fields === undefined ? rows : rows.map(row => pick(row, fields))),
  }));
}

/** One id a line. Throws `usage` for a result that has none. */
export function writeIds(job: Job): Promise<void> {
  const { columns, idField = 'id', idIf = () => true, noun, listing } = job.presentation;
  const column = columns.find(({ field }) => field === idField);
  const line = (row: Row): string => {
    const value = valueAt(row, idField);
    const id = column === undefined ? plainText(value) : machineCell(column, value);
    if (id === '' && listing?.runsOn) return '';
    if (id === '') throw new CliError('usage', { message: `-o id: this ${noun} has no ${idField}` });
    // A line break inside an id would make two ids of it for xargs.
    return `${printable(id)}\n`;
  };
  return streamRows(job, () => ({ lines: rows => rows.filter(idIf).map(line).join('') }));
}

// Rows as TSV, CSV and JSON.

/**
 * Fields in one line: tab, newline, return and backslash inside a value are written `\t`, `\n`, `\r`, `\\`. Other control text becomes
 * visible too, in a pipe as well: `| head` ends on a terminal.
 */
function tsvLine(texts: readonly string[]): string {
  // The escapes are those of JSON.
  const escaped = (text: string) => text.replace(/[\t\n\r\\]/g, character => JSON.stringify(character).slice(1, -1));
  return `${texts.map(text => printable(escaped(text))).join('\t')}\n`;
}

const cellsOf = (row: Row, columns: readonly Column[]) =>
  columns.map(column => machineCell(column, valueAt(row, column.field)));

/** One JSON document, indented by two. What could act on a terminal is a `\u` escape: a pipe may end on one. */
export function jsonDocument(value: unknown): string {
  return printableJson(`${JSON.stringify(value, undefined, 2) ?? 'null'}\n`);
}

/** One object a line, with the same escapes. */
export function jsonLines(values: readonly unknown[]): string {
  const text = values.map(value => `${JSON.stringify(value)}\n`).join('');
  // Of ASCII only DEL is no escape in JSON yet. Counting bytes takes a twentieth of a pattern's time.
  const isPlain = Buffer.byteLength(text) === text.length && !text.includes('\x7f');
  return isPlain ? text : printableJson(text);
}
