/** The model of the service: what each request must answer, and what it does to the state. Merchants are below it. */
import { Merchants } from './merchants.ts';
import {
  type Bin,
  type Card,
  CHAINS,
  type Challenge,
  type Deposit,
  type Expected,
  IMPOSSIBLE,
  MINUTE,
  NOT_FOUND,
  no,
  type Purchase,
  type Said,
  usd,
} from './state.ts';

export class ModelService extends Merchants {
  // The public side.

  create(
    bin: Bin,
    asked: { amount: number; limit: number; line: number | null; categories: readonly string[] },
  ): Expected {
    if (asked.amount > this.wallet) return no(400, 'insufficient_funds');
    const date = new Date(this.now);
    const card: Card = {
      ...asked,
      id: this.id('card'),
      status: 'active',
      balance: asked.amount,
      maxTransaction: bin.maxTransaction,
      createdAt: this.now,
      expiresAt: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 37, 1) - 1000,
    };
    this.wallet -= asked.amount;
    this.cards.push(card);
    this.emit('card.created');
    return this.card(card, 201);
  }

  fund(card: Card | undefined, amount: number): Expected {
    if (card === undefined) return NOT_FOUND;
    if (card.status === 'terminated') return no(409, 'card_terminated');
    if (this.isExpired(card)) return no(409, 'card_expired');
    if (amount > this.wallet) return no(400, 'insufficient_funds');
    this.wallet -= amount;
    card.balance += amount;
    this.emit('card.funded');
    return this.#funding(card, amount);
  }

  withdraw(card: Card | undefined, amount: number): Expected {
    if (card === undefined) return NOT_FOUND;
    if (card.status === 'terminated') return no(409, 'card_terminated');
    if (amount > card.balance) return no(400, 'insufficient_card_funds');
    card.balance -= amount;
    this.wallet += amount;
    const answer = this.#funding(card, amount);
    this.fell(card);
    return answer;
  }

  freeze(card: Card | undefined): Expected {
    if (card === undefined) return NOT_FOUND;
    if (card.status !== 'active') return no(409, card.status === 'frozen' ? 'card_already_frozen' : 'card_terminated');
    card.status = 'frozen';
    this.emit('card.frozen');
    return this.card(card);
  }

  unfreeze(card: Card | undefined): Expected {
    if (card === undefined) return NOT_FOUND;
    if (card.status !== 'frozen') return no(409, card.status === 'active' ? 'card_not_frozen' : 'card_terminated');
    card.status = 'active';
    this.emit('card.unfrozen');
    return this.card(card);
  }

  terminate(card: Card | undefined): Expected {
    if (card === undefined) return NOT_FOUND;
    if (card.status === 'terminated') return no(409, 'card_terminated');
    this.wallet += card.balance;
    card.balance = 0;
    card.status = 'terminated';
    this.emit('card.terminated');
    return this.card(card);
  }

  card(card: Card, status = 200): Expected {
    const line = card.line === null ? null : usd(card.line);
    const body = { id: card.id, status: card.status, balance: usd(card.balance), auto_freeze_at: line };
    return { status, body };
  }

  #funding(card: Card, amount: number): Expected {
    const after = { card_balance: usd(card.balance), wallet_balance: usd(this.wallet) };
    return { status: 200, body: { card_id: card.id, amount: usd(amount), ...after } };
  }

  // Card holders.

  challenge(card: Card | undefined, purchase: Purchase, attached: 'by authorize' | 'then' | 'no'): Expected {
    if (card === undefined) return NOT_FOUND;
    const isOpen = card.status === 'active' && !this.isExpired(card);
    const made: Challenge = {
      id: this.id('tds'),
      card,
      purchase: attached === 'no' ? undefined : purchase,
      expiresAt: this.now + 5 * MINUTE,
      status: isOpen ? 'pending' : 'failed',
      wrong: 0,
    };
    this.challenges.push(made);
    if (!isOpen) {
      const outcome = made.purchase === undefined ? { outcome: 'failed' } : this.attempt(card, purchase);
      return this.done({ ...outcome, challenge_id: made.id }, card);
    }
    this.timers.push({ due: made.expiresAt, kind: 'challenge.expiry', ref: made.id });
    this.emit('3ds.challenge');
    const outcome = attached === 'by authorize' ? 'challenged' : 'open';
    return this.done({ outcome, challenge_id: made.id }, card);
  }

  answer(challenge: Challenge | undefined, right: boolean): Expected {
    return this.#end(challenge, open => {
      if (right) {
        this.#finish(open, 'approved');
        return open.purchase === undefined ? { outcome: 'approved' } : this.attempt(open.card, open.purchase);
      }
      open.wrong += 1;
      return open.wrong < 3 ? { outcome: 'open' } : this.#fail(open, 'failed');
    });
  }

  cancel(challenge: Challenge | undefined): Expected {
    return this.#end(challenge, open => {
      this.#finish(open, 'cancelled');
      return { outcome: 'cancelled' };
    });
  }

  runOut(challenge: Challenge | undefined): Expected {
    return this.#end(challenge, open => this.#fail(open, 'expired'));
  }

  #end(challenge: Challenge | undefined, work: (open: Challenge) => Said): Expected {
    if (challenge === undefined) return NOT_FOUND;
    if (challenge.status !== 'pending') return IMPOSSIBLE;
    return this.done({ ...work(challenge), challenge_id: challenge.id }, challenge.card);
  }

  #fail(open: Challenge, status: 'failed' | 'expired'): Said {
    this.#finish(open, status);
    return open.purchase === undefined ? { outcome: status } : this.decline(open.purchase.amount, 'three_ds_failed');
  }

  #finish(open: Challenge, status: Challenge['status']): void {
    open.status = status;
    this.stop('challenge.expiry', open.id);
  }

  // The chain and the clock.

  deposit(currency: Deposit['currency'], amount: number, timed: boolean): Expected {
    const made: Deposit = { id: this.id('dep'), currency, amount, status: 'pending', confirmations: 0 };
    this.deposits.push(made);
    if (timed) this.#nextBlock(made);
    this.emit('deposit.pending');
    return this.done(this.#depositSaid(made));
  }

  confirm(deposit: Deposit | undefined, add: number): Expected {
    if (deposit === undefined) return NOT_FOUND;
    if (deposit.status !== 'pending') return IMPOSSIBLE;
    this.#blocks(deposit, add);
    return this.done(this.#depositSaid(deposit));
  }

  fail(deposit: Deposit | undefined): Expected {
    if (deposit === undefined) return NOT_FOUND;
    if (deposit.status !== 'pending') return IMPOSSIBLE;
    deposit.status = 'failed';
    this.stop('deposit.confirmation', deposit.id);
    return this.done(this.#depositSaid(deposit));
  }

  #depositSaid({ id, status, currency, confirmations }: Deposit): Said {
    return { outcome: status, deposit_id: id, confirmations, required_confirmations: CHAINS[currency].needed };
  }

  #nextBlock({ id, currency }: Deposit): void {
    this.timers.push({ due: this.now + CHAINS[currency].block, kind: 'deposit.confirmation', ref: id });
  }

  #blocks(deposit: Deposit, add: number): void {
    const { needed } = CHAINS[deposit.currency];
    deposit.confirmations = Math.min(needed, deposit.confirmations + add);
    if (deposit.confirmations < needed) return;
    deposit.status = 'confirmed';
    this.wallet += deposit.amount;
    this.deposited += deposit.amount;
    this.stop('deposit.confirmation', deposit.id);
    this.emit('deposit.confirmed');
  }

  advance(ms: number): Expected {
    const to = this.now + ms;
    const fired: Said[] = [];
    for (;;) {
      const [next] = this.timers
        .filter(({ due }) => due <= to)
        .sort((a, b) => a.due - b.due || order(a.kind, b.kind) || order(a.ref, b.ref));
      if (next === undefined) break;
      this.stop(next.kind, next.ref);
      this.now = next.due;
      fired.push({ due_at: iso(next.due), kind: next.kind, ref: next.ref });
      this.#fire(next.kind, next.ref);
    }
    this.now = to;
    this.told = [];
    return { status: 200, body: { mode: 'frozen', now: iso(to), fired } };
  }

  #fire(kind: string, ref: string): void {
    const authorization = this.authorizations.find(({ id }) => id === ref);
    const challenge = this.challenges.find(({ id }) => id === ref);
    const deposit = this.deposits.find(({ id }) => id === ref);
    if (kind === 'authorization.expiry' && authorization) this.release(authorization, authorization.held, 'expired');
    if (kind === 'challenge.expiry' && challenge) this.#fail(challenge, 'expired');
    if (kind !== 'deposit.confirmation' || deposit === undefined) return;
    this.#blocks(deposit, 1);
    if (deposit.status === 'pending') this.#nextBlock(deposit);
  }
}

const order = (a: string, b: string) => (a < b ? -1 : Number(a > b));
const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
