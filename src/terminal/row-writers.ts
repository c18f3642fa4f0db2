/** The formats that write rows as they come: ndjson, TSV, CSV and ids. */
import { CliError } from '../core/errors.ts';
import { guardFormula } from '../core/text.ts';
import { machineCell, plainText } from './cells.ts';
import { printable, printableCell, printableJson } from './printable.ts';
import {
  askedColumns,
  batchesOf,
  checkNames,
  collectRows,
  columnsFor,
  type Job,
  noteCut,
  pick,
  valueAt,
} from './rows.ts';
import type { Column, Row } from './view.ts';

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
  for await (const rows of batchesOf(job)) {
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
    return { lines: rows => tsvLines(rows, columns) };
  });
}

/**
 * One result off a terminal: a line a field that has a value, so that no reader has to count columns. A result of one
 * field is its value.
 */
export async function writeFields(job: Job): Promise<void> {
  const [row = {}] = await collectRows(job);
  const columns = delimitedColumns(job, [row]);
  const [only] = columns;
  // A list without entries is no line: who counts lines would count one.
  if (columns.length === 1 && only?.kind === 'list' && machineCell(only, valueAt(row, only.field)) === '') return;
  await job.streams.stdout.write(columns.length === 1 ? tsvLines([row], columns) : fieldLines(row, columns));
}

/** CSV with a header of field names, also for an empty list. */
export function writeCsv(job: Job): Promise<void> {
  return streamRows(job, async first => {
    const columns = delimitedColumns(job, first);
    const style = { raw: job.settings.csvRaw, terminal: job.streams.stdout.isTerminal };
    // Home of csv-stringify.
    const { stringify } = await import('csv-stringify/sync');
    const text = (records: string[][]) => stringify(records, { quoted_match: /[\r\n]/, record_delimiter: '\n' });
    const names = columns.map(({ field }) => guardFormula(csvText(field, style)));
    const cells = (row: Row) => columns.map(column => csvCell(column, valueAt(row, column.field), style));
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

const TSV_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\\', '\\\\'],
]);

/**
 * Fields in one line: tab, newline, return and backslash inside a value are written `\t`, `\n`, `\r`, `\\`. Other control text becomes
 * visible too, in a pipe as well: `| head` ends on a terminal.
 */
function tsvLine(texts: readonly string[]): string {
  const escaped = (text: string) => text.replace(/[\t\n\r\\]/g, character => TSV_ESCAPES.get(character) ?? character);
  return `${texts.map(text => printable(escaped(text))).join('\t')}\n`;
}

const cellsOf = (row: Row, columns: readonly Column[]) =>
  columns.map(column => machineCell(column, valueAt(row, column.field)));

/** One line a row, no header, always as many fields as columns. */
function tsvLines(rows: readonly Row[], columns: readonly Column[]): string {
  return rows.map(row => tsvLine(cellsOf(row, columns))).join('');
}

/** One row as a line a field that has a value, `field<TAB>value`. */
function fieldLines(row: Row, columns: readonly Column[]): string {
  const cells = cellsOf(row, columns);
  return columns.map(({ field }, at) => (cells[at] ? tsvLine([field, cells[at]]) : '')).join('');
}

interface CsvStyle {
  /** `--csv-raw`: text cells as they are, but for a terminal. */
  readonly raw: boolean;
  readonly terminal: boolean;
}

/** Newlines and tabs are text to whoever reads CSV; on a terminal they could pass for another row. */
function csvText(text: string, { raw, terminal }: CsvStyle): string {
  if (terminal) return printable(text);
  return raw ? text : printableCell(text);
}

function csvCell(column: Column, value: unknown, style: CsvStyle): string {
  const machine = machineCell(column, value);
  const text = csvText(machine, style);
  return style.raw || typeof value === 'number' ? text : guardFormula(text);
}

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
