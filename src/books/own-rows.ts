/** Own rows of unknown outcome that the sums show to be done, and rows that came to be known as done after a checkpoint. */
import {
  type Cause,
  operatorCause,
  type Position,
  type Residuals,
  residualsBetween,
  rowName,
  selections,
  Unexplained,
  withRow,
} from './position.ts';
import type { CountingRules, MoveRow } from './rows.ts';

/** An own row of unknown outcome, and what it would have moved from the wallet to the card, integer cents. */
export interface UnknownRow {
  /** `<op>.<row>` */
  readonly row: string;
  readonly card: string;
  readonly amount: number;
}

const causesOf = (rows: readonly UnknownRow[]): readonly Cause[] =>
  rows.map(({ card, amount }) => operatorCause(card, amount));

/** All choices of so many rows are tried. */
const MOST_UNKNOWN = 10;
const MOST_LATE = 8;

/**
 * Rows that together leave the least unexplained: all choices of a few rows, else one row after the other. `rest` is
 * left as it came.
 */
export function rowsDone(rest: Unexplained, unknown: readonly UnknownRow[]): readonly UnknownRow[] {
  const start = rest.count();
  if (unknown.length === 0 || start === 0) return [];
  if (unknown.length > MOST_UNKNOWN) {
    const done = unknown.filter(({ card, amount }) => rest.takeIfLess(operatorCause(card, amount)));
    for (const cause of causesOf(done)) rest.take(cause, -1);
    return done;
  }
  let best: { count: number; size: number; rows: readonly UnknownRow[] } = { count: start, size: 0, rows: [] };
  for (const rows of selections(unknown)) {
    const { count, size } = rest.without(causesOf(rows));
    if (count < best.count || (count === best.count && count < start && size < best.size)) best = { count, size, rows };
  }
  return best.rows;
}

/**
 * What a checkpoint says of an own row that is done now and that it does not count. `may_be_in`: sent before the checkpoint, and the
 * sums of the checkpoint could not show whether it was done. `not_in`: the checkpoint was explained without it.
 */
export type LateRow = 'may_be_in' | 'not_in';

interface LateMove extends UnknownRow {
  readonly move: MoveRow;
}

interface LateEvidence {
  readonly rules: CountingRules;
  readonly moves: readonly MoveRow[];
  /** By `<op>.<row>`. */
  readonly late: ReadonlyMap<string, LateRow>;
  /** Own rows of unknown outcome, `<op>.<row>`, that an earlier checkpoint counts as done. */
  readonly counted: ReadonlyMap<string, string>;
}

/**
 * The residuals with late rows counted in the base where that leaves the fewest sums unexplained, with the help of rows
 * whose outcome is unknown still; of equals the least cents. A row that was sent before a checkpoint is taken to have been done
 * before it, unless the balances moved by it since.
 */
export function residualsSince(
  base: Position,
  now: Position,
  { rules, moves, late, counted }: LateEvidence,
): Residuals {
  const residuals = residualsBetween(base, now, rules);
  const all = moves.flatMap(moved);
  const may = all.filter(({ row, card }) => late.get(row) === 'may_be_in' && base.cards.has(card));
  if (may.length === 0) return residuals;
  const unknown = all.filter(({ row, move }) => move.outcome === 'unknown' && !counted.has(row));
  const chosen = alreadyIn(new Unexplained(residuals), may, unknown);
  return chosen.length === 0 ? residuals : residualsBetween(withRows(base, chosen), now, rules);
}

function moved(move: MoveRow): LateMove[] {
  const { card_id: card, cents, operation } = move;
  if (card === null || cents === 0) return [];
  return [{ row: rowName(move), card, amount: operation === 'cards.withdraw' ? -cents : cents, move }];
}

/** The rows whose effect the base has already; `unknown` may have been done since. What is unexplained is left as it came. */
function alreadyIn(rest: Unexplained, rows: readonly LateMove[], unknown: readonly UnknownRow[]): readonly LateMove[] {
  // Between base and now such a row did nothing, so its sums show `-amount` on the card.
  const judged = (kept: readonly LateMove[]) =>
    rest.whileTaken(
      kept.map(({ card, amount }) => operatorCause(card, -amount)),
      () => ({ kept, ...rest.without(causesOf(rowsDone(rest, unknown))) }),
    );
  type Judged = ReturnType<typeof judged>;
  /** Of equals the first one. */
  const better = (one: Judged, other: Judged) =>
    other.count < one.count || (other.count === one.count && other.size < one.size) ? other : one;
  let best = judged(rows);
  // Fewer and fewer of them, so that of equals the most are in the base.
  if (rows.length <= MOST_LATE) {
    for (const left of selections(rows)) best = better(best, judged(rows.filter(row => !left.includes(row))));
    return best.kept;
  }
  best = better(best, judged([]));
  for (const row of rows) {
    const { kept } = best;
    best = better(best, judged(kept.includes(row) ? kept.filter(each => each !== row) : [...kept, row]));
  }
  return best.kept;
}

function withRows(base: Position, rows: readonly LateMove[]): Position {
  const cards = new Map(base.cards);
  for (const { card, move } of rows) {
    const known = cards.get(card);
    if (known !== undefined) cards.set(card, withRow(known, move));
  }
  return { ...base, cards };
}
