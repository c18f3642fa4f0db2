import { expect, test } from 'vitest';
import { killAtRandom } from './random-kills.ts';

const KILLS = 2_000;
/** Told after each: a night that is cut short has told what it saw. */
const BLOCKS = 10;

test.each(Array.from({ length: BLOCKS }, (_, block) => block + 1))(
  'random kills, block %i of 10',
  {
    timeout: 1_200_000,
  },
  async block => {
    const { kills, survived, midway, cards, kinds, broken } = await killAtRandom(
      { kills: KILLS / BLOCKS },
      block * 1_000_000,
    );
    const told = Object.entries(kinds).map(([kind, times]) => `${kind} ${times}`);
    process.stdout.write(
      `block ${block}: ${kills} killed, ${midway} runs midway, ${survived} processes were through before; ${cards} cards, ${broken.length} broken\n${told.sort().join(', ')}\n`,
    );
    expect(broken).toEqual([]);
  },
);
