/** Rows as TSV and CSV. Home of csv-stringify. */
import { guardFormula } from '../formula-guard.ts';
import { machineCell } from './cells.ts';
import { type Paint, paintWord } from './colour.ts';
import { printable } from './printable.ts';
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

export interface TsvLook {
  readonly paint: Paint;
  /** Control text becomes visible, for it is read where it could act. */
  readonly terminal: boolean;
}

/**
 * One line a row, no header, always as many fields as columns: tab, newline, return and backslash inside a value
 * are written `\t`, `\n`, `\r`, `\\`.
 */
export function tsvLines(rows: readonly Row[], columns: readonly Column[], { paint, terminal }: TsvLook): string {
  const finish = terminal ? printable : (text: string) => text;
  const cell = (column: Column, row: Row) => {
    const text = finish(tsvCell(machineCell(column, valueAt(row, column.field))));
    return column.kind === 'word' ? paintWord(text, paint) : text;
  };
  return rows
    .map(row => columns.map(column => cell(column, row)).join('\t'))
    .map(line => `${line}\n`)
    .join('');
}

export interface CsvStyle {
  readonly columns: readonly Column[];
  /** `--csv-raw`: text cells as they are. */
  readonly raw: boolean;
  readonly terminal: boolean;
}

function csvCell(column: Column, value: unknown, style: CsvStyle): string {
  const machine = machineCell(column, value);
  const text = style.terminal ? printable(machine) : machine;
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
      ? [style.columns.map(column => guardFormula(style.terminal ? printable(column.field) : column.field))]
      : rows.map(row => style.columns.map(column => csvCell(column, valueAt(row, column.field), style)));
  return stringify(records, { quoted_match: /[\r\n]/, record_delimiter: '\n' });
}
