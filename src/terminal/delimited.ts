/** Rows as TSV and CSV. Home of csv-stringify. */
import { guardFormula } from '../core/csv-injection.ts';
import { machineCell } from './cells.ts';
import { printable, printableCell } from './printable.ts';
import { valueAt } from './rows.ts';
import type { Column, Row } from './view.ts';

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
export function tsvLines(rows: readonly Row[], columns: readonly Column[]): string {
  return rows
    .map(row => columns.map(column => printable(tsvCell(machineCell(column, valueAt(row, column.field))))).join('\t'))
    .map(line => `${line}\n`)
    .join('');
}

/** One row as a line a field that has a value, `field<TAB>value`, with the same escapes. */
export function fieldLines(row: Row, columns: readonly Column[]): string {
  return namedLines(columns.map(column => [column.field, machineCell(column, valueAt(row, column.field))]));
}

/** Names with a value, a line each, with the same escapes. */
export function namedLines(pairs: readonly (readonly [name: string, value: string])[]): string {
  return pairs
    .filter(([, value]) => value !== '')
    .map(pair => `${pair.map(text => printable(tsvCell(text))).join('\t')}\n`)
    .join('');
}

export interface CsvStyle {
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
