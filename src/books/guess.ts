/** A cause that the sums point at, and every card that it may be about. */
export interface Guess {
  readonly kind: 'record' | 'operator';
  /** Of the cause as in `recordCause` and `operatorCause`; exact, whichever candidate it is. */
  readonly amount: number;
  readonly candidates: readonly string[];
  /** Where one card alone cannot have had it all: what is taken from each, by the cards in their order. */
  readonly shares?: ReadonlyMap<string, number>;
}
