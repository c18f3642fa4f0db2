/**
 * Killed at every eighth boundary of two rows where keys are ignored, so that whatever is sent twice is two cards.
 * `kill.full.ts` has every boundary of one to six rows with keys honoured and ignored, and a journal that writes too late.
 */
import { expect, test } from 'vitest';
import { sweepAll, withDriver } from './kill.ts';

withDriver();

test('killed at every eighth boundary of two rows', { timeout: 240_000 }, async () => {
  const { kills, broken } = await sweepAll({ rows: 2, honoured: false, step: 8 });
  expect(broken).toEqual([]);
  expect(kills).toBeGreaterThan(4);
});
