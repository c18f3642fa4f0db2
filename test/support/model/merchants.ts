/** The model of what merchants do: authorizations and what becomes of them. */
import {
  type Authorization,
  type Card,
  DAY,
  type Expected,
  IMPOSSIBLE,
  NOT_FOUND,
  type Purchase,
  type Said,
  State,
  usd,
} from './state.ts';

export class Merchants extends State {
  authorize(card: Card | undefined, purchase: Purchase): Expected {
    return card === undefined ? NOT_FOUND : this.done(this.attempt(card, purchase), card);
  }

  increment(of: Authorization | undefined, amount: number): Expected {
    if (of === undefined) return NOT_FOUND;
    if (of.status !== 'pending') return IMPOSSIBLE;
    const { card } = of;
    const reason = this.reason(card, { amount, mcc: of.mcc }, of);
    if (reason !== undefined) {
      return this.done({ ...this.decline(amount, reason), authorization_id: of.id }, card);
    }
    of.amount += amount;
    of.held += amount;
    card.balance -= amount;
    this.fell(card);
    return this.done({ outcome: 'incremented', authorization_id: of.id }, card);
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
    return this.done({ outcome: 'settled', transaction_id: id, authorization_id: of.id }, of.card);
  }

  reverse(of: Authorization | undefined, asked: number | undefined): Expected {
    if (of === undefined) return NOT_FOUND;
    if (of.status !== 'pending' || (asked ?? 0) > of.held) return IMPOSSIBLE;
    this.release(of, asked ?? of.held, 'reversed');
    return this.done({ outcome: 'reversed', authorization_id: of.id }, of.card);
  }

  expire(of: Authorization | undefined): Expected {
    if (of === undefined) return NOT_FOUND;
    if (of.status !== 'pending') return IMPOSSIBLE;
    this.release(of, of.held, 'expired');
    return this.done({ outcome: 'expired', authorization_id: of.id }, of.card);
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
    return this.done({ outcome: 'settled', transaction_id: id }, card);
  }

  #refunded(card: Card, amount: number, of: Said): Expected {
    const id = this.#record('refund', amount);
    this.spent -= amount;
    this.sink(card, amount);
    this.emit('transaction.refunded');
    return this.done({ outcome: 'refunded', transaction_id: id, ...of }, card);
  }

  protected attempt(card: Card, purchase: Purchase): Said {
    const reason = this.reason(card, purchase);
    const { amount, mcc } = purchase;
    if (reason !== undefined) return this.decline(amount, reason);
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

  protected decline(amount: number, reason: string): Said {
    const id = this.#record('decline', amount);
    this.emit('transaction.declined');
    return { outcome: 'declined', transaction_id: id, decline_reason: reason };
  }

  #record(type: string, amount: number): string {
    const id = this.id('txn');
    this.records.push({ id, type, amount });
    return id;
  }

  protected release(of: Authorization, amount: number, ending: 'reversed' | 'expired'): void {
    of.held -= amount;
    this.sink(of.card, amount);
    this.#close(of, of.settled > 0 ? 'settled' : ending);
  }

  #close(of: Authorization, ending: Authorization['status']): void {
    if (of.held > 0) return;
    of.status = ending;
    this.stop('authorization.expiry', of.id);
  }

  protected done(said: Said, card?: Card): Expected {
    const about = card && { card_id: card.id, card_status: card.status, card_balance: usd(card.balance) };
    const events = this.told.splice(0);
    return { status: 201, body: { ...said, ...about, wallet_balance: usd(this.wallet), events } };
  }
}
