/** The keys of fleets against random histories; with keys that are new in each run the very same model must fail. */
import { expect, test } from 'vitest';
import { playHistories } from './keys-model.ts';

const HISTORIES = 150;
const NONE = { secondCards: 0, notEmpty: 0, lost: 0, touched: 0 };

test('derived keys that are honoured: never a second card', () => {
  const found = playHistories({ keys: 'derived', honoured: true, settled: false, atOnce: false }, HISTORIES);
  expect(found).toMatchObject(NONE);
  // A late top-up that lands behind a purchase and a second top-up: one too much at most, on our own card.
  expect(found.aboveTopUp).toBeLessThan(HISTORIES / 100);
});

test('two applies at once, the wallet too low, the file edited: never a second card', () => {
  const found = playHistories({ keys: 'derived', honoured: true, settled: false, atOnce: true }, HISTORIES);
  expect(found).toMatchObject(NONE);
});

test('keys that are ignored: never a second card where it is waited first', () => {
  const found = playHistories({ keys: 'derived', honoured: false, settled: true, atOnce: false }, HISTORIES);
  expect(found).toMatchObject({ ...NONE, aboveTopUp: 0 });
});

test('with random keys, or without waiting where keys are ignored, the model finds second cards', () => {
  const random = playHistories({ keys: 'random', honoured: true, settled: false, atOnce: false }, HISTORIES);
  const atOnce = playHistories({ keys: 'random', honoured: true, settled: false, atOnce: true }, HISTORIES);
  const hasty = playHistories({ keys: 'derived', honoured: false, settled: false, atOnce: false }, HISTORIES);
  expect(random.secondCards).toBeGreaterThan(HISTORIES / 50);
  expect(atOnce.secondCards).toBeGreaterThan(HISTORIES / 50);
  expect(hasty.secondCards).toBeGreaterThan(HISTORIES / 50);
});
