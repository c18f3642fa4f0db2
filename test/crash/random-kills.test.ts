import { expect, test } from 'vitest';
import { KINDS, killAtRandom } from './random-kills.ts';

test('25 processes killed at random moments: no card twice, no row lost, no cent gone', {
  timeout: 480_000,
}, async () => {
  const { kills, midway, kinds, broken } = await killAtRandom(25, 1);
  expect(broken).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(25);
  // Enough of them strike while cards are made, not before or after; on a busy machine they come early.
  expect(midway).toBeGreaterThan(2);
  // And before every kind of service.
  for (const kind of KINDS) expect(kinds[kind], kind).toBeGreaterThan(0);
});
