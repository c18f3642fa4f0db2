/** Merchant categories: four-digit MCCs, and the sandbox's own words for groups of them. */
import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin.ts';
import { HOLD_LIFE, TRAVEL_HOLD_LIFE } from '../../contract/spans.ts';
import { type Cents, plainAmount } from '../../core/money.ts';
import type { CardRow, CardStatus, DeclineReason } from '../store/rows.ts';
import { isExpired, isoTime } from './dates.ts';

type Range = readonly [first: number, last: number];
const only = (...codes: number[]): readonly Range[] => codes.map(code => [code, code] as const);

const AIRLINES: readonly Range[] = [[3000, 3350], ...only(4511)];
const CAR_RENTAL: readonly Range[] = [[3351, 3500], ...only(7512)];
const LODGING: readonly Range[] = [[3501, 3999], ...only(7011)];
const CRUISES: readonly Range[] = only(4411);

export const CATEGORIES: Readonly<Record<string, readonly Range[]>> = {
  advertising: only(7311),
  airlines: AIRLINES,
  books: only(2741, 5192, 5942),
  car_rental: CAR_RENTAL,
  cruises: CRUISES,
  digital_goods: [[5815, 5818]],
  education: only(8211, 8220, 8241, 8244, 8249, 8299),
  electronics: only(5045, 5065, 5732, 5946),
  entertainment: only(7832, 7841, 7922, 7929, 7991, 7996, 7999),
  fuel: only(5541, 5542, 5983),
  groceries: only(5411, 5422, 5441, 5451, 5462, 5499),
  insurance: only(5960, 6300),
  lodging: LODGING,
  office_supplies: only(5021, 5044, 5111, 5943),
  restaurants: [[5811, 5814]],
  shipping: only(4214, 4215),
  shopping: only(5310, 5311, 5331, 5399, 5621, 5651, 5661, 5691, 5699, 5999),
  software: only(5734, 5817, 7372),
  telecom: only(4812, 4814, 4816, 4899),
  transport: only(4111, 4112, 4121, 4131, 4784),
  travel: [...AIRLINES, ...CAR_RENTAL, ...LODGING, ...CRUISES, ...only(4722)],
  utilities: only(4900),
};

export const isMcc = (text: string) => /^\d{4}$/.test(text);

/** A four-digit code, or a word of the table. */
export function isCategory(text: string): boolean {
  return isMcc(text) || Object.hasOwn(CATEGORIES, text);
}

/** Whether a whitelist lets a merchant's code through; an empty one lets all. */
export function allowsMcc(whitelist: readonly string[], mcc: string): boolean {
  if (whitelist.length === 0) return true;
  return whitelist.some(entry => entry === mcc || holds(CATEGORIES[entry], mcc));
}

function holds(ranges: readonly Range[] | undefined, mcc: string): boolean {
  const code = Number(mcc);
  return ranges?.some(([first, last]) => first <= code && code <= last) ?? false;
}

const HELD_LONGER = [...AIRLINES, ...CAR_RENTAL, ...LODGING, ...CRUISES];

/** When an authorization of a merchant expires: 7 days, 31 for travel. ms. */
export function authorizationDue(createdAt: number, mcc: string): number {
  return createdAt + (holds(HELD_LONGER, mcc) ? TRAVEL_HOLD_LIFE : HOLD_LIFE);
}

// Whether an authorization is approved. The checks and their order are A-48, fixed so that tests are exact.

export interface AuthorizationRequest {
  readonly amount: Cents;
  /** What was authorized before, when this asks for more of it. */
  readonly already?: Cents | undefined;
  readonly mcc: string;
  readonly forced?: DeclineReason | undefined;
  readonly mismatch?: 'cvv' | 'expiry' | undefined;
  /** A 3DS challenge of this purchase ended without the right code. */
  readonly challengeFailed?: boolean | undefined;
}

export interface CardState {
  readonly now: number;
  readonly card: Pick<CardRow, 'status' | 'balance' | 'spending_limit' | 'expires_at'>;
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
  readonly declines: (request: AuthorizationRequest, state: CardState) => boolean;
  readonly compared: (request: AuthorizationRequest, state: CardState) => Compared;
}

const ofStatus = (reason: DeclineReason, status: CardStatus): Check => ({
  reason,
  declines: (_, { card }) => card.status === status,
  compared: (_, { card }) => [`status ${card.status}`, `not ${status}`],
});
const ofMismatch = (reason: DeclineReason, part: 'cvv' | 'expiry'): Check => ({
  reason,
  declines: ({ mismatch }) => mismatch === part,
  compared: ({ mismatch }) => [mismatch === part ? `another ${part}` : `the right ${part}`, `the right ${part}`],
});

/** The order of A-48. */
const CHECKS: readonly Check[] = [
  ofStatus('card_terminated', 'terminated'),
  {
    reason: 'card_expired',
    declines: (_, { card, now }) => isExpired(card, now),
    compared: (_, { card, now }) => [`now ${isoTime(now)}`, `expires_at ${isoTime(card.expires_at)}`],
  },
  ofStatus('card_frozen', 'frozen'),
  ofMismatch('invalid_cvv', 'cvv'),
  ofMismatch('invalid_expiry', 'expiry'),
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
export function declineReason(request: AuthorizationRequest, state: CardState): DeclineReason | undefined {
  return request.forced ?? CHECKS.find(({ declines }) => declines(request, state))?.reason;
}

/** What a decline was judged by. Without `state` no check was asked: a failed challenge has no other reason. */
export interface DeclineFacts {
  readonly request: AuthorizationRequest;
  readonly state?: CardState | undefined;
}

type CheckResult = ReplyOf<AdminOperations['transactions.why']>['checks'][number];

/** The checks in their order, as they went for a record: declined for `reason`, approved without one, or posted unasked. */
export function checkResults(reason: DeclineReason | 'posted' | null, judged?: DeclineFacts): readonly CheckResult[] {
  const failing = CHECKS.findIndex(check => check.reason === reason);
  const isUnasked = judged !== undefined && (judged.request.forced !== undefined || judged.state === undefined);
  return CHECKS.map((check, at): CheckResult => {
    const isReason = at === failing && judged?.request.forced === undefined;
    const isAsked = isReason || (!isUnasked && (reason === null || at < failing));
    if (!isAsked) return { check: check.reason, result: 'not_asked', left: null, right: null };
    const values = judged?.state === undefined ? undefined : check.compared(judged.request, judged.state);
    const [left, right] = values ?? [null, null];
    return { check: check.reason, result: isReason ? 'fails' : 'holds', left, right };
  });
}
