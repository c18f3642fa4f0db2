/** The rules of the service against a model of them, over HTTP; the long run is model.full.ts. */
import { expect, test } from 'vitest';
import { tooRare } from '../support/model/coverage.ts';
import { runModel } from '../support/model/run.ts';
import { startSandbox } from '../support/start-sandbox.ts';

const STEPS = 2_000;

test('two thousand steps answer as the model says', { timeout: 180_000 }, async () => {
  const counts = await runModel({ seed: 1, steps: STEPS, start: startSandbox });
  expect(tooRare(counts, STEPS)).toEqual([]);
});
