/** Whether an authorization is approved. The checks and their order are A-48, fixed so that tests are exact. */
import type { Cents } from '../../core/money.ts';
import type { CardStatus } from '../store/cards.ts';
import type { DeclineReason } from '../store/transactions.ts';
import { allowsMcc } from './categories.ts';
import { isExpired } from './dates.ts';

export interface Asking {
  readonly amount: Cents;
  /** What was authorized before, when this asks for more of it. */
  readonly already?: Cents | undefined;
  readonly mcc: string;
  readonly forced?: DeclineReason | undefined;
  readonly mismatch?: 'cvv' | 'expiry' | undefined;
  /** A 3DS challenge of this purchase ended without the right code. */
  readonly challengeFailed?: boolean;
}

export interface Standing {
  readonly now: number;
  readonly card: {
    readonly status: CardStatus;
    readonly balance: Cents;
    readonly spending_limit: Cents;
    readonly expires_at: number;
  };
  /** Four-digit codes and category words; empty means no restriction. */
  readonly categories: readonly string[];
  readonly maxTransaction: Cents;
  /** Held and settled of this month's authorizations. */
  readonly usedThisMonth: Cents;
}

type Check = readonly [DeclineReason, (asking: Asking, standing: Standing) => boolean];

const CHECKS: readonly Check[] = [
  ['card_terminated', (_, { card }) => card.status === 'terminated'],
  ['card_expired', (_, { card, now }) => isExpired(card, now)],
  ['card_frozen', (_, { card }) => card.status === 'frozen'],
  ['invalid_cvv', ({ mismatch }) => mismatch === 'cvv'],
  ['invalid_expiry', ({ mismatch }) => mismatch === 'expiry'],
  ['category_not_allowed', ({ mcc }, { categories }) => !allowsMcc(categories, mcc)],
  ['transaction_limit_exceeded', ({ amount, already = 0 }, { maxTransaction }) => already + amount > maxTransaction],
  ['spending_limit_exceeded', ({ amount }, { card, usedThisMonth }) => usedThisMonth + amount > card.spending_limit],
  ['insufficient_funds', ({ amount }, { card }) => amount > card.balance],
  ['three_ds_failed', ({ challengeFailed }) => challengeFailed === true],
];

/** The first reason to decline, or undefined to approve. */
export function declineReason(asking: Asking, standing: Standing): DeclineReason | undefined {
  return asking.forced ?? CHECKS.find(([, applies]) => applies(asking, standing))?.[0];
}
