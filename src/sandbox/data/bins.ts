/** The eight BINs every data set begins with: both networks, and one for each kind of job. */
import { cents } from '../../core/money.ts';
import type { BinRow } from '../store/bins.ts';

export type SeededBin = Omit<BinRow, 'id'>;

interface Wanted {
  readonly type: BinRow['type'];
  /** Largest transaction and largest month, whole USD. */
  readonly limits: readonly [transaction: number, month: number];
  /** Tenths of a percent. */
  readonly acceptance: number;
  readonly bestFor: readonly string[];
  readonly can: readonly ('3ds' | 'apple_pay' | 'google_pay')[];
}

function bin(network: BinRow['network'], { type, limits, acceptance, bestFor, can }: Wanted): SeededBin {
  return {
    network,
    type,
    three_ds: can.includes('3ds') ? 1 : 0,
    apple_pay: can.includes('apple_pay') ? 1 : 0,
    google_pay: can.includes('google_pay') ? 1 : 0,
    max_transaction: cents(limits[0] * 100),
    max_monthly: cents(limits[1] * 100),
    acceptance_tenths: acceptance,
    best_for: JSON.stringify(bestFor),
  };
}

const ALL = ['3ds', 'apple_pay', 'google_pay'] as const;

export const BINS: readonly SeededBin[] = [
  bin('visa', { type: 'prepaid', limits: [500, 2_000], acceptance: 912, bestFor: ['shopping'], can: ['3ds'] }),
  bin('visa', { type: 'debit', limits: [2_500, 10_000], acceptance: 964, bestFor: ['saas', 'shopping'], can: ALL }),
  bin('visa', { type: 'credit', limits: [5_000, 50_000], acceptance: 987, bestFor: ['ads'], can: ALL }),
  bin('visa', {
    type: 'credit',
    limits: [5_000, 25_000],
    acceptance: 975,
    bestFor: ['travel'],
    can: ['3ds', 'google_pay'],
  }),
  bin('mastercard', { type: 'prepaid', limits: [1_000, 5_000], acceptance: 928, bestFor: ['shopping'], can: [] }),
  bin('mastercard', {
    type: 'debit',
    limits: [2_500, 15_000],
    acceptance: 958,
    bestFor: ['saas'],
    can: ['3ds', 'apple_pay'],
  }),
  bin('mastercard', { type: 'credit', limits: [5_000, 40_000], acceptance: 981, bestFor: ['ads', 'saas'], can: ALL }),
  bin('mastercard', {
    type: 'credit',
    limits: [4_000, 20_000],
    acceptance: 969,
    bestFor: ['travel', 'shopping'],
    can: ALL,
  }),
];
