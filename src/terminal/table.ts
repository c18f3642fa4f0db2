/**
 * Fitting a table to a screen: which columns stay, how wide each is, which labels are shortened. Both ways of
 * drawing take their widths from here, so they look the same.
 */

import { alignment } from './cells.ts';
import { foldCell, type Measure } from './fold.ts';
import { type Paint, paintWord } from './screen.ts';
import type { Column } from './view.ts';

/** Blank cells between two columns, and where that is enough to leave every label whole. */
const [WIDE_GAP, NARROW_GAP] = [2, 1];

/** A label is not shortened below this. */
const SHORTEST_LABEL = 10;

export interface Sheet {
  readonly columns: readonly Column[];
  /** Printable text, one cell a column. */
  readonly rows: readonly (readonly string[])[];
}

/** With the titles that did not fit (`dropped`), and whether a label is shortened (`cut`). */
export type FittedSheet = ReturnType<typeof drawnFrom>;

type Candidate = ReturnType<typeof candidates>[number];

function candidates({ columns, rows }: Sheet, measure: Measure) {
  return columns.map((column, index) => {
    const title = measure.width(column.title);
    let width = title;
    for (const row of rows) width = Math.max(width, measure.width(row[index] ?? ''));
    const shortest =
      column.shrink === 'wraps' ? Math.max(SHORTEST_LABEL, longestWord(rows, index, measure)) : SHORTEST_LABEL;
    const least = column.shrink !== undefined ? Math.max(title, Math.min(width, shortest)) : width;
    return { column, index, least, width };
  });
}

/** Words of a text that wraps stay whole up to here: a longer one is torn rather than a column dropped. */
const LONGEST_WORD = 16;

function longestWord(rows: Sheet['rows'], index: number, measure: Measure): number {
  const words = rows.flatMap(row => (row[index] ?? '').split(/\s+/)).map(word => measure.width(word));
  return Math.min(LONGEST_WORD, Math.max(0, ...words));
}

/** Widths of the columns and the gaps between them. */
function total(kept: readonly Candidate[], gap: number, of: (candidate: Candidate) => number): number {
  return kept.reduce((sum, candidate) => sum + of(candidate), 0) + gap * Math.max(0, kept.length - 1);
}

/** The column to give up first: the largest priority number, of equal ones the last. */
function leastImportant(kept: readonly Candidate[]): Candidate | undefined {
  const droppable = kept.filter(({ column }) => column.priority > 1);
  const largest = Math.max(...droppable.map(({ column }) => column.priority));
  return droppable.findLast(({ column }) => column.priority === largest);
}

/** Resolves to whether a label was shortened. */
function shrinkTo(kept: readonly Candidate[], screen: number, gap: number): boolean {
  const shrinkable = kept.filter(({ column }) => column.shrink !== undefined);
  const wanted = total(kept, gap, ({ width }) => width);
  for (const candidate of shrinkable) candidate.width = Math.max(candidate.least, Math.min(candidate.width, screen));
  while (total(kept, gap, ({ width }) => width) > screen) {
    const widest = shrinkable.reduce<Candidate | undefined>(
      (found, next) => (next.width > next.least && next.width > (found?.width ?? 0) ? next : found),
      undefined,
    );
    if (widest === undefined) break;
    widest.width -= 1;
  }
  return wanted > screen;
}

/**
 * The sheet within `screen` cells: columns dropped by priority until the rest fits with its labels shortened,
 * then the labels take what is left. Narrower gaps where they alone leave every label whole. Undefined when even the
 * columns of priority 1 are too wide.
 */
export function fitSheet(sheet: Sheet, screen: number, measure: Measure): FittedSheet | undefined {
  const all = candidates(sheet, measure);
  const roomy = fitWith(all, screen, WIDE_GAP);
  if (roomy !== undefined && !roomy.cut) return drawnFrom(sheet, roomy, measure);
  const dense = fitWith(all, screen, NARROW_GAP);
  const better = dense !== undefined && !dense.cut && dense.dropped.length <= (roomy?.dropped.length ?? 0);
  const fit = better ? dense : roomy;
  return fit && drawnFrom(sheet, fit, measure);
}

function fitWith(all: readonly Candidate[], screen: number, gap: number) {
  let columns = all.map(candidate => ({ ...candidate }));
  let dropped: readonly string[] = [];
  while (total(columns, gap, ({ least }) => least) > screen) {
    const victim = leastImportant(columns);
    if (victim === undefined) return undefined;
    columns = columns.filter(candidate => candidate !== victim);
    dropped = [...dropped, victim.column.title];
  }
  return { columns, gap, dropped, cut: shrinkTo(columns, screen, gap) };
}

function drawnFrom(sheet: Sheet, fit: NonNullable<ReturnType<typeof fitWith>>, measure: Measure) {
  const rows = sheet.rows.flatMap(row => linesOf(row, fit.columns, measure));
  const last = fit.columns.at(-1);
  // A word that is copied may reach beyond the screen, and the terminal wraps it.
  if (last?.column.shrink === 'wraps')
    last.width = rows.reduce((width, row) => Math.max(width, measure.width(row.at(-1) ?? '')), last.width);
  return { ...fit, rows };
}

/** A row as the lines it takes: cells that wrap go on below, beside blanks. */
function linesOf(row: readonly string[], kept: readonly Candidate[], measure: Measure): readonly (readonly string[])[] {
  const cells = kept.map(({ column, index, width }, at) => {
    const text = row[index] ?? '';
    if (column.shrink === 'wraps') return foldCell(text, width, measure, at === kept.length - 1);
    return [column.shrink === undefined ? text : measure.shorten(text, width)];
  });
  const height = Math.max(1, ...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) => cells.map(cell => cell[line] ?? ''));
}

// Drawing without borders: two blanks between columns, numbers to the right. Home of cli-table3, which draws at most a page: it is
// quadratic in its rows, so longer tables are drawn here, with the same look.

/** The most rows the library draws. */
const PAGE = 100;

/**
 * Text the library measures as we do. Its older width table gives other results for emoji and combining marks;
 * a table with such text is drawn here, so that columns line up.
 */
const MEASURED_ALIKE =
  /^[\x20-\x7e\u00c0-\u024f\u2013\u2014\u2026\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*$/;

const BORDERS =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid middle';

export interface Pen {
  readonly paint: Paint;
  readonly measure: Measure;
}

function painted({ column }: Candidate, text: string, paint: Paint): string {
  return column.kind === 'word' ? paintWord(text, paint) : text;
}

/** The lines of a table, header first. None is wider than the sheet's columns. */
export async function drawTable(sheet: FittedSheet, pen: Pen): Promise<readonly string[]> {
  const { columns, rows, gap } = sheet;
  const alike = rows.every(row => row.every(text => MEASURED_ALIKE.test(text)));
  if (rows.length > PAGE || !alike) return drawByHand(sheet, pen);
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    chars: Object.fromEntries(BORDERS.split(' ').map(name => [name, ''])),
    style: { 'padding-left': 0, 'padding-right': gap, head: [], border: [], compact: true },
    head: columns.map(({ column }) => pen.paint.bold(column.title)),
    colWidths: columns.map(({ width }) => width + gap),
    colAligns: columns.map(({ column }) => alignment(column)),
  });
  for (const row of rows) table.push(columns.map((column, index) => painted(column, row[index] ?? '', pen.paint)));
  return table
    .toString()
    .split('\n')
    .map(line => line.trimEnd());
}

/** For tables of any length. Exported for the test that compares the two. */
export function drawByHand({ columns, rows, gap }: FittedSheet, { paint, measure }: Pen): readonly string[] {
  const line = (texts: readonly string[], dress: (column: Candidate, text: string) => string) =>
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
