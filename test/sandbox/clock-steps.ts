/** A clock that is moved in two steps or in one, over a long history. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { fakeService } from '../support/fake-service.ts';
import { everyRow, tellLongHistory } from '../support/long-history.ts';
import { ask } from '../support/sandbox-http.ts';

const CLOCK = '/_sandbox/v1/clock';

/** What fired, and every row of the store, behind these moves, ms. */
async function ended(spans: readonly number[]) {
  await using service = await fakeService();
  await ask(service, { method: 'PUT', path: CLOCK, body: { mode: 'frozen' } });
  await tellLongHistory(service);
  const fired = [];
  for (const ms of spans) {
    const moved = await ask(service, { method: 'POST', path: `${CLOCK}/advance`, body: { by: `${ms / 1000}s` } });
    fired.push(...moved.json.fired);
  }
  expect(service.faults).toEqual([]);
  return { fired, rows: await everyRow(service) };
}

export async function expectSameInTwoSteps(numRuns: number): Promise<void> {
  const seconds = fc.oneof(fc.integer({ min: 1, max: 1_500 }), fc.integer({ min: 1, max: 40 * 86_400 }));
  await fc.assert(
    fc.asyncProperty(seconds, seconds, async (a, b) => {
      const [apart, together] = [await ended([a * 1000, b * 1000]), await ended([(a + b) * 1000])];
      expect(apart.rows).toEqual(together.rows);
      expect(apart.fired).toEqual(together.fired);
    }),
    { numRuns, seed: 7 },
  );
}
