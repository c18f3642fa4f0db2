import { describe, expect, test } from 'vitest';
import { colourLevel } from '../../src/terminal/screen.ts';

type Setting = readonly [name: string, value: string];

/** In falling order; the first that is present decides. `--color` stands above all of them. */
const RANKS: readonly (readonly { readonly setting: Setting; readonly level: 0 | 1 }[])[] = [
  [{ setting: ['NO_COLOR', '1'], level: 0 }],
  [
    { setting: ['FORCE_COLOR', '1'], level: 1 },
    { setting: ['FORCE_COLOR', '3'], level: 1 },
    { setting: ['FORCE_COLOR', '0'], level: 0 },
    { setting: ['FORCE_COLOR', 'false'], level: 0 },
    { setting: ['CLICOLOR_FORCE', '1'], level: 1 },
  ],
  [{ setting: ['CLICOLOR', '0'], level: 0 }],
  [{ setting: ['TERM', 'dumb'], level: 0 }],
];

/** Present, and deciding nothing. */
const IDLE: readonly Setting[] = [
  ['NO_COLOR', ''],
  ['FORCE_COLOR', ''],
  ['CLICOLOR_FORCE', '0'],
  ['CLICOLOR', '1'],
  ['TERM', 'xterm-256color'],
];

describe('colour level', () => {
  const streams = [{ isTerminal: true }, { isTerminal: false }];

  test('each setting beats all weaker ones, on both streams', () => {
    let combinations = 0;
    for (const stream of streams) {
      const strongest = RANKS.flat();
      for (const { setting, level } of strongest) {
        const rank = RANKS.findIndex(entries => entries.some(entry => entry.setting === setting));
        const weaker = RANKS.slice(rank + 1).flat();
        for (let mask = 0; mask < 2 ** weaker.length; mask += 1) {
          const others = weaker.filter((_, bit) => (mask >> bit) % 2 === 1).map(entry => entry.setting);
          const env = Object.fromEntries([...others, setting]);
          expect(colourLevel({ choice: 'auto', env, stream })).toBe(level);
          expect(colourLevel({ choice: 'always', env, stream })).toBe(1);
          expect(colourLevel({ choice: 'never', env, stream })).toBe(0);
          combinations += 1;
        }
      }
    }
    expect(combinations).toBeGreaterThan(200);
  });

  test('without a deciding setting the stream decides', () => {
    for (const stream of streams) {
      for (const env of [{}, Object.fromEntries(IDLE)]) {
        expect(colourLevel({ choice: 'auto', env, stream })).toBe(stream.isTerminal ? 1 : 0);
      }
    }
  });
});
