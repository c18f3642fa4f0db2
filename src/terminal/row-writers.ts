/** The formats that write rows as they come: ndjson, TSV, CSV and ids. */
import { CliError } from '../core/errors.ts';
import { guardFormula } from '../core/text.ts';
import { machineCell, plainText } from './cells.ts';
import { jsonLines } from './documents.ts';
import { printable, printableCell } from './printable.ts';
import {
  batchesOf,
  checkNames,
  collectRows,
  columnsFor,
  columnsNamed,
  type Job,
  noteCut,
  pick,
  valueAt,
} from './rows.ts';
import type { Column, Row } from './view.ts';

interface RowWriter {
  /** Text before the first row; the first rows settle the columns. */
  header?(rows: readonly Row[]): Promise<string>;
  rows(rows: readonly Row[]): Promise<string>;
}

/** Writes batch after batch, and says on standard error where that was not all there is. */
async function streamRows(job: Job, writer: RowWriter): Promise<void> {
  await writeRows(job, writer);
  await noteCut(job);
}

/** A closed stdout ends the reading of further pages too. */
async function writeRows(job: Job, writer: RowWriter): Promise<void> {
  const { presentation, settings, streams } = job;
  const runsOn = presentation.listing?.runsOn === true;
  let begun = false;
  const begin = async (rows: readonly Row[]) => {
    checkNames(settings, rows, presentation.columns);
    begun = true;
    return (await writer.header?.(rows)) ?? '';
  };
  for await (const rows of batchesOf(job)) {
    if (streams.stdout.closed && !runsOn) return;
    if (rows.length === 0 && runsOn && !begun && !streams.stdout.closed) {
      // A stdout that takes nothing is found out before the work begins.
      const header = await begin([]);
      if (header !== '') await streams.stdout.write(header);
    }
    if (rows.length === 0 || streams.stdout.closed) continue;
    // Header and rows are one write: a refusal for these rows leaves stdout empty.
    const header = begun ? '' : await begin(rows);
    await streams.stdout.write(header + (await writer.rows(rows)));
    if (streams.stdout.closed && !runsOn) return;
  }
  if (begun) return;
  const header = await begin([]);
  if (header !== '') await streams.stdout.write(header);
}

function delimitedColumns({ presentation, settings }: Job, rows: readonly Row[]): readonly Column[] {
  const names = settings.columns ?? settings.fields;
  if (names !== undefined) return columnsNamed(names, presentation.columns);
  return columnsFor(presentation.columns, rows).filter(({ screenOnly }) => screenOnly !== true);
}

/** TSV without a header or colour: fixed columns in a fixed order, the same whatever the screen and the environment. */
export function writeTsv(job: Job): Promise<void> {
  let columns: readonly Column[] = [];
  return streamRows(job, {
    header: async rows => {
      columns = delimitedColumns(job, rows);
      return '';
    },
    rows: async rows => tsvLines(rows, columns),
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
  let columns: readonly Column[] = [];
  const style = () => ({ columns, raw: job.settings.csvRaw, terminal: job.streams.stdout.isTerminal });
  return streamRows(job, {
    header: async rows => {
      columns = delimitedColumns(job, rows);
      return columns.length === 0 ? '' : csvLines(undefined, style());
    },
    rows: async rows => csvLines(rows, style()),
  });
}

/** One JSON object a line. */
export function writeNdjson(job: Job): Promise<void> {
  const { fields } = job.settings;
  return streamRows(job, {
    rows: async rows => jsonLines(fields === undefined ? rows : rows.map(row => pick(row, fields))),
  });
}

/** One id a line. Throws `usage` for a result that has none. */
export function writeIds(job: Job): Promise<void> {
  const { columns, idField = 'id', noun, listing } = job.presentation;
  const column = columns.find(({ field }) => field === idField);
  const line = (row: Row): string => {
    const value = valueAt(row, idField);
    const id = column === undefined ? plainText(value) : machineCell(column, value);
    if (id === '' && listing?.runsOn) return '';
    if (id === '') throw new CliError('usage', { message: `-o id: this ${noun} has no ${idField}` });
    // A line break inside an id would make two ids of it for xargs.
    return `${printable(id)}\n`;
  };
  return streamRows(job, { rows: async rows => rows.map(line).join('') });
}

// Rows as TSV and CSV. Home of csv-stringify.

const TSV_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\\', '\\\\'],
]);

function tsvCell(text: string): string {
  return text.replace(/[\t\n\r\\]/g, character => TSV_ESCAPES.get(character) ?? character);
}

/**
 * One line a row, no header, always as many fields as columns: tab, newline, return and backslash inside a value
 * are written `\t`, `\n`, `\r`, `\\`. Other control text becomes visible too, in a pipe as well: `| head` ends on a
 * terminal.
 */
function tsvLines(rows: readonly Row[], columns: readonly Column[]): string {
  return rows
    .map(row => columns.map(column => printable(tsvCell(machineCell(column, valueAt(row, column.field))))).join('\t'))
    .map(line => `${line}\n`)
    .join('');
}

/** One row as a line a field that has a value, `field<TAB>value`, with the same escapes. */
function fieldLines(row: Row, columns: readonly Column[]): string {
  return columns
    .map(column => [column.field, machineCell(column, valueAt(row, column.field))])
    .filter(([, value]) => value !== '')
    .map(pair => `${pair.map(text => printable(tsvCell(text))).join('\t')}\n`)
    .join('');
}

interface CsvStyle {
  readonly columns: readonly Column[];
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

let parts: Promise<typeof import('csv-stringify/sync')> | undefined;

/** CSV lines of the rows, or the header line with `undefined`. */
export async function csvLines(rows: readonly Row[] | undefined, style: CsvStyle): Promise<string> {
  // Once: an import that is bundled copies the names of the package each time.
  parts ??= import('csv-stringify/sync');
  const { stringify } = await parts;
  const records =
    rows === undefined
      ? [style.columns.map(column => guardFormula(csvText(column.field, style)))]
      : rows.map(row => style.columns.map(column => csvCell(column, valueAt(row, column.field), style)));
  return stringify(records, { quoted_match: /[\r\n]/, record_delimiter: '\n' });
}
