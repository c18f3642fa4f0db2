/**
 * What a merchant does on a card: authorize, settle, give a hold back, refund
 * (docs/design/sandbox.md, sections 8 and 9).
 */
import type { Cents } from '../../core/money.ts';
import { found } from '../calls/handler.ts';
import { schedule, unschedule } from '../clock/clock.ts';
import { monthOf } from '../rules/dates.ts';
import {
  type AuthorizationRequest,
  authorizationDue,
  type CardState,
  type DeclineFacts,
  declineReason,
} from '../rules/declines.ts';
import { destinationOf, splitSettlement, statusAfter } from '../rules/money.ts';
import { binById, type CardRow, type DeclineReason, type TransactionRow, usedBetween } from '../store/rows.ts';
import { type Act, afterDecrease, cardOf, minus, moveOnCard, plus } from './ledger.ts';
import { wireTransaction } from './wire.ts';

export const AUTHORIZATION_EXPIRY = 'authorization.expiry';

export interface Purchase extends AuthorizationRequest {
  readonly merchant: string;
  readonly country: string;
}

const NOTHING = 0 as Cents;
const NO_SUMS = { held: NOTHING, settled: NOTHING, excess: NOTHING, released: NOTHING, refunded: NOTHING };

/** Throws `not_found` for an unknown authorization. */
export const authorizationOf = ({ sql }: Act, id: string) =>
  found(sql.row('transactions', { id, type: 'authorization' }), 'authorization', id);

/** Runs the checks of A-48 and records an authorization that holds the amount, or a decline that moves nothing. */
export function authorize(act: Act, card: CardRow, purchase: Purchase): TransactionRow {
  const { sql, now } = act;
  const { amount } = purchase;
  const { reason, state } = checkPurchase(act, card, purchase);
  if (reason !== undefined) return decline(act, card, { ...purchase, reason }, { request: purchase, state });
  const row = record(act, card, purchase, { type: 'authorization', status: 'pending', held: amount });
  const moved = moveOnCard(act, card, { kind: 'authorize', ref: row.id, moves: { card: -amount, hold: amount } });
  schedule(sql, { kind: AUTHORIZATION_EXPIRY, ref: row.id, due_at: authorizationDue(now, row.mcc) });
  act.emit('transaction.authorized', wireTransaction(row));
  afterDecrease(act, moved.card);
  return row;
}

/** Runs the checks of A-48. `counted` is when the authorization was made, which decides its month. */
function checkPurchase(
  act: Act,
  card: CardRow,
  purchase: AuthorizationRequest & { readonly counted?: number },
): { readonly reason: DeclineReason | undefined; readonly state: CardState } {
  const { sql, now } = act;
  const bin = binById(sql, card.bin_id);
  const usedThisMonth = usedBetween(sql, { card: card.id, ...monthOf(purchase.counted ?? now) });
  const state: CardState = {
    now,
    card,
    categories: JSON.parse(card.allowed_categories) as readonly string[],
    maxTransaction: bin?.max_transaction ?? NOTHING,
    usedThisMonth,
  };
  return { reason: declineReason(purchase, state), state };
}

/** Records a decline for a known reason, and what it was judged by. */
export function decline(
  act: Act,
  card: CardRow,
  purchase: Purchase & { readonly reason: DeclineReason },
  judged: DeclineFacts,
): TransactionRow {
  const row = record(act, card, purchase, { type: 'decline', status: 'declined', decline_reason: purchase.reason });
  act.sql.insert('decline_facts', { transaction_id: row.id, facts: JSON.stringify(judged) });
  act.emit('transaction.declined', wireTransaction(row));
  return row;
}

/** A record of a purchase; no sums but those that are told. */
function record(
  { sql, idSource, now }: Act,
  card: CardRow,
  { amount, merchant, mcc, country }: Purchase,
  became: Pick<TransactionRow, 'type' | 'status'> & Partial<TransactionRow>,
): TransactionRow {
  const row: TransactionRow = {
    id: idSource.id('txn'),
    card_id: card.id,
    amount,
    merchant,
    mcc,
    merchant_country: country,
    authorization_id: null,
    decline_reason: null,
    created_at: now,
    ...NO_SUMS,
    ...became,
  };
  sql.insert('transactions', row);
  return row;
}

/** More at the merchant of an authorization. */
function purchaseOf({ merchant, mcc, merchant_country: country }: TransactionRow, amount: Cents): Purchase {
  return { amount, merchant, mcc, country };
}

/**
 * Settles any amount above 0. What the hold does not cover, all of it once nothing is held, leaves card or wallet
 * without asking. `final` releases what is left of the hold.
 */
export function settle(
  act: Act,
  authorization: TransactionRow,
  { amount, final }: { amount: Cents; final: boolean },
): TransactionRow {
  const card = cardOf(act, authorization.card_id);
  const { fromHold, excess, rest } = splitSettlement(amount, authorization.held, final);
  const became = { type: 'settlement', status: 'completed', authorization_id: authorization.id } as const;
  const row = record(act, card, purchaseOf(authorization, amount), became);
  const sums = {
    held: minus(authorization.held, plus(fromHold, rest)),
    settled: plus(authorization.settled, amount),
    excess: plus(authorization.excess, excess),
    released: plus(authorization.released, rest),
  };
  changeAuthorization(act, authorization, { ...sums, status: sums.held > 0 ? 'pending' : 'settled' });
  const sink = destinationOf(card.status);
  const settled = moveOnCard(act, card, {
    kind: 'settle',
    ref: row.id,
    moves: { hold: -fromHold, [sink]: -excess, network: amount },
  });
  if (rest > 0) {
    moveOnCard(act, card, { kind: 'release', ref: authorization.id, moves: { hold: -rest, [sink]: rest } });
  }
  act.emit('transaction.settled', wireTransaction(row));
  // Only an excess lowers what the card has, and then nothing is left to release: the balances are the last ones.
  if (excess > 0 && sink === 'card') afterDecrease(act, settled.card);
  return row;
}

/** Gives held money back, by reversal or expiry. No record and no event. `amount` is at most what is held. */
export function release(
  act: Act,
  authorization: TransactionRow,
  { amount, ending }: { amount: Cents; ending: 'reversed' | 'expired' },
): TransactionRow {
  const card = cardOf(act, authorization.card_id);
  const held = minus(authorization.held, amount);
  const changed = changeAuthorization(act, authorization, {
    held,
    released: plus(authorization.released, amount),
    status: statusAfter({ held, settled: authorization.settled }, ending),
  });
  const moves = { hold: -amount, [destinationOf(card.status)]: amount };
  moveOnCard(act, card, { kind: 'release', ref: authorization.id, moves });
  return changed;
}

/** Gives settled money back. `amount` is at most what settled and was not refunded yet (I9). */
export function refund(act: Act, authorization: TransactionRow, amount: Cents): TransactionRow {
  const card = cardOf(act, authorization.card_id);
  const became = { type: 'refund', status: 'completed', authorization_id: authorization.id } as const;
  const row = record(act, card, purchaseOf(authorization, amount), became);
  changeAuthorization(act, authorization, { refunded: plus(authorization.refunded, amount) });
  const moves = { network: -amount, [destinationOf(card.status)]: amount };
  moveOnCard(act, card, { kind: 'refund', ref: row.id, moves });
  act.emit('transaction.refunded', wireTransaction(row));
  return row;
}

/** One that is no longer pending has nothing left to expire. */
function changeAuthorization({ sql }: Act, row: TransactionRow, change: Partial<TransactionRow>): TransactionRow {
  const changed: TransactionRow = sql.change('transactions', row, change);
  if (changed.status !== 'pending') unschedule(sql, { kind: AUTHORIZATION_EXPIRY, ref: row.id });
  return changed;
}

// What merchants do beside the usual course: ask for more, post without asking, give back what nobody paid.

/**
 * Raises a pending authorization after the checks of A-48, the total against the limit of one transaction. Approved:
 * no record, no event, the same due time. Declined: a decline, and the authorization stays as it is.
 */
export function increment(act: Act, authorization: TransactionRow, amount: Cents): TransactionRow {
  const card = cardOf(act, authorization.card_id);
  const request = purchaseOf(authorization, amount);
  const raising = { ...request, already: authorization.amount, counted: authorization.created_at };
  const { reason, state } = checkPurchase(act, card, raising);
  if (reason !== undefined) return decline(act, card, { ...request, reason }, { request: raising, state });
  const raised = changeAuthorization(act, authorization, {
    amount: plus(authorization.amount, amount),
    held: plus(authorization.held, amount),
  });
  const moves = { card: -amount, hold: amount };
  const moved = moveOnCard(act, card, { kind: 'increment', ref: raised.id, moves });
  afterDecrease(act, moved.card);
  return raised;
}

/**
 * A settlement nobody authorized: posted whatever the state of the card, never declined. Or a refund without a
 * purchase. Card, or wallet once the card is terminated.
 */
export function postUnlinked(act: Act, card: CardRow, purchase: Purchase, type: 'settlement' | 'refund') {
  const row = record(act, card, purchase, { type, status: 'completed' });
  const place = destinationOf(card.status);
  const isSettled = type === 'settlement';
  const spent = isSettled ? row.amount : -row.amount;
  const moves = { [place]: -spent, network: spent };
  const moved = moveOnCard(act, card, { kind: isSettled ? 'settle' : 'refund', ref: row.id, moves });
  act.emit(isSettled ? 'transaction.settled' : 'transaction.refunded', wireTransaction(row));
  if (isSettled && place === 'card') afterDecrease(act, moved.card);
  return row;
}
