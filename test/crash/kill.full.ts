/** Killed at every boundary: the sweeps that `kill.test.ts` leaves out. */
import { expect, test } from 'vitest';
import { type Sweep, sweepAll, withDriver } from './kill.ts';

withDriver();

test.each<Sweep>([
  { rows: 1, honoured: false },
  { rows: 1, honoured: true },
  { rows: 2, honoured: false },
  { rows: 3, honoured: false },
  { rows: 6, honoured: true },
  { rows: 6, honoured: false },
])('killed at every boundary: %j', async sweep => {
  const { kills, broken } = await sweepAll(sweep);
  expect(broken).toEqual([]);
  expect(kills).toBeGreaterThan(sweep.rows === 1 ? 30 : sweep.rows * 10);
});

test('the sweep notices a journal that writes SENT after sending', async () => {
  const { broken } = await sweepAll({ rows: 1, honoured: false, sentTooLate: true });
  expect(broken.join('\n')).toMatch(/2 cards/);
});
