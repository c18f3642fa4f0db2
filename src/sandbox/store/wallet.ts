/** Statements on `wallets`: one row an account. Balances are changed by the ledger alone. */
import type { Cents } from '../../core/money.ts';
import { DOMAIN_TABLES } from './schema.ts';
import type { Sql } from './sql.ts';

export interface WalletRow {
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

export interface WalletSums {
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
