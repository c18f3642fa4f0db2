/** The same model over many more histories. */
import { expect, test } from 'vitest';
import { playHistories } from './keys-model.ts';

const HISTORIES = 100_000;
const NONE = { secondCards: 0, notEmpty: 0, lost: 0, touched: 0 };

test.each([
  ['honoured, one apply at a time', { honoured: true, settled: false, atOnce: false }],
  ['honoured, two applies at once', { honoured: true, settled: false, atOnce: true }],
  ['ignored and waited for', { honoured: false, settled: true, atOnce: false }],
] as const)(
  'derived keys, %s: never a second card',
  (_, policy) => {
    for (let seed = 1; seed <= 20; seed += 1) {
      expect(playHistories({ keys: 'derived', ...policy }, HISTORIES / 20, seed)).toMatchObject(NONE);
    }
  },
  3_600_000,
);

test('random keys: the model finds second cards', () => {
  const found = playHistories({ keys: 'random', honoured: true, settled: false, atOnce: false }, HISTORIES / 20);
  expect(found.secondCards).toBeGreaterThan(HISTORIES / 20 / 50);
}, 3_600_000);
