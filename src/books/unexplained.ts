/** What is left of the residuals while causes are taken out of them one after the other. */
import type { CardChange, Residuals } from './residuals.ts';

/** What a cause adds to the residuals, integer cents. On a terminated card `card` shows in the wallet instead. */
export interface Cause {
  readonly card_id: string;
  readonly card: number;
  readonly spent: number;
  readonly wallet: number;
}

export class Unexplained {
  spent: number;
  wallet: number;
  readonly #residuals: Residuals;
  readonly #cards = new Map<string, number>();
  /** Absolute cents that are left on the cards. */
  #onCards = 0;
  /** Cards whose rest lies outside of what holds explain. */
  readonly outside = new Set<string>();

  constructor(residuals: Residuals) {
    this.#residuals = residuals;
    this.spent = residuals.spent;
    this.wallet = residuals.wallet;
    for (const { card_id, residual } of residuals.cards.values()) if (residual !== 0) this.#set(card_id, residual);
  }

  get changes(): ReadonlyMap<string, CardChange> {
    return this.#residuals.cards;
  }

  of(card: string): number {
    return this.#cards.get(card) ?? 0;
  }

  /** Cards with a rest, in bounds or not. */
  withRest(): Iterable<readonly [string, number]> {
    return this.#cards;
  }

  isOver(card: string): boolean {
    return this.changes.get(card)?.isOver ?? false;
  }

  /** Whether holds alone could leave such a rest on a card that is not terminated. */
  fits(card: string, rest: number): boolean {
    const change = this.changes.get(card);
    return change === undefined ? rest === 0 : rest >= change.low && rest <= change.high;
  }

  fitsWallet(rest: number): boolean {
    return rest >= this.#residuals.walletLow && rest <= this.#residuals.walletHigh;
  }

  /** Its balance is not what records and own rows say, or was not before something explained it. */
  isTouched(card: string): boolean {
    return this.of(card) !== 0 || this.changes.get(card)?.residual !== 0;
  }

  /**
   * Whether others may have moved so much to the card unseen. Somebody may withdraw just what a hold released; that they
   * fund just what a hold of the first checkpoint was too high by is chance.
   */
  mayHide(card: string, amount: number): boolean {
    return amount < 0 || this.isTouched(card);
  }

  /** Bounds of what other spenders may have taken out of the wallet, integer cents, inclusive. */
  fromWallet(): { readonly least: number; readonly most: number } {
    const { walletLow, walletHigh } = this.#residuals;
    return { least: walletLow - this.wallet, most: walletHigh - this.wallet };
  }

  /** How many of the sums nothing explains so far. */
  count(): number {
    return this.outside.size + Number(this.spent !== 0) + Number(!this.fitsWallet(this.wallet));
  }

  take({ card_id, card, spent, wallet }: Cause, times: 1 | -1 = 1): void {
    this.spent -= spent * times;
    this.wallet -= wallet * times;
    if (this.isOver(card_id)) this.wallet -= card * times;
    else if (card !== 0) this.#set(card_id, this.of(card_id) - card * times);
  }

  /** Absolute cents that are left, within bounds or not. */
  size(): number {
    return Math.abs(this.spent) + Math.abs(this.wallet) + this.#onCards;
  }

  /** Takes the causes together when that leaves less unexplained; otherwise nothing changes. */
  takeIfLess(...causes: readonly Cause[]): boolean {
    const count = this.count();
    for (const cause of causes) this.take(cause);
    if (this.count() < count) return true;
    for (const cause of causes) this.take(cause, -1);
    return false;
  }

  #set(card: string, rest: number): void {
    this.#onCards += Math.abs(rest) - Math.abs(this.of(card));
    if (rest === 0) this.#cards.delete(card);
    else this.#cards.set(card, rest);
    if (this.fits(card, rest)) this.outside.delete(card);
    else this.outside.add(card);
  }
}

/** Records on a card show `amount` less spent than the account did: a settlement is missing, or a refund too many. */
export function recordCause(card_id: string, amount: number): Cause {
  return { card_id, card: -amount, spent: amount, wallet: 0 };
}

/** Somebody else moved `amount` from the wallet to the card, or back when it is negative. */
export function operatorCause(card_id: string, amount: number): Cause {
  return { card_id, card: amount, spent: 0, wallet: -amount };
}
