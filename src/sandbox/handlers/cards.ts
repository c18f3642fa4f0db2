/** cards.list, .get, .details, .freeze, .unfreeze, .terminate */
import { LIMITS } from '../../contract/limits.ts';
import { CliError } from '../../core/errors.ts';
import { Secret } from '../../core/secret.ts';
import { cardOf, changeStatus, livingCard, moveOnCard } from '../account/acting.ts';
import { cardDocument, wireCard } from '../account/objects.ts';
import { encodedCard } from '../calls/encoded.ts';
import { type Handlers, Refused } from '../calls/handler.ts';
import { type CardRow, cardSecrets, countCards, pageOfCards, terminateCard } from '../store/cards.ts';
import { pageFacts } from './paging.ts';

export const listCards: Handlers['cards.list'] = async ({ sql, account, input }) => {
  const { page = LIMITS.page.defaults, per_page = LIMITS.pageSize.defaults } = input;
  const filter = { status: input.status, bin_id: input.bin_id };
  const total = await countCards(sql, account, filter);
  const documents = await pageOfCards(sql, account, { filter, limit: per_page, offset: (page - 1) * per_page });
  return { data: documents.map(encodedCard), page: pageFacts(page, per_page, total) };
};

export const getCard: Handlers['cards.get'] = async call => wireCard(await cardOf(call, call.input.card_id));

/** Refused once terminated, when there is no code any more; an expired or frozen card may be looked at. */
export const cardDetails: Handlers['cards.details'] = async call => {
  const card = await livingCard(call, call.input.card_id);
  const secrets = await cardSecrets(call.sql, call.account, card.id);
  if (secrets?.cvv == null) throw new CliError('internal', { message: `no security code stored for ${card.id}` });
  const expiry = new Date(card.expires_at);
  return {
    card_id: card.id,
    number: new Secret(secrets.number),
    cvv: new Secret(secrets.cvv),
    exp_month: expiry.getUTCMonth() + 1,
    exp_year: expiry.getUTCFullYear(),
  };
};

export const freezeCard: Handlers['cards.freeze'] = async call => {
  const card = await livingCard(call, call.input.card_id);
  if (card.status === 'frozen') throw new Refused('card_already_frozen', `card ${card.id} is frozen already`);
  return wireCard(await changeStatus(call, card, 'frozen'));
};

export const unfreezeCard: Handlers['cards.unfreeze'] = async call => {
  const card = await livingCard(call, call.input.card_id);
  if (card.status === 'active') throw new Refused('card_not_frozen', `card ${card.id} is active, not frozen`);
  return wireCard(await changeStatus(call, card, 'active'));
};

/** The available balance, below 0 too, goes to the wallet now; open holds stay and settle. */
export const endCard: Handlers['cards.terminate'] = async call => {
  const card = await livingCard(call, call.input.card_id);
  const { balance } = card;
  const emptied =
    balance === 0
      ? { card }
      : await moveOnCard(call, card, { kind: 'terminate', ref: card.id, moves: { card: -balance, wallet: balance } });
  const ended: CardRow = { ...emptied.card, status: 'terminated' };
  await terminateCard(call.sql, call.account, cardDocument(ended));
  await call.emit('card.terminated', wireCard(ended));
  return wireCard(ended);
};
