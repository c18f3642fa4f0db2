/** The rules of the service against a model of them, over HTTP; the long run is model.full.ts. */
import { expect, test } from 'vitest';
import { missing } from '../postgres/server.ts';
import { tooRare } from '../support/model/coverage.ts';
import { runModel } from '../support/model/run.ts';
import { startOnPostgres, startSandbox } from '../support/start-sandbox.ts';
import { onPostgres } from '../support/test-store.ts';

const STEPS = 2_000;

test('two thousand steps answer as the model says', { timeout: 180_000 }, async () => {
  const counts = await runModel({ seed: 1, steps: STEPS, start: startSandbox });
  expect(tooRare(counts, STEPS)).toEqual([]);
});

test.skipIf(onPostgres || missing() !== undefined)('seventy do so on PostgreSQL', async () => {
  const counts = await runModel({ seed: 3, steps: 70, start: startOnPostgres });
  expect(counts.size).toBeGreaterThan(30);
});
