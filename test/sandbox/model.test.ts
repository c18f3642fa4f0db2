/** The rules of the service against a model of them, over HTTP; in the whole run a hundred times as far, and over stores on disk. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Counts, runModel } from '../support/model/run.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { isWhole } from '../support/whole.ts';

/** What a run must have met, in 10,000 steps; without it, agreement proves little. */
const LEAST: Readonly<Record<string, number>> = {
  'create 201': 100,
  'create insufficient_funds': 20,
  'authorize approved': 150,
  'authorize card_expired': 10,
  'authorize card_frozen': 50,
  'authorize card_terminated': 30,
  'authorize category_not_allowed': 10,
  'authorize insufficient_funds': 80,
  'authorize invalid_cvv': 3,
  'authorize invalid_expiry': 3,
  'authorize spending_limit_exceeded': 20,
  'authorize transaction_limit_exceeded': 5,
  'authorize suspected_fraud': 3,
  'authorize do_not_honor': 3,
  'challenge challenged': 40,
  'challenge open': 20,
  'challenge failed': 5,
  'answer approved': 10,
  'answer open': 30,
  'answer three_ds_failed': 1,
  'answer invalid_request': 20,
  'cancel cancelled': 2,
  'run out three_ds_failed': 2,
  'increment incremented': 15,
  'increment insufficient_funds': 5,
  'increment spending_limit_exceeded': 2,
  'increment transaction_limit_exceeded': 1,
  'increment invalid_request': 20,
  'settle settled': 100,
  'settle on terminated': 10,
  'settle on frozen': 10,
  'settle in part settled': 60,
  'settle invalid_request': 20,
  'reverse reversed': 20,
  'reverse on terminated': 1,
  'refund refunded': 80,
  'refund on terminated': 10,
  'refund invalid_request': 20,
  'expire expired': 10,
  'forcePost settled': 50,
  'forcePost on terminated': 5,
  'unlinkedRefund refunded': 50,
  'unlinkedRefund on terminated': 5,
  'fund 200': 50,
  'fund card_expired': 1,
  'fund insufficient_funds': 10,
  'fund card_terminated': 10,
  'withdraw 200': 40,
  'withdraw insufficient_card_funds': 20,
  'freeze 200': 30,
  'freeze card_already_frozen': 10,
  'unfreeze 200': 50,
  'unfreeze card_not_frozen': 20,
  'unfreeze card_terminated': 20,
  'terminate 200': 40,
  'terminate card_terminated': 5,
  'confirm confirmed': 20,
  'confirm invalid_request': 10,
  'confirmations confirmed': 8,
  'confirmations pending': 8,
  'fail failed': 5,
  'fired authorization.expiry': 10,
  'fired challenge.expiry': 30,
  'fired deposit.confirmation': 100,
  'again 200': 10,
  'again 201': 10,
  'again 400': 5,
  'again other body': 5,
  'frozen by itself': 30,
  'below 0': 50,
};

/** What came about too rarely in a run of so many steps; empty when enough was met. */
function tooRare(counts: Counts, steps: number): readonly string[] {
  return Object.entries(LEAST)
    .map(([what, least]) => ({ what, least: Math.max(1, Math.floor((least * steps) / 10_000)) }))
    .filter(({ what, least }) => (counts.get(what) ?? 0) < least)
    .map(({ what, least }) => `${what}: ${counts.get(what) ?? 0} of ${least}`);
}

test('thousands of steps answer as the model says', { timeout: 1_200_000 }, async () => {
  const steps = isWhole ? 200_000 : 2_000;
  const counts = await runModel({ seed: 1, steps, start: startSandbox });
  expect(tooRare(counts, steps)).toEqual([]);
});

test.runIf(isWhole)('stores on disk answer alike', { timeout: 600_000 }, async () => {
  await using folder = await temporaryFolder();
  let stores = 0;
  const start: typeof startSandbox = options =>
    startSandbox({ ...options, store: join(folder.path, `${++stores}`, 'store.db') });
  await runModel({ seed: 2_000, steps: 10_000, start });
});
