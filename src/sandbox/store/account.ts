/** Statements on `wallets`: one row an account. Balances are changed by the ledger alone. */

import type { CURRENCIES } from '../../contract/resources.ts';
import type { Cents } from '../../core/money.ts';
import { DOMAIN_TABLES } from './schema.ts';
import type { Sql, SqlValue } from './sql.ts';

interface WalletRow {
  readonly data_set: string;
  /** May be below 0 by A-157. */
  readonly balance: Cents;
  /** What came from outside: deposits and adjustments of the sandbox (I10). */
  readonly deposited: Cents;
  /** Settled minus refunded. */
  readonly spent: Cents;
}

export const walletOf = (sql: Sql, account: string) =>
  sql.get<WalletRow>('select data_set, balance, deposited, spent from wallets where account_id = ?', account);

export const insertWallet = (sql: Sql, account: string, dataSet: string) =>
  sql.run(
    'insert into wallets (account_id, data_set, balance, deposited, spent, entries) values (?, ?, 0, 0, 0, 0)',
    account,
    dataSet,
  );

interface WalletSums {
  readonly cards_active: number;
  readonly cards_total_balance: Cents;
  readonly pending_deposits: Cents;
}

/** Sums of. */
export async function walletSums(sql: Sql, account: string): Promise<WalletSums | undefined> {
  return sql.get<WalletSums>(
    `select count(case when status = 'active' then 1 end) as cards_active,
       cast(coalesce(sum(balance), 0) as bigint) as cards_total_balance,
       (select cast(coalesce(sum(amount), 0) as bigint) from deposits where account_id = ? and status = 'pending')
         as pending_deposits
     from cards where account_id = ? and status <> 'terminated'`,
    account,
    account,
  );
}

/** Removes all domain rows of an account, the wallet included. */
export async function emptyAccount(sql: Sql, account: string): Promise<void> {
  for (const table of DOMAIN_TABLES) await sql.run(`delete from ${table} where account_id = ?`, account);
}

// Statements on `bins`.

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

const BIN_COLUMNS =
  'id, network, type, three_ds, apple_pay, google_pay, max_transaction, max_monthly, acceptance_tenths, best_for';

export const binById = async (sql: Sql, account: string, id: string) =>
  (await sql.known<BinRow>(`select ${BIN_COLUMNS} from bins where account_id = ? and id = ?`, account, id))[0];

/** All BINs in the order of the data set. */
export const allBins = (sql: Sql, account: string) =>
  sql.all<BinRow>(`select ${BIN_COLUMNS} from bins where account_id = ? order by position`, account);

const PLACES = `(${new Array(12).fill('?').join(', ')})`;

/** Inserts all of them in one statement, in the order given. */
export const insertBins = (sql: Sql, account: string, bins: readonly BinRow[]) =>
  sql.run(
    `insert into bins (account_id, position, ${BIN_COLUMNS}) values ${bins.map(() => PLACES).join(', ')}`,
    ...bins.flatMap((bin, position) => [
      account,
      position,
      bin.id,
      bin.network,
      bin.type,
      bin.three_ds,
      bin.apple_pay,
      bin.google_pay,
      bin.max_transaction,
      bin.max_monthly,
      bin.acceptance_tenths,
      bin.best_for,
    ]),
  );

// Statements on `deposits`.

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

export const DEPOSIT_COLUMNS = `id, currency, network, crypto_amount, amount, status, tx_hash, confirmations, required_confirmations,
  created_at, confirmed_at`;

export const depositById = (sql: Sql, account: string, id: string) =>
  sql.get<DepositRow>(`select ${DEPOSIT_COLUMNS} from deposits where account_id = ? and id = ?`, account, id);

export const insertDeposit = (sql: Sql, account: string, row: DepositRow) =>
  sql.run(
    `insert into deposits (account_id, ${DEPOSIT_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    account,
    row.id,
    row.currency,
    row.network,
    row.crypto_amount,
    row.amount,
    row.status,
    row.tx_hash,
    row.confirmations,
    row.required_confirmations,
    row.created_at,
    row.confirmed_at,
  );

export const updateDeposit = (sql: Sql, account: string, row: DepositRow) =>
  sql.run(
    'update deposits set status = ?, confirmations = ?, confirmed_at = ? where account_id = ? and id = ?',
    row.status,
    row.confirmations,
    row.confirmed_at,
    account,
    row.id,
  );

// Statements on `challenges`.

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

const CHALLENGE_COLUMNS = 'id, card_id, merchant, amount, otp, status, attempts, purchase, created_at, expires_at';

export const challengeById = (sql: Sql, account: string, id: string) =>
  sql.get<ChallengeRow>(`select ${CHALLENGE_COLUMNS} from challenges where account_id = ? and id = ?`, account, id);

export const insertChallenge = (sql: Sql, account: string, row: ChallengeRow) =>
  sql.run(
    `insert into challenges (account_id, ${CHALLENGE_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    account,
    row.id,
    row.card_id,
    row.merchant,
    row.amount,
    row.otp,
    row.status,
    row.attempts,
    row.purchase,
    row.created_at,
    row.expires_at,
  );

export const updateChallenge = (sql: Sql, account: string, row: ChallengeRow) =>
  sql.run(
    'update challenges set status = ?, attempts = ? where account_id = ? and id = ?',
    row.status,
    row.attempts,
    account,
    row.id,
  );

/** Those that can still be answered at `now`, newest first. */
export function openChallenges(
  sql: Sql,
  account: string,
  { now, card_id }: { now: number; card_id?: string | undefined },
): Promise<readonly ChallengeRow[]> {
  const ofCard: SqlValue[] = card_id === undefined ? [] : [card_id];
  return sql.all<ChallengeRow>(
    `select ${CHALLENGE_COLUMNS} from challenges where account_id = ? and status = 'pending' and expires_at > ?
     ${ofCard.length === 0 ? '' : 'and card_id = ?'} order by created_at desc, id desc`,
    account,
    now,
    ...ofCard,
  );
}

/** All of them, finished ones too, newest first; for the dialect that keeps them listed. */
export const everyChallenge = (sql: Sql, account: string) =>
  sql.all<ChallengeRow>(
    `select ${CHALLENGE_COLUMNS} from challenges where account_id = ? order by created_at desc, id desc`,
    account,
  );
