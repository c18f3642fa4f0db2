/** Every operation of the service and the handler that serves it. A missing one does not compile. */
import type { Handlers } from '../calls/handler.ts';
import { listBins } from './bins.ts';
import { cardDetails, endCard, freezeCard, getCard, listCards, unfreezeCard } from './cards.ts';
import { listChallenges } from './challenges.ts';
import { createCard } from './create-card.ts';
import { fundCard, withdrawFromCard } from './funding.ts';
import { listTransactions } from './transactions.ts';
import { getWallet, listAddresses } from './wallet.ts';
import { changeWebhook, createWebhook, endWebhook, getWebhook, listWebhooks } from './webhooks.ts';

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
