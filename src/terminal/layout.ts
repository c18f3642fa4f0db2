/**
 * Fitting a table to a screen: which columns stay, how wide each is, which labels are shortened. Both ways of
 * drawing take their widths from here, so they look the same.
 */
import type { Column } from './view.ts';
import type { Measure } from './width.ts';

/** Blank cells between two columns. */
export const GAP = 2;

/** A label is not shortened below this. */
const SHORTEST_LABEL = 10;

export interface Sheet {
  readonly columns: readonly Column[];
  /** Printable text, one cell a column. */
  readonly rows: readonly (readonly string[])[];
}

export interface FittedColumn {
  readonly column: Column;
  readonly width: number;
}

export interface FittedSheet {
  readonly columns: readonly FittedColumn[];
  readonly rows: readonly (readonly string[])[];
  /** Titles that did not fit. */
  readonly dropped: readonly string[];
}

interface Candidate {
  readonly column: Column;
  readonly index: number;
  readonly least: number;
  width: number;
}

function candidates({ columns, rows }: Sheet, measure: Measure): Candidate[] {
  return columns.map((column, index) => {
    const title = measure.width(column.title);
    let width = title;
    for (const row of rows) width = Math.max(width, measure.width(row[index] ?? ''));
    const least = column.shrink === true ? Math.max(title, Math.min(width, SHORTEST_LABEL)) : width;
    return { column, index, least, width };
  });
}

function total(kept: readonly Candidate[], of: (candidate: Candidate) => number): number {
  return kept.reduce((sum, candidate) => sum + of(candidate), 0) + GAP * Math.max(0, kept.length - 1);
}

/** The column to give up first: the largest priority number, of equal ones the last. */
function leastImportant(kept: readonly Candidate[]): Candidate | undefined {
  const droppable = kept.filter(({ column }) => column.priority > 1);
  const largest = Math.max(...droppable.map(({ column }) => column.priority));
  return droppable.findLast(({ column }) => column.priority === largest);
}

function shrinkTo(kept: readonly Candidate[], screen: number): void {
  const shrinkable = kept.filter(({ column }) => column.shrink === true);
  for (const candidate of shrinkable) candidate.width = Math.max(candidate.least, Math.min(candidate.width, screen));
  while (total(kept, ({ width }) => width) > screen) {
    const widest = shrinkable.reduce<Candidate | undefined>(
      (found, next) => (next.width > next.least && next.width > (found?.width ?? 0) ? next : found),
      undefined,
    );
    if (widest === undefined) return;
    widest.width -= 1;
  }
}

/**
 * The sheet within `screen` cells: columns dropped by priority until the rest fits with its labels shortened,
 * then the labels take what is left. Undefined when even the columns of priority 1 are too wide.
 */
export function fitSheet(sheet: Sheet, screen: number, measure: Measure): FittedSheet | undefined {
  let kept = candidates(sheet, measure);
  const dropped: string[] = [];
  while (total(kept, ({ least }) => least) > screen) {
    const victim = leastImportant(kept);
    if (victim === undefined) return undefined;
    kept = kept.filter(candidate => candidate !== victim);
    dropped.push(victim.column.title);
  }
  shrinkTo(kept, screen);
  return {
    columns: kept.map(({ column, width }) => ({ column, width })),
    rows: sheet.rows.map(row =>
      kept.map(({ column, index, width }) => {
        const text = row[index] ?? '';
        return column.shrink === true ? measure.shorten(text, width) : text;
      }),
    ),
    dropped,
  };
}
