/** Own rows of unknown outcome, and which of them the sums show to be done. */
import { operatorCause, type Unexplained } from './unexplained.ts';

/** An own row of unknown outcome, and what it would have moved from the wallet to the card, integer cents. */
export interface UnknownRow {
  /** `<op>.<row>` */
  readonly row: string;
  readonly card: string;
  readonly amount: number;
}

/** All choices of so many rows are tried. */
const MOST_CHOICES = 10;

/**
 * Rows that together leave the least unexplained: all choices of a few rows, else one row after the other. `rest` is
 * left as it came.
 */
export function rowsDone(rest: Unexplained, unknown: readonly UnknownRow[]): readonly UnknownRow[] {
  const start = rest.count();
  if (unknown.length === 0 || start === 0) return [];
  if (unknown.length > MOST_CHOICES) return oneByOne(rest, unknown);
  let best: { count: number; size: number; rows: readonly UnknownRow[] } = { count: start, size: 0, rows: [] };
  for (let choice = 1; choice < 2 ** unknown.length; choice++) {
    const rows = unknown.filter((_, index) => Math.floor(choice / 2 ** index) % 2 === 1);
    takeAll(rest, rows);
    const [count, size] = [rest.count(), rest.size()];
    takeAll(rest, rows, -1);
    if (count < best.count || (count === best.count && count < start && size < best.size)) best = { count, size, rows };
  }
  return best.rows;
}

function oneByOne(rest: Unexplained, unknown: readonly UnknownRow[]): readonly UnknownRow[] {
  const done = unknown.filter(({ card, amount }) => rest.takeIfLess(operatorCause(card, amount)));
  takeAll(rest, done, -1);
  return done;
}

/** Takes what the rows did out of what is unexplained; with -1 puts it back. */
export function takeAll(rest: Unexplained, rows: readonly UnknownRow[], times: 1 | -1 = 1): void {
  for (const { card, amount } of rows) rest.take(operatorCause(card, amount), times);
}
