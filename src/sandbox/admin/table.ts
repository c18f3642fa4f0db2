/** Every operation of the admin surface and what serves it. A missing one does not compile. */

import type { DialectName } from '../../contract/sandbox/faults.ts';
import { type AdminHandlers, impossible } from '../calls/handler.ts';
import { revealCard, revealCode } from '../handlers/cards.ts';
import {
  simulateAnswer,
  simulateAuthorize,
  simulateCancel,
  simulateChallenge,
  simulateChallengeExpire,
  simulateConfirm,
  simulateConfirmations,
  simulateDeposit,
  simulateExpire,
  simulateFail,
  simulateForcePost,
  simulateIncrement,
  simulateRefund,
  simulateReverse,
  simulateSettle,
  simulateUnlinkedRefund,
} from '../handlers/simulate.ts';
import {
  listEvents,
  listSubscriptions,
  listTimers,
  searchedCards,
  searchedChallenges,
  searchedTransactions,
  showMarks,
  showOverview,
  showSpending,
  showWholeCard,
  showWholeTransaction,
} from '../inspecting/holdings.ts';
import { explainSignature, showRequest, turnedRequests, whyDecided } from '../inspecting/requests.ts';
import {
  checkScenario,
  endSessions,
  listActs,
  listScenarios,
  makeTicket,
  playScenario,
  recordScenario,
  showPage,
  showScenario,
} from '../inspecting/scenarios.ts';
import { diffSnapshots } from '../inspecting/snapshots.ts';
import { showTimeline } from '../inspecting/timeline.ts';
import { createKey, listKeys } from '../requests/authorize.ts';
import { atOnce, type ServiceHandlers, type TracelessHandlers } from '../service/service.ts';
import { advanceClock } from './advance-clock.ts';
import { listDeliveries, recover, redeliver, rotate, sendExample, sendOwn, showDelivery } from './deliveries.ts';
import { listSnapshots, removeSnapshot, restoreSnapshot, saveSnapshot } from './snapshots.ts';
import {
  addFault,
  changeClock,
  checkLedger,
  clearFaults,
  getFault,
  listAccounts,
  listDeposits,
  listEntries,
  listFaults,
  listRequests,
  removeFault,
  resetSandbox,
  sandboxStatus,
  showClock,
  showDialect,
  verifyRequests,
} from './state.ts';

/** One transaction each. */
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
  'clock.set': changeClock,
  'ledger.accounts': listAccounts,
  'ledger.entries': listEntries,
  'ledger.check': checkLedger,
  'deliveries.redeliver': redeliver,
  'deliveries.recover': recover,
  'deliveries.example': sendExample,
  'deliveries.send': sendOwn,
  'deliveries.rotate': rotate,
  'cards.reveal': revealCard,
  'challenges.reveal': revealCode,
  'faults.add': addFault,
  'faults.remove': removeFault,
  'faults.clear': clearFaults,
};

/** These take many transactions of their own, or concern the server and not what it stores. */
export const SERVICE_HANDLERS: ServiceHandlers = {
  'clock.advance': advanceClock,
  'dialect.set': async ({ activeDialect }, { dialect }: { readonly dialect: DialectName }) => {
    activeDialect.use(dialect);
    return activeDialect.facts;
  },
  stop: async ({ onStop, pid }) => {
    if (onStop === undefined) throw impossible('This sandbox is ended where it was started.');
    onStop();
    return { pid };
  },
  'accounts.open': async ({ accounts }, wish) => {
    if (accounts === undefined) throw impossible('This sandbox is one account; sandbox start --accounts serves many.');
    return accounts(wish as never);
  },
  keys: listKeys,
  'keys.create': createKey,
  'snapshots.save': saveSnapshot,
  'snapshots.restore': restoreSnapshot,
  'snapshots.remove': removeSnapshot,
  'scenarios.play': playScenario,
  // Loaded when asked for: no command needs them.
  openapi: async () => (await import('../../contract/openapi/document.ts')).openApiDocument(),
  'openapi.sandbox': async ({ version }) =>
    (await import('../../contract/openapi/sandbox.ts')).sandboxOpenApiDocument(version),
};

/** These change nothing at all. */
export const TRACELESS_HANDLERS: TracelessHandlers = {
  'clock.show': atOnce(showClock),
  deliveries: atOnce(listDeliveries),
  faults: atOnce(listFaults),
  'faults.get': atOnce(getFault),
  requests: atOnce(listRequests),
  'requests.verify': atOnce(verifyRequests),
  snapshots: listSnapshots,
  'dialect.show': showDialect,
  events: atOnce(listEvents),
  timers: atOnce(listTimers),
  'transactions.why': atOnce(whyDecided),
  'cards.timeline': atOnce(showTimeline),
  'requests.get': atOnce(showRequest),
  'requests.turned': atOnce(turnedRequests),
  'snapshots.diff': diffSnapshots,
  deposits: atOnce(listDeposits),
  overview: atOnce(showOverview),
  spending: atOnce(showSpending),
  transactions: atOnce(searchedTransactions),
  'transactions.show': atOnce(showWholeTransaction),
  challenges: atOnce(searchedChallenges),
  cards: atOnce(searchedCards),
  'cards.show': atOnce(showWholeCard),
  'deliveries.get': atOnce(showDelivery),
  webhooks: atOnce(listSubscriptions),
  'page.tickets': makeTicket,
  'page.show': showPage,
  'page.end': endSessions,
  marks: atOnce(showMarks),
  scenarios: listScenarios,
  'scenarios.check': checkScenario,
  'scenarios.show': showScenario,
  'scenarios.record': atOnce(recordScenario),
  acts: listActs,
  'deliveries.explain': atOnce(explainSignature),
};
