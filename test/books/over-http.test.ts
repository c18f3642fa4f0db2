import { expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox/faults.ts';
import { isWhole } from '../support/whole.ts';
import { historyOverHttp } from './over-http.ts';

// Dialects that count otherwise; the whole run has all of them, 200 histories each. The first account has a purchase that
// settles in place when it has expired, before anything showed that purchases do.
it.each([
  ['auth-single', 3],
  ['ledger-balance', 1],
  ['minimal', 1],
] as const)('no alarm over HTTP: %s, seed %i', async (dialect, seed) => {
  expect(await historyOverHttp(dialect, seed)).toMatchObject({ wrong: [], checkpoints: 4 });
});

const HISTORIES = 200;

it.runIf(isWhole).each(DIALECT_NAMES)(
  'no alarm in 200 histories over HTTP of a service that speaks %s',
  async dialect => {
    const wrong: string[] = [];
    let [checkpoints, provisional] = [0, 0];
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const told = await historyOverHttp(dialect, seed);
      wrong.push(...told.wrong);
      checkpoints += told.checkpoints;
      provisional += told.provisional;
    }
    expect(wrong).toEqual([]);
    expect(checkpoints).toBe(4 * HISTORIES);
    // The bound rule is met, except where the holds of a balance count nowhere.
    if (dialect !== 'ledger-balance') expect(provisional).toBeGreaterThan(10);
  },
  1_200_000,
);
