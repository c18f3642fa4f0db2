/** Own rows of unknown outcome that the sums show to be done, and rows that came to be known as done after a checkpoint. */
import { operatorCause, type Position, type Residuals, residualsBetween, rowName, Unexplained } from './position.ts';
import type { CountingRules, MoveRow } from './rows.ts';

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
function takeAll(rest: Unexplained, rows: readonly UnknownRow[], times: 1 | -1 = 1): void {
  for (const { card, amount } of rows) rest.take(operatorCause(card, amount), times);
}

// Own rows that came to be known as done since a checkpoint and were sent before it

/**
 * What a checkpoint says of an own row that is done now and that it does not count. `may_be_in`: sent before the checkpoint, and the
 * sums of the checkpoint could not show whether it was done. `not_in`: the checkpoint was explained without it.
 */
export type LateRow = 'may_be_in' | 'not_in';

/** All choices of so many rows are tried. */
const MOST_LATE_CHOICES = 8;

interface LateMove {
  readonly card: string;
  /** From the wallet to the card, integer cents. */
  readonly amount: number;
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
  const may = moves
    .filter(move => late.get(rowName(move)) === 'may_be_in')
    .flatMap(lateMove)
    .filter(({ card }) => base.cards.has(card));
  const unknown = may.length === 0 ? [] : moves.flatMap(move => unknownRow(move, counted));
  const chosen = may.length === 0 ? [] : alreadyIn({ rest: new Unexplained(residuals), unknown }, may);
  return chosen.length === 0 ? residuals : residualsBetween(withRows(base, chosen), now, rules);
}

function lateMove(move: MoveRow): LateMove[] {
  const { card_id: card, cents, operation } = move;
  if (card === null || cents === 0) return [];
  return [{ card, amount: operation === 'cards.withdraw' ? -cents : cents, move }];
}

function unknownRow(move: MoveRow, counted: LateEvidence['counted']): UnknownRow[] {
  const row = rowName(move);
  if (move.outcome !== 'unknown' || counted.has(row)) return [];
  return lateMove(move).map(({ card, amount }) => ({ row, card, amount }));
}

interface Judging {
  readonly rest: Unexplained;
  /** Rows that may have been done since the base. */
  readonly unknown: readonly UnknownRow[];
}

/** The rows whose effect the base has already. What is unexplained is left as it came. */
function alreadyIn(judging: Judging, rows: readonly LateMove[]): readonly LateMove[] {
  const [all, none] = [new Set(rows), new Set<LateMove>()];
  if (rows.length > MOST_LATE_CHOICES) {
    let best = better(judged(judging, all), judged(judging, none));
    for (const row of rows) best = better(best, judged(judging, flipped(best.rows, row)));
    return [...best.rows];
  }
  // Fewer and fewer of them, so that of equals the most are in the base.
  let best = judged(judging, all);
  for (let choice = 1; choice < 2 ** rows.length; choice += 1) {
    const kept = rows.filter((_, index) => Math.floor(choice / 2 ** index) % 2 === 0);
    best = better(best, judged(judging, new Set(kept)));
  }
  return [...best.rows];
}

interface Judged {
  readonly rows: ReadonlySet<LateMove>;
  /** Sums that stay unexplained, and how many cents. */
  readonly count: number;
  readonly size: number;
}

function judged({ rest, unknown }: Judging, rows: ReadonlySet<LateMove>): Judged {
  for (const row of rows) takeOut(rest, row);
  const done = rowsDone(rest, unknown);
  takeAll(rest, done);
  const found = { rows, count: rest.count(), size: rest.size() };
  takeAll(rest, done, -1);
  for (const row of rows) putBack(rest, row);
  return found;
}

/** Of equals the first one. */
function better(one: Judged, other: Judged): Judged {
  return other.count < one.count || (other.count === one.count && other.size < one.size) ? other : one;
}

function flipped(rows: ReadonlySet<LateMove>, row: LateMove): ReadonlySet<LateMove> {
  const changed = new Set(rows);
  if (!changed.delete(row)) changed.add(row);
  return changed;
}

/** Between base and now the row did nothing, so its sums show `-amount` on the card. */
function takeOut(rest: Unexplained, { card, amount }: LateMove): void {
  rest.take(operatorCause(card, -amount));
}

function putBack(rest: Unexplained, { card, amount }: LateMove): void {
  rest.take(operatorCause(card, -amount), -1);
}

function withRows(base: Position, rows: readonly LateMove[]): Position {
  const cards = new Map(base.cards);
  for (const { card, move } of rows) {
    const known = cards.get(card);
    if (known === undefined) continue;
    const { operation, cents } = move;
    cards.set(card, {
      ...known,
      created: known.created + (operation === 'cards.create' ? cents : 0),
      funded: known.funded + (operation === 'cards.fund' ? cents : 0),
      withdrawn: known.withdrawn + (operation === 'cards.withdraw' ? cents : 0),
    });
  }
  return { ...base, cards };
}
