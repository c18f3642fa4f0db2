/** Statements on `transactions`. */
import type { DECLINE_REASONS, TRANSACTION_TYPES } from '../../contract/resources.ts';
import type { Cents } from '../../core/money.ts';
import type { Sql, SqlValue } from './sql.ts';

export type TransactionType = (typeof TRANSACTION_TYPES)[number];
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

const COLUMNS = `id, card_id, type, status, amount, merchant, mcc, merchant_country, authorization_id, decline_reason,
  created_at, held, settled, excess, released, refunded`;

export const authorizationById = (sql: Sql, account: string, id: string) =>
  sql.get<TransactionRow>(
    `select ${COLUMNS} from transactions where account_id = ? and id = ? and type = 'authorization'`,
    account,
    id,
  );

/** A record of any kind. */
export const transactionById = (sql: Sql, account: string, id: string) =>
  sql.get<TransactionRow>(`select ${COLUMNS} from transactions where account_id = ? and id = ?`, account, id);

/** Columns of a whole row, and its values in their order, for whoever inserts many. */
export const TRANSACTION_COLUMNS: readonly string[] = ['account_id', ...COLUMNS.split(',').map(name => name.trim())];

export const transactionValues = (account: string, row: TransactionRow): readonly SqlValue[] => [
  account,
  row.id,
  row.card_id,
  row.type,
  row.status,
  row.amount,
  row.merchant,
  row.mcc,
  row.merchant_country,
  row.authorization_id,
  row.decline_reason,
  row.created_at,
  row.held,
  row.settled,
  row.excess,
  row.released,
  row.refunded,
];

export const insertTransaction = (sql: Sql, account: string, row: TransactionRow) =>
  sql.run(
    `insert into transactions (account_id, ${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...transactionValues(account, row),
  );

/** Writes status and sums of an authorization, and what was authorized: an increment raises it (I7). */
export const updateAuthorization = (sql: Sql, account: string, row: TransactionRow) =>
  sql.run(
    `update transactions set status = ?, amount = ?, held = ?, settled = ?, excess = ?, released = ?, refunded = ?
     where account_id = ? and id = ?`,
    row.status,
    row.amount,
    row.held,
    row.settled,
    row.excess,
    row.released,
    row.refunded,
    account,
    row.id,
  );

/** What the card's authorizations of a span take of the monthly limit: held and settled. */
export async function usedBetween(
  sql: Sql,
  account: string,
  span: { card: string; from: number; before: number },
): Promise<Cents> {
  const row = await sql.get<{ used: Cents }>(
    `select cast(coalesce(sum(held + settled), 0) as bigint) as used from transactions
     where account_id = ? and card_id = ? and created_at >= ? and created_at < ? and type = 'authorization'`,
    account,
    span.card,
    span.from,
    span.before,
  );
  return row?.used ?? (0 as Cents);
}

export interface TransactionFilter {
  readonly card_id?: string | undefined;
  readonly type?: TransactionType | undefined;
  /** ms, both inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

function filtered(account: string, filter: TransactionFilter): { where: string; values: SqlValue[] } {
  const conditions: [string, SqlValue | undefined][] = [
    ['account_id = ?', account],
    ['card_id = ?', filter.card_id],
    ['type = ?', filter.type],
    ['created_at >= ?', filter.from],
    ['created_at <= ?', filter.to],
  ];
  const set = conditions.filter((condition): condition is [string, SqlValue] => condition[1] !== undefined);
  return { where: set.map(([text]) => text).join(' and '), values: set.map(([, value]) => value) };
}

export async function countTransactions(sql: Sql, account: string, filter: TransactionFilter = {}): Promise<number> {
  const { where, values } = filtered(account, filter);
  const [row] = await sql.known<{ total: number }>(
    `select count(*) as total from transactions where ${where}`,
    ...values,
  );
  return row?.total ?? 0;
}

/** Newest first. */
export function pageOfTransactions(
  sql: Sql,
  account: string,
  { filter, limit, offset }: { filter: TransactionFilter; limit: number; offset: number },
): Promise<readonly TransactionRow[]> {
  const { where, values } = filtered(account, filter);
  return sql.all<TransactionRow>(
    `select ${COLUMNS} from transactions where ${where} order by created_at desc, id desc limit ? offset ?`,
    ...values,
    limit,
    offset,
  );
}
