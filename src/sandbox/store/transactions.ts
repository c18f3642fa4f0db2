/** Statements on `transactions` and what belongs to them. */
import type { DECLINE_REASONS, TRANSACTION_TYPES } from '../../contract/resources.ts';
import type { Cents } from '../../core/money.ts';
import { listed, type Page, type Sql } from './sql.ts';

type TransactionType = (typeof TRANSACTION_TYPES)[number];
export type DeclineReason = (typeof DECLINE_REASONS)[number];

export interface TransactionRow {
  readonly id: string;
  readonly card_id: string;
  readonly type: TransactionType;
  readonly status: 'pending' | 'settled' | 'reversed' | 'expired' | 'completed' | 'declined';
  readonly amount: Cents;
  readonly merchant: string;
  readonly mcc: string;
  readonly merchant_country: string;
  readonly authorization_id: string | null;
  readonly decline_reason: DeclineReason | null;
  readonly created_at: number;
  /** Sums of an authorization; 0 on every other record. */
  readonly held: Cents;
  readonly settled: Cents;
  readonly excess: Cents;
  readonly released: Cents;
  readonly refunded: Cents;
}

export const authorizationById = (sql: Sql, id: string) =>
  sql.get<TransactionRow>("select * from transactions where id = ? and type = 'authorization'", id);

/** A record of any kind. */
export const transactionById = (sql: Sql, id: string) =>
  sql.get<TransactionRow>('select * from transactions where id = ?', id);

/** Writes status and sums of an authorization, and what was authorized: an increment raises it (I7). */
export function updateAuthorization(sql: Sql, row: TransactionRow) {
  const { id, status, amount, held, settled, excess, released, refunded } = row;
  return sql.update('transactions', { id }, { status, amount, held, settled, excess, released, refunded });
}

/** What the card's authorizations of a span take of the monthly limit: held and settled. */
export async function usedBetween(
  sql: Sql,
  { card, from, before }: { card: string; from: number; before: number },
): Promise<Cents> {
  const row = await sql.get<{ used: Cents }>(
    `select coalesce(sum(held + settled), 0) as used from transactions
     where card_id = ? and created_at >= ? and created_at < ? and type = 'authorization'`,
    card,
    from,
    before,
  );
  return row?.used ?? (0 as Cents);
}

interface TransactionFilter {
  readonly card_id?: string | undefined;
  readonly type?: TransactionType | undefined;
  /** ms, both inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A page, newest first. */
export function pageOfTransactions(sql: Sql, { card_id, type, from, to }: TransactionFilter, page: Page) {
  const wanted = { 'card_id = ?': card_id, 'type = ?': type, 'created_at >= ?': from, 'created_at <= ?': to };
  return listed<TransactionRow>(sql, { from: 'transactions', wanted, order: 'created_at desc, id desc' }, page);
}

/** What a decline was judged by, JSON text; undefined for one of a data set that was written in bulk. */
export const declineFacts = async (sql: Sql, transaction: string) =>
  (await sql.get<{ facts: string }>('select facts from decline_facts where transaction_id = ?', transaction))?.facts;
