/** Statements on `deposits`. */
import type { CURRENCIES } from '../../contract/resources.ts';
import type { Cents } from '../../core/money.ts';
import type { Sql } from './sql.ts';

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
