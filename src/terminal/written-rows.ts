/** Long lists from the text of the service: lines that are written without making objects of them. */
import { guardFormula } from '../formula-guard.ts';
import type { Spans, WrittenRows } from '../row-text.ts';
import { csvLines } from './delimited.ts';
import { jsonLines } from './documents.ts';
import type { Job } from './job.ts';
import type { Column, Row } from './view.ts';

/** Whether a listing may be written from text: nothing chooses, orders or escapes. */
export function isPlain({ presentation, settings, streams }: Job): boolean {
  const { fields, columns, sort } = settings;
  const isAsked = fields !== undefined || columns !== undefined || sort !== undefined;
  return presentation.listing?.written !== undefined && !isAsked && !streams.stdout.isTerminal;
}

/** One JSON object a line, as UTF-8. */
export function writtenNdjson(rows: readonly Row[] | WrittenRows): Uint8Array {
  return isWritten(rows) ? rows.lines() : Buffer.from(jsonLines(rows, { terminal: false }));
}

/** Cells that need no quotes, no guard and no other form are taken as they stand; a row with another one is parsed. */
export async function writtenCsv(
  rows: readonly Row[] | WrittenRows,
  { columns, raw }: { readonly columns: readonly Column[]; readonly raw: boolean },
): Promise<string> {
  const style = { columns, raw, terminal: false };
  if (!isWritten(rows)) return csvLines(rows, style);
  const parsed = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => JSON.parse(rows.row(from + index)) as Row);
  const places = columns.map(({ field }) => rows.fields.indexOf(field));
  const spans = places.includes(-1) ? undefined : rows.spans();
  if (spans === undefined) return csvLines(parsed(0, rows.count), style);
  const plain = { columns, places, width: rows.fields.length };
  let text = '';
  for (let index = 0; index < rows.count; index += 1) {
    text += plainLine(spans, index, plain) ?? (await csvLines(parsed(index, index + 1), style));
  }
  return text;
}

interface Plain {
  readonly columns: readonly Column[];
  /** Of each column, among the fields of a row. */
  readonly places: readonly number[];
  readonly width: number;
}

function plainLine(
  { text, places: bounds }: Spans,
  row: number,
  { columns, places, width }: Plain,
): string | undefined {
  let line = '';
  for (let at = 0; at < places.length; at += 1) {
    const place = (row * width + (places[at] as number)) * 2;
    const cell = plainCell(text.slice(bounds[place], bounds[place + 1]), columns[at]?.kind);
    if (cell === undefined) return undefined;
    line += at === 0 ? cell : `,${cell}`;
  }
  return `${line}\n`;
}

const PLAIN_TIME = /^"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z"$/;

function plainCell(json: string, kind: Column['kind'] | undefined): string | undefined {
  if (json === 'null') return '';
  if (json.charCodeAt(0) !== 34) {
    if (kind !== 'money') return undefined;
    const point = json.indexOf('.');
    if (point < 0) return `${json}.00`;
    return point === json.length - 2 ? `${json}0` : json;
  }
  if (kind === 'time') return PLAIN_TIME.test(json) ? json.slice(1, -1) : undefined;
  if (kind !== 'text' && kind !== 'id' && kind !== 'word') return undefined;
  const cell = json.slice(1, -1);
  return cell.includes(',') || guardFormula(cell) !== cell ? undefined : cell;
}

function isWritten(rows: readonly Row[] | WrittenRows): rows is WrittenRows {
  return 'count' in rows;
}
