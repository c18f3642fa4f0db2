/**
 * Killed at every fourth boundary of two rows where keys are ignored, so that whatever is sent twice is two cards.
 * `kill.full.ts` has every boundary of one to six rows with keys honoured and ignored.
 */
import { expect, test } from 'vitest';
import { sweepAll, withDriver } from './kill.ts';

withDriver();

test('killed at every fourth boundary of two rows', { timeout: 240_000 }, async () => {
  const { kills, broken } = await sweepAll({ rows: 2, honoured: false, step: 4 });
  expect(broken).toEqual([]);
  expect(kills).toBeGreaterThan(8);
});

test('the sweep notices a journal that writes SENT after sending', { timeout: 240_000 }, async () => {
  const { broken } = await sweepAll({ rows: 1, honoured: false, sentTooLate: true });
  expect(broken.join('\n')).toMatch(/2 cards/);
});
