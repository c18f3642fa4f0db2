/**
 * Money that other spenders moved on several cards while holds blur some of them. How much came to one card lies between
 * two bounds, and what came to all of them is what the wallet gave.
 */
import type { Guess } from './guess.ts';
import type { Unexplained } from './unexplained.ts';

interface Bounds {
  readonly card: string;
  /** What others may have moved to the card, integer cents: negative back to the wallet. Inclusive. */
  readonly least: number;
  readonly most: number;
}

/** As little as possible on each card. Empty where no such moves explain the sums. */
export function sharedMoves(rest: Unexplained): readonly Guess[] {
  if (rest.spent !== 0) return [];
  const cards = boundsOf(rest);
  const moved = new Map(cards.map(each => [each.card, nearest(0, each)]));
  const sum = [...moved.values()].reduce((total, amount) => total + amount, 0);
  // Nothing left the wallet: then what left one card came to another, to the cent.
  const wanted = rest.wallet === 0 ? { least: 0, most: 0 } : rest.fromWallet();
  const more = nearest(sum, wanted) - sum;
  const own = [...moved].flatMap(([card, amount]) => (amount === 0 ? [] : [moveTo(card, amount)]));
  if (more === 0) return own;
  const room = new Map(
    cards.map(({ card, least, most }) => [card, (more > 0 ? most : least) - (moved.get(card) ?? 0)]),
  );
  const whole = [...room.values()].reduce((total, amount) => total + amount, 0);
  if (rest.wallet === 0 || Math.abs(whole) < Math.abs(more)) return [];
  return [...own, spread(more, room)];
}

/** Cards that others may have moved money on. */
function boundsOf(rest: Unexplained): Bounds[] {
  return [...rest.changes.values()]
    .filter(({ card_id, isOver, high }) => !isOver && (high > 0 || rest.isTouched(card_id)))
    .map(({ card_id, low, high }) => ({
      card: card_id,
      least: rest.of(card_id) - high,
      most: rest.mayHide(card_id, 1) ? rest.of(card_id) - low : 0,
    }));
}

function nearest(amount: number, { least, most }: Pick<Bounds, 'least' | 'most'>): number {
  return Math.max(least, Math.min(most, amount));
}

const moveTo = (card: string, amount: number): Guess => ({ kind: 'operator', amount, candidates: [card] });

/** One amount and every card that may have some of it; the sums take it from one after the other. */
function spread(more: number, room: ReadonlyMap<string, number>): Guess {
  const candidates = [...room].filter(([, amount]) => amount !== 0).map(([card]) => card);
  const shares = new Map<string, number>();
  let left = more;
  for (const card of candidates) {
    const has = room.get(card) ?? 0;
    const share = more > 0 ? Math.min(left, has) : Math.max(left, has);
    if (share !== 0) shares.set(card, share);
    left -= share;
  }
  return { kind: 'operator', amount: more, candidates, shares };
}
