/** The fewest causes that explain sums that nothing else does, and every card that each may be about. */
import { type Cause, operatorCause, recordCause, selections, type Unexplained } from './position.ts';

/** A cause that the sums point at, and every card that it may be about. */
export interface Guess {
  readonly kind: 'record' | 'operator';
  /** Cents, signed as in `recordCause` and `operatorCause`; the same for every candidate. */
  readonly amount: number;
  readonly candidates: readonly string[];
  /** Where one card alone cannot have had it all: what is taken from each, by the cards in their order. */
  readonly shares?: ReadonlyMap<string, number>;
}

// The fewest causes that leave the least unexplained

/** Beyond this many cards every kind for every card takes too long, and the cards are given one kind together. */
const MOST_CARDS = 8;

interface Hints {
  /** Cards whose records point at a missing one. */
  readonly likely: ReadonlySet<string>;
  /** Cards that somebody else made: of equals the first that operators are taken to have funded. */
  readonly created: ReadonlyMap<string, number>;
}

/** Guesses, already taken out of `rest` from the first candidate of each. */
export function search(rest: Unexplained, { likely, created }: Hints): readonly Guess[] {
  if (rest.spent === 0 && rest.wallet === 0)
    return taken(rest, rest.outside.size > 1 ? sharedMoves(rest) : [], created);
  const single = bestSingle(rest, likely);
  if (single.left === 0) return taken(rest, single.guesses, created);
  const several = rest.outside.size > 0 ? aKindEach(rest) : undefined;
  const best = several !== undefined && several.left < single.left ? several : single;
  if (best.left === 0) return taken(rest, best.guesses, created);
  const hidden = rest.outside.size === 0 ? hiddenMoves(rest) : [];
  const shared = hidden.length > 0 ? hidden : sharedMoves(rest);
  return taken(rest, shared.length > 0 ? shared : best.guesses, created);
}

/**
 * Several cards of which others moved money, each behind holds that could explain it alone: what is left of them adds up to
 * the wallet to the cent. Empty where no choice of a few cards does.
 */
function hiddenMoves(rest: Unexplained): readonly Guess[] {
  const whole = -rest.wallet;
  const cards = [...rest.withRest()].filter(
    ([card, left]) => !rest.isOver(card) && Math.sign(left) === Math.sign(whole),
  );
  if (rest.spent !== 0 || cards.length > MOST_CARDS) return [];
  for (const chosen of selections(cards)) {
    if (chosen.length === 0 || chosen.reduce((sum, [, left]) => sum + left, 0) !== whole) continue;
    return chosen.map(([card, amount]) => moveTo(card, amount));
  }
  return [];
}

function taken(rest: Unexplained, guesses: readonly Guess[], created: Hints['created']): readonly Guess[] {
  const ordered = guesses.map(guess => ({
    ...guess,
    candidates: [...guess.candidates].sort((a, b) => Number(created.has(b)) - Number(created.has(a))),
  }));
  for (const guess of ordered) for (const cause of causesOf(guess)) rest.take(cause);
  return ordered;
}

function causesOf({ kind, amount, candidates: [card = ''], shares }: Guess): readonly Cause[] {
  if (shares !== undefined) return [...shares].map(([each, share]) => operatorCause(each, share));
  return [kind === 'record' ? recordCause(card, amount) : operatorCause(card, amount)];
}

interface Best {
  /** Sums that stay unexplained. */
  readonly left: number;
  readonly guesses: readonly Guess[];
}

function bestSingle(rest: Unexplained, likely: ReadonlySet<string>): Best {
  const { spent } = rest;
  const none = bestOperator(rest);
  let best: Best = none;
  let cards: string[] = [];
  const consider = (card: string) => {
    const { left, guesses } = rest.whileTaken([recordCause(card, spent)], () => bestOperator(rest));
    const isBetter =
      left < best.left || (left === best.left && cards.length > 0 && guesses.length < best.guesses.length);
    if (isBetter) [best, cards] = [{ left, guesses }, [card]];
    else if (cards.length > 0 && left === best.left && guesses.length === best.guesses.length) cards.push(card);
  };
  if (spent !== 0) {
    const over = [...rest.changes.values()].filter(change => change.isOver).map(change => change.card_id);
    // Of a card that is not over a record may be missing where that leaves its rest in bounds, or where it is out of bounds.
    for (const { card_id, isOver } of rest.changes.values()) {
      const mayLack = rest.outside.has(card_id) || rest.fits(card_id, rest.of(card_id) + spent);
      if (!isOver && mayLack) consider(card_id);
    }
    const [first] = over;
    if (first !== undefined) {
      const before = cards.length;
      consider(first);
      if (cards.at(-1) === first && cards.length !== before) cards.push(...over.slice(1));
      else if (cards[0] === first) cards = over;
    }
  }
  if (cards.length === 0) return best;
  const pointed = cards.filter(card => likely.has(card));
  const candidates = pointed.length > 0 ? pointed : cards;
  return { left: best.left, guesses: [{ kind: 'record', amount: spent, candidates }, ...best.guesses] };
}

/** The best operator cause, or none. */
function bestOperator(rest: Unexplained): Best {
  const without: Best = { left: rest.count(), guesses: [] };
  if (rest.wallet === 0 || without.left === 0) return without;
  let best = without;
  const consider = (card: string, amount: number) => {
    const left = rest.without([operatorCause(card, amount)]).count;
    const [guess] = best.guesses;
    if (left < best.left) best = { left, guesses: [moveTo(card, amount)] };
    else if (left === best.left && guess?.amount === amount && !guess.candidates.includes(card)) {
      best = { left, guesses: [{ ...guess, candidates: [...guess.candidates, card] }] };
    }
  };
  const whole = -rest.wallet;
  // Trying a cause takes cards out of this set and puts them back.
  const outside = [...rest.outside];
  for (const card of outside) consider(card, whole);
  // The wallet may also hold what terminated cards released: then the card alone says how much was moved.
  for (const card of outside) if (rest.of(card) !== whole) consider(card, rest.of(card));
  if (best.left < without.left - 1) return best;
  for (const { card_id, isOver, low, high } of rest.changes.values()) {
    const kept = rest.of(card_id) - whole;
    if (!isOver && kept >= low && kept <= high && !rest.outside.has(card_id) && rest.mayHide(card_id, whole))
      consider(card_id, whole);
  }
  return best;
}

type Kind = 'record' | 'operator' | 'left';

/** Gives each card out of bounds a kind, so that all of a kind add up to what was spent or to the wallet. */
function aKindEach(rest: Unexplained): Best | undefined {
  const cards = [...rest.outside];
  const kinds: readonly Kind[] = ['operator', 'record', 'left'];
  let best: Best | undefined;
  const consider = (of: readonly Kind[]) => {
    const guesses = guessesOf(rest, cards, of);
    if (guesses === undefined) return;
    const left = rest.without(guesses.flatMap(causesOf)).count;
    const isBetter =
      best === undefined || left < best.left || (left === best.left && guesses.length < best.guesses.length);
    if (isBetter) best = { left, guesses };
  };
  if (cards.length > MOST_CARDS) {
    for (const kind of kinds) consider(cards.map(() => kind));
    return best;
  }
  for (let code = 0; code < 3 ** cards.length; code++) {
    consider(cards.map((_, index) => kinds[Math.floor(code / 3 ** index) % 3] ?? 'left'));
  }
  return best;
}

/** One guess a card, and one more for what a sum still wants and holds of another card hide. */
function guessesOf(rest: Unexplained, cards: readonly string[], kinds: readonly Kind[]): readonly Guess[] | undefined {
  const of = (kind: Guess['kind']) => cards.filter((_, index) => kinds[index] === kind);
  const operators = shared(rest, 'operator', of('operator'));
  const records = shared(rest, 'record', of('record'));
  return operators === undefined || records === undefined ? undefined : [...records, ...operators];
}

/** Undefined when the cards cannot make up the sum of their kind. */
function shared(rest: Unexplained, kind: Guess['kind'], cards: readonly string[]): readonly Guess[] | undefined {
  if (cards.length === 0) return [];
  const sign = kind === 'operator' ? 1 : -1;
  const amounts = new Map(cards.map(card => [card, sign * rest.of(card)]));
  const whole = kind === 'operator' ? -rest.wallet : rest.spent;
  const more = whole - [...amounts.values()].reduce((sum, amount) => sum + amount, 0);
  const guesses = () =>
    [...amounts].filter(([, amount]) => amount !== 0).map(([card, amount]) => ({ kind, amount, candidates: [card] }));
  if (more === 0) return guesses();
  // Where holds blur the rest of one of the cards, it takes the difference; else a card that nothing else points at.
  const taker = cards.find(card => rest.fits(card, -sign * more));
  if (taker !== undefined) {
    amounts.set(taker, (amounts.get(taker) ?? 0) + more);
    return guesses();
  }
  const hiding = [...rest.changes.values()]
    .filter(({ card_id, isOver }) => !isOver && !rest.outside.has(card_id))
    .filter(({ card_id }) => kind === 'record' || rest.mayHide(card_id, more))
    .filter(({ card_id }) => rest.fits(card_id, rest.of(card_id) - sign * more))
    .map(({ card_id }) => card_id);
  if (hiding.length > 0) return [...guesses(), { kind, amount: more, candidates: hiding }];
  // Operators of a wallet that also holds releases need not add up to it; records always add up.
  return kind === 'operator' && rest.fitsWallet(-more) ? guesses() : undefined;
}

// Money that other spenders moved on several cards while holds blur some of them.

interface Bounds {
  readonly card: string;
  /** What others may have moved to the card, integer cents: negative back to the wallet. Inclusive. */
  readonly least: number;
  readonly most: number;
}

/** Moves that take as little as possible on each card. Empty where no such moves explain the sums. */
function sharedMoves(rest: Unexplained): readonly Guess[] {
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
