/**
 * Killed at every eighth boundary of two rows where keys are ignored, so that whatever is sent twice is two cards.
 * `kill.full.ts` has every boundary of one to six rows with keys honoured and ignored.
 */
import { expect, test } from 'vitest';
import { sweepAll, withDriver } from './kill.ts';

withDriver();

test('killed at every eighth boundary of two rows', { timeout: 240_000 }, async () => {
  const { kills, broken } = await sweepAll({ rows: 2, honoured: false, step: 8 });
  expect(broken).toEqual([]);
  expect(kills).toBeGreaterThan(4);
});

test('the sweep notices a journal that writes SENT after sending', { timeout: 240_000 }, async () => {
  // Before its 40th boundary that journal has sent nothing.
  const { broken } = await sweepAll({ rows: 1, honoured: false, sentTooLate: true, from: 40 });
  expect(broken.join('\n')).toMatch(/2 cards/);
});
