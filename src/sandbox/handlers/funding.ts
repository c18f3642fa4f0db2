/** cards.fund, cards.withdraw */
import type { FUNDING } from '../../contract/card.ts';
import type { CompleteOf } from '../../contract/field.ts';
import { type Cents, plainAmount, toUsd } from '../../core/money.ts';
import { afterDecrease, livingCard, type Moved, moveOnCard } from '../account/acting.ts';
import { wireCard } from '../account/objects.ts';
import { type Handlers, Refused } from '../calls/handler.ts';
import { isExpired } from '../rules/dates.ts';

export const fundCard: Handlers['cards.fund'] = async call => {
  const { amount } = call.input;
  const card = await livingCard(call, call.input.card_id);
  if (isExpired(card, call.now)) throw new Refused('card_expired', `card ${card.id} has expired`);
  const moves = { wallet: -amount, card: amount };
  const moved = await moveOnCard(call, card, { kind: 'fund', ref: card.id, moves, isCovered: true });
  await call.emit('card.funded', wireCard(moved.card));
  return funding(moved, amount);
};

/** No event of its own; one that crosses the line freezes the card. */
export const withdrawFromCard: Handlers['cards.withdraw'] = async call => {
  const { amount } = call.input;
  const card = await livingCard(call, call.input.card_id);
  if (amount > card.balance) {
    throw new Refused(
      'insufficient_card_funds',
      `card ${card.id} holds ${plainAmount(card.balance)} USD, ${plainAmount(amount)} USD asked`,
    );
  }
  const moves = { card: -amount, wallet: amount };
  const moved = await moveOnCard(call, card, { kind: 'withdraw', ref: card.id, moves });
  await afterDecrease(call, moved.card);
  return funding(moved, amount);
};

function funding({ card, wallet }: Moved, amount: Cents): CompleteOf<typeof FUNDING> {
  return {
    card_id: card.id,
    amount: toUsd(amount),
    card_balance: toUsd(card.balance),
    wallet_balance: toUsd(wallet),
  };
}
