import { expect, it } from 'vitest';
import { walletAfterText } from '../../src/fleet/plan-page.ts';

const NONE = { create: 0, fund: 0, returns: 0 };

it.each([
  [{ spend: 200, wallet_after: -175 }, 0, 'wallet after -$175.00, $175.00 short: fleet apply is refused'],
  [{ spend: 20, wallet_after: 5 }, 10, 'wallet after $5.00, $5.00 short: fleet apply is refused'],
  [{ spend: 20, wallet_after: 10 }, 10, 'wallet after $10.00'],
  // What spends nothing is not refused.
  [{ spend: 0, wallet_after: 5 }, 10, 'wallet after $5.00'],
])('a plan says what keeps an apply from beginning: %j, reserve %d', (totals, wallet_reserve, text) => {
  const document = { totals: { ...NONE, ...totals }, caps: { per_apply: 300, cards: 9, wallet_reserve } };
  expect(walletAfterText(document as never)).toBe(text);
});
