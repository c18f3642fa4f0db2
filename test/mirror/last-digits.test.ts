import { expect, it } from 'vitest';
import { cardValues } from '../../src/mirror/store.ts';

it.each([
  ['4242', '4242'],
  ['x4242', '4242'],
  // A whole card number is masked, and what is left of the mask names no card.
  ['4242424242424242', null],
  [null, null],
])('the last four digits of %s are %s', (last4, kept) => {
  expect(cardValues({ id: 'card_1', last4 } as never).last4).toBe(kept);
});
