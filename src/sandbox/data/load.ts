/** The eight BINs every data set begins with: both networks, and one for each kind of job. */

import { type DATA_SETS, LOAD_SIZE } from '../../contract/sandbox/admin.ts';
import { type Cents, cents } from '../../core/money.ts';
import { type Act, post } from '../account/ledger.ts';
import { seedOf } from '../calls/deterministic-ids.ts';
import { rememberOrigin } from '../checks/ledger-check.ts';
import { type BinRow, walletOf } from '../store/account.ts';
import type { Sql } from '../store/sql.ts';
import { tellDemo } from './demo.ts';
import { type LoadSize, makeLoadData } from './load-data.ts';

type SeededBin = Omit<BinRow, 'id'>;

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

const BINS: readonly SeededBin[] = [
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

// Data sets: what a sandbox holds before anybody asked it for something (docs/design/sandbox.md, section 7).

interface DataSetFacts extends Pick<Act, 'now' | 'idSource'> {
  readonly name: (typeof DATA_SETS)[number];
  /** What the wallet ends up with, by an adjustment; the data set's own sum when left out. */
  readonly wallet?: Cents;
  /** Of `load`. */
  readonly size?: LoadSize;
  /** In place of the data set's own, in their order. */
  readonly bins?: readonly BinRow[] | undefined;
}

/**
 * Fills an account that holds nothing. `empty` has the BINs and a wallet of 0.00; `demo` a history as well, `load` as
 * many cards and records as were asked for. Nothing
 * is emitted: a data set is where events begin. Timers are set, so the system tables must be there.
 */
export async function loadDataSet(
  sql: Sql,
  { name, now, idSource, wallet, size, bins: kept }: DataSetFacts,
): Promise<void> {
  sql.insert('wallets', { data_set: name, balance: 0, deposited: 0, spent: 0, entries: 0 });
  const bins: BinRow[] = [...(kept ?? [])];
  if (kept === undefined) for (const bin of BINS) bins.push({ ...bin, id: idSource.id('bin') });
  for (const [position, bin] of bins.entries()) sql.insert('bins', { ...bin, position });
  if (name === 'demo') tellDemo({ sql, now, idSource, bins: bins.map(({ id }) => id) });
  if (name === 'load') await makeLoadData({ sql, now, idSource, seed: seedOf(sql) }, size ?? LOAD_SIZE);
  if (wallet !== undefined) adjustWallet(sql, { now, wallet });
  rememberOrigin(sql);
}

function adjustWallet(sql: Sql, { now, wallet }: { readonly now: number; readonly wallet: Cents }): void {
  const missing = cents(wallet - (walletOf(sql)?.balance ?? 0));
  if (missing === 0) return;
  const moves = { adjust: -missing, wallet: missing };
  post(sql, { kind: 'adjustment', ref: 'wallet', at: now, moves });
}
