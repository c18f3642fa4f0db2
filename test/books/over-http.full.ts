import { expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox/faults.ts';
import { historyOverHttp } from './over-http.ts';

const HISTORIES = 200;

it.each(DIALECT_NAMES)(
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
