/** A probe of the keys at each kind of account, with every second answer. */
import { expect, test } from 'vitest';
import { SECOND, wrongBehindProbes } from './probe.ts';

test('an account that repeats what it is told again is never thought to honour keys', async () => {
  expect(await wrongBehindProbes(['nothing', ...Object.keys(SECOND)], ['nothing', 'one 429'])).toEqual([]);
});
