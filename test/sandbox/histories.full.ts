/** The same as in `histories.test.ts`, with more histories. */
import { expect, test } from 'vitest';
import { playHistories } from './histories.ts';

test.each([1, 2, 3, 4, 5])('random histories keep I1 to I12, I15 and I16 after every step, seed %i', async seed => {
  expect(await playHistories(500, seed)).toEqual([]);
});
