/** Statements on `wallets`, the one row of the wallet, on `bins`, `deposits` and `challenges`. Balances are changed by the ledger alone. */

import type { CURRENCIES } from '../../contract/resources.ts';
import type { Cents } from '../../core/money.ts';
import { DOMAIN_TABLES } from './schema.ts';
import { conditions, type Sql } from './sql.ts';

interface WalletRow {
  readonly data_set: string;
  /** May be below 0 by A-157. */
  readonly balance: Cents;
  /** What came from outside: deposits and adjustments of the sandbox (I10). */
  readonly deposited: Cents;
  /** Settled minus refunded. */
  readonly spent: Cents;
}

export const walletOf = (sql: Sql) => sql.get<WalletRow>('select data_set, balance, deposited, spent from wallets');

export const insertWallet = (sql: Sql, data_set: string) =>
  sql.insert('wallets', { data_set, balance: 0, deposited: 0, spent: 0, entries: 0 });

interface WalletSums {
  readonly cards_active: number;
  readonly cards_total_balance: Cents;
  readonly pending_deposits: Cents;
}

/** Sums of. */
export const walletSums = (sql: Sql) =>
  sql.get<WalletSums>(
    `select count(case when status = 'active' then 1 end) as cards_active,
       coalesce(sum(balance), 0) as cards_total_balance,
       (select coalesce(sum(amount), 0) from deposits where status = 'pending') as pending_deposits
     from cards where status <> 'terminated'`,
  );

/** Removes all domain rows, the wallet included. */
export async function emptyAccount(sql: Sql): Promise<void> {
  for (const table of DOMAIN_TABLES) await sql.run(`delete from ${table}`);
}

export interface BinRow {
  readonly id: string;
  readonly network: 'visa' | 'mastercard';
  readonly type: 'prepaid' | 'debit' | 'credit';
  readonly three_ds: number;
  readonly apple_pay: number;
  readonly google_pay: number;
  readonly max_transaction: Cents;
  readonly max_monthly: Cents;
  /** Tenths of a percent, because only whole numbers are stored. */
  readonly acceptance_tenths: number;
  /** JSON list of tags. */
  readonly best_for: string;
}

export const binById = async (sql: Sql, id: string) =>
  (await sql.known<BinRow>('select * from bins where id = ?', id))[0];

/** All BINs in the order of the data set. */
export const allBins = (sql: Sql) => sql.all<BinRow>('select * from bins order by position');

export type Currency = (typeof CURRENCIES)[number];

export interface DepositRow {
  readonly id: string;
  readonly currency: Currency;
  readonly network: string;
  readonly crypto_amount: string;
  /** Fixed when it was seen. */
  readonly amount: Cents;
  readonly status: 'pending' | 'confirmed' | 'failed';
  readonly tx_hash: string;
  readonly confirmations: number;
  readonly required_confirmations: number;
  readonly created_at: number;
  readonly confirmed_at: number | null;
}

export const depositById = (sql: Sql, id: string) => sql.get<DepositRow>('select * from deposits where id = ?', id);

export const updateDeposit = (sql: Sql, { id, status, confirmations, confirmed_at }: DepositRow) =>
  sql.update('deposits', { id }, { status, confirmations, confirmed_at });

export interface ChallengeRow {
  readonly id: string;
  readonly card_id: string;
  readonly merchant: string;
  readonly amount: Cents;
  readonly otp: string;
  readonly status: 'pending' | 'approved' | 'failed' | 'expired' | 'cancelled';
  /** Wrong codes so far. */
  readonly attempts: number;
  /** The attached authorization as JSON text, or null. */
  readonly purchase: string | null;
  readonly created_at: number;
  readonly expires_at: number;
}

export const challengeById = (sql: Sql, id: string) =>
  sql.get<ChallengeRow>('select * from challenges where id = ?', id);

export const updateChallenge = (sql: Sql, { id, status, attempts }: ChallengeRow) =>
  sql.update('challenges', { id }, { status, attempts });

/** Those that can still be answered at `now`, newest first. */
export function openChallenges(sql: Sql, { now, card_id }: { now: number; card_id?: string | undefined }) {
  const { where, values } = conditions({ "status = 'pending'": [], 'expires_at > ?': now, 'card_id = ?': card_id });
  return sql.all<ChallengeRow>(`select * from challenges${where} order by created_at desc, id desc`, ...values);
}

/** All of them, finished ones too, newest first; for the dialect that keeps them listed. */
export const everyChallenge = (sql: Sql) =>
  sql.all<ChallengeRow>('select * from challenges order by created_at desc, id desc');
