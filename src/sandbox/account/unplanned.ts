/** What merchants do beside the usual course: ask for more, post without asking, give back what nobody paid. */
import type { Cents } from '../../core/money.ts';
import { destinationOf } from '../rules/money.ts';
import type { CardRow } from '../store/cards.ts';
import { insertTransaction, type TransactionRow } from '../store/transactions.ts';
import { type Act, afterDecrease, cardOf, moveOnCard, plus } from './acting.ts';
import { changeAuthorization, checkPurchase, decline, type Purchase, record } from './authorizations.ts';
import { wireTransaction } from './objects.ts';

/**
 * Raises a pending authorization after the checks of A-48, the total against the limit of one transaction. Approved:
 * no record, no event, the same due time. Declined: a decline, and the authorization stays as it is.
 */
export async function increment(act: Act, authorization: TransactionRow, amount: Cents): Promise<TransactionRow> {
  const card = await cardOf(act, authorization.card_id);
  const { merchant, mcc, merchant_country: country, created_at: counted } = authorization;
  const asking = { amount, merchant, mcc, country };
  const raising = { ...asking, already: authorization.amount, counted };
  const { reason, standing } = await checkPurchase(act, card, raising);
  if (reason !== undefined) return decline(act, card, { ...asking, reason }, { asking: raising, standing });
  const raised: TransactionRow = {
    ...authorization,
    amount: plus(authorization.amount, amount),
    held: plus(authorization.held, amount),
  };
  await changeAuthorization(act, raised);
  const moves = { card: -amount, hold: amount };
  const moved = await moveOnCard(act, card, { kind: 'increment', ref: raised.id, moves });
  await afterDecrease(act, moved.card);
  return raised;
}

/** A settlement nobody authorized: posted whatever the state of the card, never declined. */
export async function forcePost(act: Act, card: CardRow, purchase: Purchase): Promise<TransactionRow> {
  const row = await postUnlinked(act, card, { purchase, type: 'settlement' });
  const sink = destinationOf(card.status);
  const moves = { [sink]: -row.amount, network: row.amount };
  const moved = await moveOnCard(act, card, { kind: 'settle', ref: row.id, moves });
  await act.emit('transaction.settled', wireTransaction(row));
  if (sink === 'card') await afterDecrease(act, moved.card);
  return row;
}

/** A refund without a purchase, to the card, or to the wallet once the card is terminated. */
export async function unlinkedRefund(act: Act, card: CardRow, purchase: Purchase): Promise<TransactionRow> {
  const row = await postUnlinked(act, card, { purchase, type: 'refund' });
  const moves = { network: -row.amount, [destinationOf(card.status)]: row.amount };
  await moveOnCard(act, card, { kind: 'refund', ref: row.id, moves });
  await act.emit('transaction.refunded', wireTransaction(row));
  return row;
}

async function postUnlinked(
  act: Act,
  card: CardRow,
  { purchase, type }: { readonly purchase: Purchase; readonly type: 'settlement' | 'refund' },
): Promise<TransactionRow> {
  const row: TransactionRow = { ...(await record(act, card, purchase)), type, status: 'completed' };
  await insertTransaction(act.sql, act.account, row);
  return row;
}
