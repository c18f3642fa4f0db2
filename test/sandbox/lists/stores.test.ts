/** Several connections to one store: every transaction looks as if it had run alone; with a guard left out it does not. */
import { expect, it } from 'vitest';
import { anomalies } from '../../support/list-append/check.ts';
import { expectSeen, MISTAKES } from './mistakes.ts';
import { carriedOut, committedShare, connected } from './transactions.ts';

it('transactions of three connections run one after the other', async () => {
  await using stores = await connected();
  const history = await carriedOut(stores, { seed: 7, transactions: 300, workers: 4 });
  expect(anomalies(history)).toEqual([]);
  expect(committedShare(history)).toBeGreaterThan(0.8);
});

it.each(MISTAKES)('they do not when $name', mistake => expectSeen(mistake, { seed: 7, transactions: 400, workers: 4 }));
