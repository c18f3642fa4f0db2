/** How much a card is topped up with: a function of its balance, its month and the file alone. */
import { type Cents, cents } from '../core/money.ts';
import type { CardRecords } from './account.ts';
import type { Wish } from './fleet-file.ts';
import { LEAST_AT_ONCE, MOST_AT_ONCE } from './layer.ts';

export type TopUp =
  | { readonly due: false }
  /** Below its floor; what the cap of the month leaves is less than can be sent. */
  | { readonly due: true; readonly amount: undefined }
  | { readonly due: true; readonly amount: Cents };

/** Whether the balance is below the floor of the file: only then are its records read. */
export function isBelowFloor({ floor, topUpTo }: Wish, balance: Cents): boolean {
  return floor !== undefined && topUpTo !== undefined && balance < floor;
}

/** Brings the balance to `top_up_to`, within one request and the cap of the month; never beyond either. */
export function topUpOf(wish: Wish, balance: Cents, { usedThisMonth }: Pick<CardRecords, 'usedThisMonth'>): TopUp {
  const { topUpTo, monthlyCap } = wish;
  if (!isBelowFloor(wish, balance) || topUpTo === undefined) return { due: false };
  const room = monthlyCap === undefined ? MOST_AT_ONCE : monthlyCap - usedThisMonth - balance;
  const amount = Math.min(topUpTo - balance, MOST_AT_ONCE, room);
  return amount < LEAST_AT_ONCE ? { due: true, amount: undefined } : { due: true, amount: cents(amount) };
}
