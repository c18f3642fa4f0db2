/** Statements on `transactions`. */
import type { DECLINE_REASONS, TRANSACTION_TYPES } from '../../contract/resources.ts';
import type { Cents } from '../../core/money.ts';
import type { Sql, SqlValue } from './sql.ts';

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

interface TransactionFilter {
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

// Statements on `decline_facts`: what a decline was judged by, JSON text.

export const keepDeclineFacts = (sql: Sql, account: string, transaction: string, facts: string) =>
  sql.run(
    'insert into decline_facts (account_id, transaction_id, facts) values (?, ?, ?)',
    account,
    transaction,
    facts,
  );

/** Undefined for a decline of an older cardwright, and of a data set that was written in bulk. */
export async function declineFacts(sql: Sql, account: string, transaction: string): Promise<string | undefined> {
  const row = await sql.get<{ facts: string }>(
    'select facts from decline_facts where account_id = ? and transaction_id = ?',
    account,
    transaction,
  );
  return row?.facts;
}

// Statements of the dialect `strict-freeze`: settlements that wait until their card is unfrozen.

interface WaitingRow {
  readonly position: number;
  readonly authorization_id: string;
  readonly card_id: string;
  readonly amount: Cents;
  readonly final: number;
}

export const insertWaiting = (sql: Sql, account: string, row: WaitingRow) =>
  sql.run(
    `insert into waiting_settlements (account_id, position, authorization_id, card_id, amount, final)
     values (?, ?, ?, ?, ?, ?)`,
    account,
    row.position,
    row.authorization_id,
    row.card_id,
    row.amount,
    row.final,
  );

/** Takes out those of a card, in the order they came. */
export async function takeWaiting(sql: Sql, account: string, card: string): Promise<readonly WaitingRow[]> {
  const rows = await sql.all<WaitingRow>(
    `select position, authorization_id, card_id, amount, final from waiting_settlements
     where account_id = ? and card_id = ? order by position`,
    account,
    card,
  );
  if (rows.length > 0) {
    await sql.run('delete from waiting_settlements where account_id = ? and card_id = ?', account, card);
  }
  return rows;
}

// Statements of the dialect `auth-single`: a purchase as one record that changes (A-40, column "Also").

/** A record as it is shown: its kind is what became of the purchase. */
export interface SingleRow extends TransactionRow {
  readonly shown_type: TransactionType;
}

const SHOWN = `case when type <> 'authorization' then type when refunded > 0 and refunded = settled then 'refund'
  when settled > 0 then 'settlement' else 'authorization' end`;
const SINGLE_COLUMNS = `id, card_id, type, status, amount, merchant, mcc, merchant_country, authorization_id, decline_reason,
  created_at, held, settled, excess, released, refunded, ${SHOWN} as shown_type`;

interface SingleFilter {
  readonly card_id?: string | undefined;
  readonly type?: string | undefined;
  /** ms, both inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export async function singleRecords(
  sql: Sql,
  account: string,
  { filter, limit, offset }: { filter: SingleFilter; limit: number; offset: number },
): Promise<{ readonly rows: readonly SingleRow[]; readonly total: number }> {
  const wanted: readonly (readonly [string, SqlValue | undefined])[] = [
    ['account_id = ?', account],
    ['card_id = ?', filter.card_id],
    [`${SHOWN} = ?`, filter.type],
    ['created_at >= ?', filter.from],
    ['created_at <= ?', filter.to],
  ];
  const given = wanted.filter((entry): entry is readonly [string, SqlValue] => entry[1] !== undefined);
  const where = `${given.map(([text]) => text).join(' and ')} and authorization_id is null`;
  const values = given.map(([, value]) => value);
  const counted = await sql.get<{ total: number }>(
    `select count(*) as total from transactions where ${where}`,
    ...values,
  );
  const rows = await sql.all<SingleRow>(
    `select ${SINGLE_COLUMNS} from transactions where ${where} order by created_at desc, id desc limit ? offset ?`,
    ...values,
    limit,
    offset,
  );
  return { rows, total: counted?.total ?? 0 };
}

export const singleRecord = (sql: Sql, account: string, id: string) =>
  sql.get<SingleRow>(`select ${SINGLE_COLUMNS} from transactions where account_id = ? and id = ?`, account, id);
