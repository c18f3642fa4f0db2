/** The same as in `rate-limited.test.ts`, with 700 rows. */
import { expect, test } from 'vitest';
import { limitedRun } from './limited-run.ts';

test('700 rows end in one run before a service that lets three requests through at a time', async () => {
  const perRow = await limitedRun(700);
  process.stdout.write(`requests a row: ${perRow.toFixed(2)}\n`);
  expect(perRow).toBeLessThan(3.05);
}, 60_000);
