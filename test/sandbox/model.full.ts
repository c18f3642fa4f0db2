/** The long run of the model: other seeds than the short one, and twenty times as far. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tooRare } from '../support/model/coverage.ts';
import { runModel } from '../support/model/run.ts';
import { startSandbox } from '../support/start-sandbox.ts';

const STEPS = 200_000;

test('two hundred thousand steps answer as the model says', { timeout: 1_200_000 }, async () => {
  const counts = await runModel({ seed: 1_000, steps: STEPS, history: 400, lanes: 4, start: startSandbox });
  expect(tooRare(counts, STEPS)).toEqual([]);
});

test('stores on disk answer alike', { timeout: 600_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-model-'));
  let stores = 0;
  const start: typeof startSandbox = options =>
    startSandbox({ ...options, store: join(folder, `${++stores}`, 'store.db') });
  await runModel({ seed: 2_000, steps: 10_000, start });
  await rm(folder, { recursive: true });
});
