/**
 * The data set `load` in its own size, in a file: 100,000 cards and 1,000,000 records, in at most two minutes on two cores
 * that have nothing else to do. What it took is printed, in time and in work; a busy machine is no failure.
 */
import process from 'node:process';
import { expect, test } from 'vitest';
import { ask } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ADMIN = '/_sandbox/v1';

test('a million records are made, and the ledger is whole', { timeout: 1_800_000 }, async () => {
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ store: `${folder.path}/store.db`, rateLimits: false });
  const began = performance.now();
  const worked = () => (process.cpuUsage().user + process.cpuUsage().system) / 1000;
  const before = worked();
  const { json } = await ask(sandbox, { method: 'POST', path: `${ADMIN}/reset`, body: { data: 'load' } });
  const loaded = performance.now();
  const work = worked() - before;
  expect(json).toMatchObject({ cards: 100_000, transactions: 1_000_000, ledger_faults: [] });
  const { json: checked } = await ask(sandbox, { method: 'POST', path: `${ADMIN}/ledger/check`, body: {} });
  expect(checked).toMatchObject({ ok: true, faults: [] });
  const seconds = (from: number, to: number) => `${((to - from) / 1000).toFixed(1)} s`;
  const memory = `${Math.round(process.resourceUsage().maxRSS / 1024)} MiB at most`;
  process.stdout.write(
    `reset: ${seconds(began, loaded)} (${seconds(0, work)} of processor time), ledger check alone: ${seconds(loaded, performance.now())}, ${memory}
`,
  );
});
