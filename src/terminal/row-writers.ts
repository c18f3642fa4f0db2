/** The formats that write rows as they come: ndjson, TSV, CSV and ids. */
import { CliError } from '../core/errors.ts';
import { machineCell, plainText } from './cells.ts';
import { csvLines, fieldLines, namedLines, tsvLines } from './delimited.ts';
import { jsonLines } from './documents.ts';
import { batchesOf, collectRows, type Job, noteCut } from './job.ts';
import { printable } from './printable.ts';
import { checkNames, columnsFor, columnsNamed, pick, valueAt } from './rows.ts';
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
  const columns = columnsFor(job.presentation.columns, [row]);
  const [only] = columns;
  // A list without entries is no line: who counts lines would count one.
  if (columns.length === 1 && only?.kind === 'list' && machineCell(only, valueAt(row, only.field)) === '') return;
  const below = namedLines(job.presentation.linesBelow ?? []);
  const own = columns.length === 1 ? tsvLines([row], columns) : fieldLines(row, columns);
  await job.streams.stdout.write(`${own}${below}`);
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
