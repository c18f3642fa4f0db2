/**
 * What the model knows of one account. The model is written from docs/design/sandbox.md and
 * docs/design/contract-and-assumptions.md alone and imports nothing of the sandbox: two readings of one text, held
 * against each other. All amounts are cents.
 */
export interface Card {
  readonly id: string;
  status: 'active' | 'frozen' | 'terminated';
  balance: number;
  readonly limit: number;
  readonly line: number | null;
  readonly categories: readonly string[];
  readonly maxTransaction: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface Authorization {
  readonly id: string;
  readonly card: Card;
  readonly mcc: string;
  readonly createdAt: number;
  status: 'pending' | 'settled' | 'reversed' | 'expired';
  amount: number;
  held: number;
  settled: number;
  refunded: number;
}

export interface Challenge {
  readonly id: string;
  readonly card: Card;
  readonly purchase: Purchase | undefined;
  readonly expiresAt: number;
  status: 'pending' | 'approved' | 'failed' | 'expired' | 'cancelled';
  wrong: number;
}

export interface Deposit {
  readonly id: string;
  readonly currency: 'btc' | 'eth' | 'sol' | 'usdt';
  readonly amount: number;
  status: 'pending' | 'confirmed' | 'failed';
  confirmations: number;
}

export interface Purchase {
  readonly amount: number;
  readonly mcc: string;
  readonly forced?: string | undefined;
  readonly mismatch?: 'cvv' | 'expiry' | undefined;
}

export interface Timer {
  readonly due: number;
  readonly kind: string;
  readonly ref: string;
}

export interface Bin {
  readonly id: string;
  readonly maxTransaction: number;
}

export const MINUTE = 60_000;
export const DAY = 86_400_000;

export const CHAINS = {
  btc: { needed: 2, block: 600_000 },
  eth: { needed: 12, block: 12_000 },
  sol: { needed: 1, block: 13_000 },
  usdt: { needed: 20, block: 3_000 },
} as const;

/** What an answer must be. Without `error` the answer has at least these members. */
export interface Expected {
  readonly status: number;
  readonly error?: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

export const usd = (amount: number) => amount / 100;
export const no = (status: number, error: string): Expected => ({ status, error });
export const NOT_FOUND = no(404, 'not_found');
export const IMPOSSIBLE = no(409, 'invalid_request');

export type Said = Readonly<Record<string, unknown>>;

export class State {
  now: number;
  wallet = 0;
  deposited = 0;
  spent = 0;
  cards: Card[] = [];
  authorizations: Authorization[] = [];
  challenges: Challenge[] = [];
  deposits: Deposit[] = [];
  timers: Timer[] = [];
  /** Type of every record there is, newest last. */
  records: { readonly id: string; readonly type: string; readonly amount: number }[] = [];
  /** Names of all events, and of those since the last answer. */
  events: string[] = [];
  told: string[] = [];
  readonly #counts = new Map<string, number>();

  constructor(now: number) {
    this.now = now;
  }

  id(kind: string): string {
    const next = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, next);
    return `${kind}_${next}`;
  }

  emit(event: string): void {
    this.events.push(event);
    this.told.push(event);
  }

  isExpired(card: Card): boolean {
    return this.now > card.expiresAt;
  }

  /** Gives money to where the card's money is: the card, or the wallet once it is terminated. */
  sink(card: Card, amount: number): void {
    if (card.status === 'terminated') this.wallet += amount;
    else card.balance += amount;
  }

  /** After every decrease of an active card. */
  fell(card: Card): void {
    if (card.status !== 'active' || card.line === null || card.balance >= card.line) return;
    card.status = 'frozen';
    this.emit('card.frozen');
  }

  stop(kind: string, ref: string): void {
    this.timers = this.timers.filter(timer => timer.kind !== kind || timer.ref !== ref);
  }

  /** The reason to decline, in the order of A-48. */
  reason(card: Card, { amount, mcc, forced, mismatch }: Purchase, of?: Authorization): string | undefined {
    if (forced !== undefined) return forced;
    if (card.status === 'terminated') return 'card_terminated';
    if (this.isExpired(card)) return 'card_expired';
    if (card.status === 'frozen') return 'card_frozen';
    if (mismatch !== undefined) return mismatch === 'cvv' ? 'invalid_cvv' : 'invalid_expiry';
    if (card.categories.length > 0 && !card.categories.includes(mcc)) return 'category_not_allowed';
    if ((of?.amount ?? 0) + amount > card.maxTransaction) return 'transaction_limit_exceeded';
    if (this.#usedInMonth(card, of?.createdAt ?? this.now) + amount > card.limit) return 'spending_limit_exceeded';
    return amount > card.balance ? 'insufficient_funds' : undefined;
  }

  #usedInMonth(card: Card, at: number): number {
    const month = new Date(at).toISOString().slice(0, 7);
    return this.authorizations
      .filter(known => known.card === card && new Date(known.createdAt).toISOString().startsWith(month))
      .reduce((sum, known) => sum + known.held + known.settled, 0);
  }
}
