/** A cause that the sums point at, and every card that it may be about. */
export interface Guess {
  readonly kind: 'record' | 'operator';
  /** Cents, signed as in `recordCause` and `operatorCause`; the same for every candidate. */
  readonly amount: number;
  readonly candidates: readonly string[];
  /** Where one card alone cannot have had it all: what is taken from each, by the cards in their order. */
  readonly shares?: ReadonlyMap<string, number>;
}
