import { expect, test } from 'vitest';
import { playHistories } from './histories.ts';

// One seed, so that what came about is the same on every machine.
test('random histories keep I1 to I12, I15 and I16 after every step', async () => {
  expect(await playHistories(25, 2)).toEqual([]);
});
