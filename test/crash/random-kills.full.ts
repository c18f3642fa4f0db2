import { expect, test } from 'vitest';
import { killAtRandom } from './random-kills.ts';

test('2,000 processes killed at random moments', { timeout: 3_600_000 }, async () => {
  const { kills, survived, midway, cards, kinds, broken } = await killAtRandom(2_000, 1_000_000);
  const told = Object.entries(kinds).map(([kind, times]) => `${kind} ${times}`);
  process.stdout.write(
    `${kills} killed, ${midway} of them midway, ${survived} were through before; ${cards} cards, ${broken.length} broken\n${told.sort().join(', ')}\n`,
  );
  expect(broken).toEqual([]);
});
