/** Several connections to one store: every transaction looks as if it had run alone; with a guard left out it does not. */
import { describe, expect, it } from 'vitest';
import { missing } from '../../postgres/server.ts';
import { anomalies } from '../../support/list-append/check.ts';
import { expectSeen, MISTAKES } from './mistakes.ts';
import { CONNECTED, carriedOut, committedShare } from './transactions.ts';

const WORKLOAD = { seed: 7, transactions: 300, workers: 4 };

describe.each(['sqlite', 'postgres'] as const)('on %s', engine => {
  const isThere = engine === 'sqlite' || missing() === undefined;

  it.skipIf(!isThere)('transactions of three connections run one after the other', async () => {
    await using connected = await CONNECTED[engine]();
    const history = await carriedOut(connected, WORKLOAD);
    expect(anomalies(history)).toEqual([]);
    expect(committedShare(history)).toBeGreaterThan(0.8);
  });

  const [first] = MISTAKES[engine];
  it.skipIf(!isThere)(`they do not when ${first.name}`, () =>
    expectSeen(engine, first, { ...WORKLOAD, transactions: 100 }),
  );
});
