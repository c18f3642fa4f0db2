/** Whether an authorization is approved. The checks and their order are A-48, fixed so that tests are exact. */
import { type Cents, plainAmount } from '../../core/money.ts';
import type { CardStatus } from '../store/cards.ts';
import type { DeclineReason } from '../store/transactions.ts';
import { allowsMcc } from './categories.ts';
import { isExpired, isoTime } from './dates.ts';

export interface Asking {
  readonly amount: Cents;
  /** What was authorized before, when this asks for more of it. */
  readonly already?: Cents | undefined;
  readonly mcc: string;
  readonly forced?: DeclineReason | undefined;
  readonly mismatch?: 'cvv' | 'expiry' | undefined;
  /** A 3DS challenge of this purchase ended without the right code. */
  readonly challengeFailed?: boolean | undefined;
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

/** What a check compares, and with what, as a person reads it: `amount 95.00`, `available 90.00`. */
type Compared = readonly [left: string, right: string];

interface Check {
  readonly reason: DeclineReason;
  readonly declines: (asking: Asking, standing: Standing) => boolean;
  readonly compared: (asking: Asking, standing: Standing) => Compared;
}

const status =
  (other: CardStatus): Check['compared'] =>
  (_, { card }) => [`status ${card.status}`, `not ${other}`];

/** The order of A-48. */
const CHECKS: readonly Check[] = [
  {
    reason: 'card_terminated',
    declines: (_, { card }) => card.status === 'terminated',
    compared: status('terminated'),
  },
  {
    reason: 'card_expired',
    declines: (_, { card, now }) => isExpired(card, now),
    compared: (_, { card, now }) => [`now ${isoTime(now)}`, `expires_at ${isoTime(card.expires_at)}`],
  },
  { reason: 'card_frozen', declines: (_, { card }) => card.status === 'frozen', compared: status('frozen') },
  {
    reason: 'invalid_cvv',
    declines: ({ mismatch }) => mismatch === 'cvv',
    compared: ({ mismatch }) => [mismatch === 'cvv' ? 'another cvv' : 'the right cvv', 'the right cvv'],
  },
  {
    reason: 'invalid_expiry',
    declines: ({ mismatch }) => mismatch === 'expiry',
    compared: ({ mismatch }) => [mismatch === 'expiry' ? 'another expiry' : 'the right expiry', 'the right expiry'],
  },
  {
    reason: 'category_not_allowed',
    declines: ({ mcc }, { categories }) => !allowsMcc(categories, mcc),
    compared: ({ mcc }, { categories }) => [`mcc ${mcc}`, `allowed ${categories.join(', ') || 'all'}`],
  },
  {
    reason: 'transaction_limit_exceeded',
    declines: ({ amount, already = 0 }, { maxTransaction }) => already + amount > maxTransaction,
    compared: ({ amount, already }, { maxTransaction }) => [
      already === undefined
        ? `amount ${plainAmount(amount)}`
        : `authorized ${plainAmount(already)} + amount ${plainAmount(amount)}`,
      `max_transaction ${plainAmount(maxTransaction)}`,
    ],
  },
  {
    reason: 'spending_limit_exceeded',
    declines: ({ amount }, { card, usedThisMonth }) => usedThisMonth + amount > card.spending_limit,
    compared: ({ amount }, { card, usedThisMonth }) => [
      `used this month ${plainAmount(usedThisMonth)} + amount ${plainAmount(amount)}`,
      `spending_limit ${plainAmount(card.spending_limit)}`,
    ],
  },
  {
    reason: 'insufficient_funds',
    declines: ({ amount }, { card }) => amount > card.balance,
    compared: ({ amount }, { card }) => [`amount ${plainAmount(amount)}`, `available ${plainAmount(card.balance)}`],
  },
  {
    reason: 'three_ds_failed',
    declines: ({ challengeFailed }) => challengeFailed === true,
    compared: ({ challengeFailed }) => [
      challengeFailed === true ? 'challenge failed' : 'no failed challenge',
      'no failed challenge',
    ],
  },
];

/** The first reason to decline, or undefined to approve. */
export function declineReason(asking: Asking, standing: Standing): DeclineReason | undefined {
  return asking.forced ?? CHECKS.find(({ declines }) => declines(asking, standing))?.reason;
}

/** What a decline was judged by. Without `standing` no check was asked: a failed challenge has no other reason. */
export interface DeclineFacts {
  readonly asking: Asking;
  readonly standing?: Standing | undefined;
}

export interface CheckResult {
  readonly check: DeclineReason;
  readonly result: 'holds' | 'fails' | 'not_asked';
  readonly left: string | null;
  readonly right: string | null;
}

/** The checks in their order as they went for a record that was declined for `reason`, approved without one. */
export function checkResults(reason: DeclineReason | null, judged: DeclineFacts | undefined): readonly CheckResult[] {
  const failing = CHECKS.findIndex(check => check.reason === reason);
  const isUnasked = judged !== undefined && (judged.asking.forced !== undefined || judged.standing === undefined);
  return CHECKS.map((check, at): CheckResult => {
    const isReason = at === failing && judged?.asking.forced === undefined;
    const isAsked = isReason || (!isUnasked && (reason === null || at < failing));
    if (!isAsked) return { check: check.reason, result: 'not_asked', left: null, right: null };
    const values = judged?.standing === undefined ? undefined : check.compared(judged.asking, judged.standing);
    const [left, right] = values ?? [null, null];
    return { check: check.reason, result: isReason ? 'fails' : 'holds', left, right };
  });
}

/** The same for a record that nobody was asked about. */
export function uncheckedResults(): readonly CheckResult[] {
  return CHECKS.map(({ reason }) => ({ check: reason, result: 'not_asked', left: null, right: null }));
}
