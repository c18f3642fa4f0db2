/** The rules of the service against a model of them, over HTTP; in the whole run a hundred times as far, and over stores on disk. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tooRare } from '../support/model/coverage.ts';
import { runModel } from '../support/model/run.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { isWhole } from '../support/whole.ts';

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
