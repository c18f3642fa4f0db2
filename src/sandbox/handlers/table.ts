/** Every operation and the handler that serves it. A missing one does not compile. */
import type { AdminHandlers, Handlers } from '../handler.ts';
import { resetSandbox, sandboxStatus } from './admin.ts';
import { listBins } from './bins.ts';
import { checkBooks, listAccounts, listDeposits, listEntries, listEvents } from './books.ts';
import { cardDetails, endCard, freezeCard, getCard, listCards, unfreezeCard } from './cards.ts';
import { listChallenges } from './challenges.ts';
import { changeClock, showClock } from './clock.ts';
import { createCard } from './create-card.ts';
import { listDeliveries, recover, redeliver, rotate, sendExample } from './deliveries.ts';
import { addFault, clearFaults, getFault, listFaults, removeFault } from './faults.ts';
import { fundCard, withdrawFromCard } from './funding.ts';
import {
  simulateAuthorize,
  simulateExpire,
  simulateForcePost,
  simulateIncrement,
  simulateRefund,
  simulateReverse,
  simulateSettle,
  simulateUnlinkedRefund,
} from './simulate-authorizations.ts';
import { simulateAnswer, simulateCancel, simulateChallenge, simulateChallengeExpire } from './simulate-challenges.ts';
import { simulateConfirm, simulateConfirmations, simulateDeposit, simulateFail } from './simulate-deposits.ts';
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

export const ADMIN_HANDLERS: AdminHandlers = {
  status: sandboxStatus,
  reset: resetSandbox,
  'simulate.authorize': simulateAuthorize,
  'simulate.increment': simulateIncrement,
  'simulate.settle': simulateSettle,
  'simulate.reverse': simulateReverse,
  'simulate.expire': simulateExpire,
  'simulate.refund': simulateRefund,
  'simulate.force-post': simulateForcePost,
  'simulate.unlinked-refund': simulateUnlinkedRefund,
  'simulate.challenge': simulateChallenge,
  'simulate.answer': simulateAnswer,
  'simulate.challenge-expire': simulateChallengeExpire,
  'simulate.cancel': simulateCancel,
  'simulate.deposit': simulateDeposit,
  'simulate.confirmations': simulateConfirmations,
  'simulate.confirm': simulateConfirm,
  'simulate.fail': simulateFail,
  'clock.show': showClock,
  'clock.set': changeClock,
  deposits: listDeposits,
  events: listEvents,
  'ledger.accounts': listAccounts,
  'ledger.entries': listEntries,
  'ledger.check': checkBooks,
  deliveries: listDeliveries,
  'deliveries.redeliver': redeliver,
  'deliveries.recover': recover,
  'deliveries.example': sendExample,
  'deliveries.rotate': rotate,
  faults: listFaults,
  'faults.get': getFault,
  'faults.add': addFault,
  'faults.remove': removeFault,
  'faults.clear': clearFaults,
};
