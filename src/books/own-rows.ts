/** Own rows of unknown outcome that the sums show to be done, and rows that came to be known as done after a checkpoint. */
import {
  type Cause,
  operatorCause,
  type Position,
  type Residuals,
  residualsBetween,
  rowName,
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
const MOST_TRIED = 8;

/**
 * The choice of rows that leaves the fewest sums unexplained, of equals the least cents, then the first one: all choices of
 * a few rows, else one row after the other.
 */
function leastLeft<Row>(rows: readonly Row[], leftBy: (chosen: readonly Row[]) => ReturnType<Unexplained['without']>) {
  let best: { readonly chosen: readonly Row[]; count: number; size: number } = { chosen: [], ...leftBy([]) };
  const consider = (chosen: readonly Row[]) => {
    const { count, size } = leftBy(chosen);
    if (count < best.count || (count === best.count && size < best.size)) best = { chosen, count, size };
  };
  if (rows.length <= MOST_TRIED) for (const chosen of selections(rows)) consider(chosen);
  else for (const row of rows) consider([...best.chosen, row]);
  return best;
}

/** Every selection of the items, the empty one first. There are 2^n, so give it a few. */
function* selections<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let choice = 0; choice < 2 ** items.length; choice += 1) {
    yield items.filter((_, index) => ((choice >> index) & 1) === 1);
  }
}

/** Rows that together leave less unexplained. `rest` is left as it came. */
export function rowsDone(rest: Unexplained, unknown: readonly UnknownRow[]): readonly UnknownRow[] {
  const start = rest.count();
  if (unknown.length === 0 || start === 0) return [];
  const { chosen, count } = leastLeft(unknown, rows => rest.without(causesOf(rows)));
  return count < start ? chosen : [];
}

/**
 * An own row that a checkpoint did not know (`new`), or not as done. `may_be_in`: it is done and was sent before the
 * checkpoint, whose sums could not show whether it was done then. `not_in`: the checkpoint was explained without it.
 */
export type OwnNews = 'new' | 'may_be_in' | 'not_in';

interface LateMove extends UnknownRow {
  readonly move: MoveRow;
}

interface LateEvidence {
  readonly rules: CountingRules;
  readonly moves: readonly MoveRow[];
  /** By `<op>.<row>`. */
  readonly news: ReadonlyMap<string, OwnNews>;
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
  { rules, moves, news, counted }: LateEvidence,
): Residuals {
  const residuals = residualsBetween(base, now, rules);
  const all = moves.flatMap(moved);
  const may = all.filter(({ row, card }) => news.get(row) === 'may_be_in' && !counted.has(row) && base.cards.has(card));
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

/** The rows whose effect the base has already; `unknown` may have been done since. Of equals the most are in the base. */
function alreadyIn(rest: Unexplained, rows: readonly LateMove[], unknown: readonly UnknownRow[]): readonly LateMove[] {
  const without = (left: readonly LateMove[]) => rows.filter(row => !left.includes(row));
  const { chosen } = leastLeft(rows, left =>
    rest.whileTaken(
      // Between base and now such a row did nothing, so its sums show `-amount` on the card.
      without(left).map(({ card, amount }) => operatorCause(card, -amount)),
      () => rest.without(causesOf(rowsDone(rest, unknown))),
    ),
  );
  return without(chosen);
}

function withRows(base: Position, rows: readonly LateMove[]): Position {
  const cards = new Map(base.cards);
  for (const { card, move } of rows) {
    const known = cards.get(card);
    if (known !== undefined) cards.set(card, withRow(known, move));
  }
  return { ...base, cards };
}
