/** What explains sums that nothing else does: a missing record, then what other spenders moved, with every card it may be about. */
import { type Cause, operatorCause, recordCause, type Unexplained } from './position.ts';

/** A cause that the sums point at, and every card that it may be about. */
export interface Guess {
  readonly kind: 'record' | 'operator';
  /** Cents, signed as in `recordCause` and `operatorCause`. */
  readonly amount: number;
  readonly candidates: readonly string[];
  /** What is taken out of the sums, a card. */
  readonly shares: ReadonlyMap<string, number>;
}

interface Hints {
  /** Cards whose records point at a missing one. */
  readonly likely: ReadonlySet<string | null>;
  /** Cards that somebody else made: of equals the first that others are taken to have funded. */
  readonly created: ReadonlyMap<string, number>;
}

/** Guesses, already taken out of `rest`. */
export function search(rest: Unexplained, { likely, created }: Hints): readonly Guess[] {
  const taken = (guesses: readonly Guess[]) => {
    for (const cause of guesses.flatMap(causesOf)) rest.take(cause);
    return guesses;
  };
  return [...taken(missingRecord(rest, likely)), ...taken(movesOf(rest, created))];
}

function causesOf({ kind, shares }: Pick<Guess, 'kind' | 'shares'>): readonly Cause[] {
  return [...shares].map(([card, share]) =>
    kind === 'record' ? recordCause(card, share) : operatorCause(card, share),
  );
}

const guessOf = (kind: Guess['kind'], card: string, amount: number): Guess => ({
  kind,
  amount,
  candidates: [card],
  shares: new Map([[card, amount]]),
});

/** Of one card, every card that explains it equally well; or of all cards out of bounds together. Empty where none explains more. */
function missingRecord(rest: Unexplained, likely: ReadonlySet<string | null>): readonly Guess[] {
  const { spent } = rest;
  if (spent === 0) return [];
  /** What records leave unexplained once the moves of others are named too, then how many moves those are. */
  const judged = (records: readonly Guess[]) =>
    rest.whileTaken(records.flatMap(causesOf), () => {
      const moves = movesOf(rest);
      return { left: rest.without(moves.flatMap(causesOf)).count, moves: moves.length };
    });
  let best = { ...judged([]), moves: -1 };
  let cards: string[] = [];
  const consider = (card: string, equals: readonly string[] = []) => {
    const found = judged([guessOf('record', card, spent)]);
    const isEqual = cards.length > 0 && found.left === best.left && found.moves === best.moves;
    const isBetter =
      found.left < best.left || (cards.length > 0 && found.left === best.left && found.moves < best.moves);
    if (isBetter) [best, cards] = [found, [card, ...equals]];
    else if (isEqual) cards.push(card, ...equals);
  };
  const over: string[] = [];
  for (const { card_id, isOver } of rest.changes.values()) {
    if (isOver) over.push(card_id);
    // Of a card that is not over a record may be missing where that leaves its rest in bounds, or where it is out of bounds.
    else if (rest.outside.has(card_id) || rest.fits(card_id, rest.of(card_id) + spent)) consider(card_id);
  }
  const [first, ...others] = over;
  if (first !== undefined) consider(first, others);
  const apart = [...rest.outside].map(card => guessOf('record', card, -rest.of(card)));
  const isWhole = apart.reduce((sum, { amount }) => sum + amount, 0) === spent;
  if (apart.length > 1 && isWhole && judged(apart).left < best.left) return apart;
  const pointed = cards.filter(card => likely.has(card));
  const candidates = pointed.length > 0 ? pointed : cards;
  const [card] = candidates;
  return card === undefined ? [] : [{ ...guessOf('record', card, spent), candidates }];
}

interface Bounds {
  /** What others may have moved to the card, integer cents: negative back to the wallet. Inclusive. */
  readonly least: number;
  readonly most: number;
}

const nearest = (amount: number, { least, most }: Bounds) => Math.max(least, Math.min(most, amount));

/**
 * Moves of others: on each card no more than its rest asks for, and together what left the wallet; what is more may be on any
 * card with room for it. Empty where no such moves explain the sums.
 */
function movesOf(rest: Unexplained, created: ReadonlyMap<string, number> = new Map()): readonly Guess[] {
  if (rest.wallet === 0 && rest.outside.size < 2) return [];
  const bounds = [...rest.changes.values()]
    .filter(({ card_id, isOver, high }) => !isOver && (high > 0 || rest.isTouched(card_id)))
    .map(({ card_id: card, low, high }) => {
      // Somebody may withdraw just what a hold released; that they fund just what a hold of the first checkpoint was too high by
      // is chance.
      const [least, most] = [rest.of(card) - high, rest.isTouched(card) ? rest.of(card) - low : 0];
      return { card, least, most, moved: nearest(0, { least, most }) };
    })
    .sort((a, b) => Number(created.has(b.card)) - Number(created.has(a.card)));
  // Nothing left the wallet: then what left one card came to another, to the cent.
  const wanted = rest.wallet === 0 ? { least: 0, most: 0 } : rest.fromWallet();
  const sum = bounds.reduce((total, { moved }) => total + moved, 0);
  const more = nearest(sum, wanted) - sum;
  const own = bounds.filter(({ moved }) => moved !== 0);
  const named = (of: readonly { readonly card: string; readonly moved: number }[]) =>
    of.map(({ card, moved }) => guessOf('operator', card, moved));
  if (more === 0) return named(own);
  const roomOf = ({ least, most, moved }: (typeof bounds)[number]) => (more > 0 ? most : least) - moved;
  const taker = own.find(each => Math.abs(roomOf(each)) >= Math.abs(more));
  if (taker !== undefined)
    return named(own.map(each => (each === taker ? { ...each, moved: each.moved + more } : each)));
  const shares = new Map<string, number>();
  const roomy = rest.wallet === 0 ? [] : bounds.filter(each => roomOf(each) !== 0);
  let left = more;
  for (const each of roomy) {
    const share = more > 0 ? Math.min(left, roomOf(each)) : Math.max(left, roomOf(each));
    if (each.moved + share !== 0) shares.set(each.card, each.moved + share);
    left -= share;
  }
  if (left === 0) {
    // Of a card that may have had some of it, nothing is certain but the sum.
    const amount = [...shares.values()].reduce((total, share) => total + share, 0);
    const apart = own.filter(each => !roomy.includes(each));
    return [...named(apart), { kind: 'operator', amount, candidates: roomy.map(({ card }) => card), shares }];
  }
  // One of them was moved by nobody: it stays unexplained.
  const odd = own.find(({ moved }) => nearest(sum - moved, wanted) === sum - moved);
  return odd === undefined ? [] : named(own.filter(each => each !== odd));
}
