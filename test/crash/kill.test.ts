/**
 * Killed at every boundary of one create whose key is honoured, and of three rows where keys are ignored, so that
 * whatever is sent twice is two cards. `kill.full.ts` has one and six rows with keys honoured and ignored.
 */
import { expect, test } from 'vitest';
import { type Sweep, sweepAll, withDriver } from './kill.ts';

withDriver();

test.each<Sweep>([
  { rows: 1, honoured: true },
  { rows: 3, honoured: false },
])('killed at every boundary: %j', { timeout: 240_000 }, async sweep => {
  const { kills, broken } = await sweepAll(sweep);
  expect(broken).toEqual([]);
  expect(kills).toBeGreaterThan(sweep.rows === 1 ? 30 : 45);
});

test('the sweep notices a journal that writes SENT after sending', { timeout: 240_000 }, async () => {
  const { broken } = await sweepAll({ rows: 1, honoured: false, sentTooLate: true });
  expect(broken.join('\n')).toMatch(/2 cards/);
});
