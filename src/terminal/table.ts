/**
 * Drawing a fitted table without borders: two blanks between columns, numbers to the right. Home of cli-table3,
 * which draws at most a page; it is quadratic in its rows, so longer tables are drawn here, with the same look.
 */
import { alignment } from './cells.ts';
import { type Paint, paintWord } from './colour.ts';
import type { FittedColumn, FittedSheet } from './layout.ts';
import type { Measure } from './width.ts';

/** The most rows the library draws. */
const PAGE = 100;

/**
 * Text the library measures as we do. Its older width table gives other results for emoji and combining marks;
 * a table with such text is drawn here, so that columns line up.
 */
const MEASURED_ALIKE =
  /^[\x20-\x7e\u00c0-\u024f\u2013\u2014\u2026\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*$/;

export interface Pen {
  readonly paint: Paint;
  readonly measure: Measure;
}

function painted({ column }: FittedColumn, text: string, paint: Paint): string {
  return column.kind === 'word' ? paintWord(text, paint) : text;
}

/** The lines of a table, header first. None is wider than the sheet's columns. */
export async function drawTable(sheet: FittedSheet, pen: Pen): Promise<readonly string[]> {
  const alike = sheet.rows.every(row => row.every(text => MEASURED_ALIKE.test(text)));
  return sheet.rows.length <= PAGE && alike ? drawWithLibrary(sheet, pen) : drawByHand(sheet, pen);
}

/** For tables of any length. Exported for the test that compares the two. */
export function drawByHand({ columns, rows, gap }: FittedSheet, { paint, measure }: Pen): readonly string[] {
  const line = (texts: readonly string[], dress: (column: FittedColumn, text: string) => string) =>
    columns
      .map((fitted, index) => {
        const text = texts[index] ?? '';
        const padding = ' '.repeat(Math.max(0, fitted.width - measure.width(text)));
        const shown = dress(fitted, text);
        return alignment(fitted.column) === 'right' ? padding + shown : shown + padding;
      })
      .join(' '.repeat(gap))
      .trimEnd();
  return [
    line(
      columns.map(({ column }) => column.title),
      (_, text) => paint.bold(text),
    ),
    ...rows.map(row => line(row, (column, text) => painted(column, text, paint))),
  ];
}

const BORDERS = [
  'top',
  'top-mid',
  'top-left',
  'top-right',
  'bottom',
  'bottom-mid',
  'bottom-left',
  'bottom-right',
  'left',
  'left-mid',
  'mid',
  'mid-mid',
  'right',
  'right-mid',
  'middle',
] as const;

async function drawWithLibrary({ columns, rows, gap }: FittedSheet, { paint }: Pen): Promise<readonly string[]> {
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    chars: Object.fromEntries(BORDERS.map(name => [name, ''])),
    style: { 'padding-left': 0, 'padding-right': gap, head: [], border: [], compact: true },
    head: columns.map(({ column }) => paint.bold(column.title)),
    colWidths: columns.map(({ width }) => width + gap),
    colAligns: columns.map(({ column }) => alignment(column)),
  });
  for (const row of rows) table.push(columns.map((column, index) => painted(column, row[index] ?? '', paint)));
  return table
    .toString()
    .split('\n')
    .map(line => line.trimEnd());
}
