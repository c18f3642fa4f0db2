import { expect, test } from 'vitest';
import { KINDS, killAtRandom } from './random-kills.ts';

/** Enough of them strike while cards are made, not before or after, and before every kind of service. */
const WANTED = { kills: 8, midway: 1, kinds: true };

test('8 processes and more killed at random moments: no card twice, no row lost, no cent gone', {
  timeout: 480_000,
}, async () => {
  const { kills, midway, kinds, broken } = await killAtRandom(WANTED, 1);
  expect(broken).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(WANTED.kills);
  expect(midway).toBeGreaterThanOrEqual(WANTED.midway);
  for (const kind of KINDS) expect(kinds[kind], kind).toBeGreaterThan(0);
});
