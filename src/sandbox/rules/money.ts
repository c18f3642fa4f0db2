/** How amounts split and where they go (docs/design/sandbox.md, section 8). */
import { type Cents, cents } from '../../core/money.ts';
import type { CardStatus } from '../store/cards.ts';

/** Where money of a card goes to and comes from: the card, or the wallet once the card is terminated. */
export function destinationOf(status: CardStatus): 'card' | 'wallet' {
  return status === 'terminated' ? 'wallet' : 'card';
}

export interface Split {
  /** Taken from the hold. */
  readonly fromHold: Cents;
  /** Above the hold, or after it: taken from the sink. */
  readonly excess: Cents;
  /** Left of the hold and given back, when the settlement is final. */
  readonly rest: Cents;
}

export function splitSettlement(amount: Cents, held: Cents, final: boolean): Split {
  const fromHold = cents(Math.min(held, amount));
  return { fromHold, excess: cents(amount - fromHold), rest: cents(final ? held - fromHold : 0) };
}

export interface Sums {
  readonly held: Cents;
  readonly settled: Cents;
}

/** State of an authorization after money moved: `ending` is what it becomes when nothing of it ever settled. */
export function statusAfter(
  sums: Sums,
  ending: 'reversed' | 'expired',
): 'pending' | 'settled' | 'reversed' | 'expired' {
  if (sums.held > 0) return 'pending';
  return sums.settled > 0 ? 'settled' : ending;
}

/** Strictly below the line, and only an active card: at the line nothing happens. */
export function mustFreeze(card: { status: CardStatus; balance: Cents; auto_freeze_at: Cents | null }): boolean {
  return card.status === 'active' && card.auto_freeze_at !== null && card.balance < card.auto_freeze_at;
}
