/** Every operation of the service and the handler that serves it. A missing one does not compile. */
import type { Handlers } from '../calls/handler.ts';
import {
  changeWebhook,
  createWebhook,
  endWebhook,
  getWallet,
  getWebhook,
  listAddresses,
  listBins,
  listChallenges,
  listTransactions,
  listWebhooks,
} from './account.ts';
import {
  cardDetails,
  createCard,
  endCard,
  freezeCard,
  fundCard,
  getCard,
  listCards,
  unfreezeCard,
  withdrawFromCard,
} from './cards.ts';

export const HANDLERS: Handlers = {
  'bins.list': listBins,
  'cards.create': createCard,
  'cards.list': listCards,
  'cards.get': getCard,
  'cards.details': cardDetails,
  'cards.freeze': freezeCard,
  'cards.unfreeze': unfreezeCard,
  'cards.terminate': endCard,
  'cards.fund': fundCard,
  'cards.withdraw': withdrawFromCard,
  'transactions.list': listTransactions,
  'wallet.get': getWallet,
  'wallet.addresses': listAddresses,
  'challenges.list': listChallenges,
  'webhooks.create': createWebhook,
  'webhooks.list': listWebhooks,
  'webhooks.get': getWebhook,
  'webhooks.update': changeWebhook,
  'webhooks.delete': endWebhook,
};
