/** The model of the service: what each request must answer, and what it does to the state. */
import {
  type Authorization,
  type Bin,
  type Card,
  CHAINS,
  type Challenge,
  DAY,
  type Deposit,
  type Expected,
  MINUTE,
  type Purchase,
  State,
} from './state.ts';

const usd = (amount: number) => amount / 100;
const no = (status: number, error: string): Expected => ({ status, error });
const NOT_FOUND = no(404, 'not_found');
const IMPOSSIBLE = no(409, 'invalid_request');

type Said = Readonly<Record<string, unknown>>;

export class ModelService extends State {
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

  // Merchants.

  authorize(card: Card | undefined, purchase: Purchase): Expected {
    return card === undefined ? NOT_FOUND : this.#done(this.#attempt(card, purchase), card);
  }

  increment(of: Authorization | undefined, amount: number): Expected {
    if (of === undefined) return NOT_FOUND;
    if (of.status !== 'pending') return IMPOSSIBLE;
    const { card } = of;
    const reason = this.reason(card, { amount, mcc: of.mcc }, of);
    if (reason !== undefined) {
      return this.#done({ ...this.#decline(amount, reason), authorization_id: of.id }, card);
    }
    of.amount += amount;
    of.held += amount;
    card.balance -= amount;
    this.fell(card);
    return this.#done({ outcome: 'incremented', authorization_id: of.id }, card);
  }

  settle(of: Authorization | undefined, asked: number | undefined, final: boolean): Expected {
    if (of === undefined) return NOT_FOUND;
    const amount = asked ?? of.held;
    if (amount === 0) return IMPOSSIBLE;
    const fromHold = Math.min(amount, of.held);
    const id = this.#record('settlement', amount);
    of.held -= fromHold;
    of.settled += amount;
    this.spent += amount;
    this.sink(of.card, fromHold - amount);
    if (final) {
      this.sink(of.card, of.held);
      of.held = 0;
    }
    this.#close(of, 'settled');
    this.emit('transaction.settled');
    if (amount > fromHold) this.fell(of.card);
    return this.#done({ outcome: 'settled', transaction_id: id, authorization_id: of.id }, of.card);
  }

  reverse(of: Authorization | undefined, asked: number | undefined): Expected {
    if (of === undefined) return NOT_FOUND;
    if (of.status !== 'pending' || (asked ?? 0) > of.held) return IMPOSSIBLE;
    this.#release(of, asked ?? of.held, 'reversed');
    return this.#done({ outcome: 'reversed', authorization_id: of.id }, of.card);
  }

  expire(of: Authorization | undefined): Expected {
    if (of === undefined) return NOT_FOUND;
    if (of.status !== 'pending') return IMPOSSIBLE;
    this.#release(of, of.held, 'expired');
    return this.#done({ outcome: 'expired', authorization_id: of.id }, of.card);
  }

  refund(of: Authorization | undefined, asked: number | undefined): Expected {
    if (of === undefined) return NOT_FOUND;
    const left = of.settled - of.refunded;
    const amount = asked ?? left;
    if (amount === 0 || amount > left) return IMPOSSIBLE;
    of.refunded += amount;
    return this.#refunded(of.card, amount, { authorization_id: of.id });
  }

  unlinkedRefund(card: Card | undefined, amount: number): Expected {
    return card === undefined ? NOT_FOUND : this.#refunded(card, amount, {});
  }

  forcePost(card: Card | undefined, amount: number): Expected {
    if (card === undefined) return NOT_FOUND;
    const id = this.#record('settlement', amount);
    this.spent += amount;
    this.sink(card, -amount);
    this.emit('transaction.settled');
    this.fell(card);
    return this.#done({ outcome: 'settled', transaction_id: id }, card);
  }

  #refunded(card: Card, amount: number, of: Said): Expected {
    const id = this.#record('refund', amount);
    this.spent -= amount;
    this.sink(card, amount);
    this.emit('transaction.refunded');
    return this.#done({ outcome: 'refunded', transaction_id: id, ...of }, card);
  }

  #attempt(card: Card, purchase: Purchase): Said {
    const reason = this.reason(card, purchase);
    const { amount, mcc } = purchase;
    if (reason !== undefined) return this.#decline(amount, reason);
    const id = this.#record('authorization', amount);
    const sums = { amount, held: amount, settled: 0, refunded: 0 };
    this.authorizations.push({ id, card, mcc, createdAt: this.now, status: 'pending', ...sums });
    const days = mcc === '7011' ? 31 : 7;
    this.timers.push({ due: this.now + days * DAY, kind: 'authorization.expiry', ref: id });
    card.balance -= amount;
    this.emit('transaction.authorized');
    this.fell(card);
    return { outcome: 'approved', transaction_id: id, authorization_id: id };
  }

  #decline(amount: number, reason: string): Said {
    const id = this.#record('decline', amount);
    this.emit('transaction.declined');
    return { outcome: 'declined', transaction_id: id, decline_reason: reason };
  }

  #record(type: string, amount: number): string {
    const id = this.id('txn');
    this.records.push({ id, type, amount });
    return id;
  }

  #release(of: Authorization, amount: number, ending: 'reversed' | 'expired'): void {
    of.held -= amount;
    this.sink(of.card, amount);
    this.#close(of, of.settled > 0 ? 'settled' : ending);
  }

  #close(of: Authorization, ending: Authorization['status']): void {
    if (of.held > 0) return;
    of.status = ending;
    this.stop('authorization.expiry', of.id);
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
      const outcome = made.purchase === undefined ? { outcome: 'failed' } : this.#attempt(card, purchase);
      return this.#done({ ...outcome, challenge_id: made.id }, card);
    }
    this.timers.push({ due: made.expiresAt, kind: 'challenge.expiry', ref: made.id });
    this.emit('3ds.challenge');
    const outcome = attached === 'by authorize' ? 'challenged' : 'open';
    return this.#done({ outcome, challenge_id: made.id }, card);
  }

  answer(challenge: Challenge | undefined, right: boolean): Expected {
    return this.#end(challenge, open => {
      if (right) {
        this.#finish(open, 'approved');
        return open.purchase === undefined ? { outcome: 'approved' } : this.#attempt(open.card, open.purchase);
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
    return this.#done({ ...work(challenge), challenge_id: challenge.id }, challenge.card);
  }

  #fail(open: Challenge, status: 'failed' | 'expired'): Said {
    this.#finish(open, status);
    return open.purchase === undefined ? { outcome: status } : this.#decline(open.purchase.amount, 'three_ds_failed');
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
    return this.#done(this.#depositSaid(made));
  }

  confirm(deposit: Deposit | undefined, add: number): Expected {
    if (deposit === undefined) return NOT_FOUND;
    if (deposit.status !== 'pending') return IMPOSSIBLE;
    this.#blocks(deposit, add);
    return this.#done(this.#depositSaid(deposit));
  }

  fail(deposit: Deposit | undefined): Expected {
    if (deposit === undefined) return NOT_FOUND;
    if (deposit.status !== 'pending') return IMPOSSIBLE;
    deposit.status = 'failed';
    this.stop('deposit.confirmation', deposit.id);
    return this.#done(this.#depositSaid(deposit));
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
    if (kind === 'authorization.expiry' && authorization) this.#release(authorization, authorization.held, 'expired');
    if (kind === 'challenge.expiry' && challenge) this.#fail(challenge, 'expired');
    if (kind !== 'deposit.confirmation' || deposit === undefined) return;
    this.#blocks(deposit, 1);
    if (deposit.status === 'pending') this.#nextBlock(deposit);
  }

  #done(said: Said, card?: Card): Expected {
    const about = card && { card_id: card.id, card_status: card.status, card_balance: usd(card.balance) };
    const events = this.told.splice(0);
    return { status: 201, body: { ...said, ...about, wallet_balance: usd(this.wallet), events } };
  }
}

const order = (a: string, b: string) => (a < b ? -1 : Number(a > b));
const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
