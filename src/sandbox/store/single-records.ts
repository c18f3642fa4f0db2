/** Statements of the dialect `auth-single`: a purchase as one record that changes (A-40, column "Also"). */
import type { Sql, SqlValue } from './sql.ts';
import type { TransactionRow, TransactionType } from './transactions.ts';

/** A record as it is shown: its kind is what became of the purchase. */
export interface SingleRow extends TransactionRow {
  readonly shown_type: TransactionType;
}

const SHOWN = `case when type <> 'authorization' then type when refunded > 0 and refunded = settled then 'refund'
  when settled > 0 then 'settlement' else 'authorization' end`;
const COLUMNS = `id, card_id, type, status, amount, merchant, mcc, merchant_country, authorization_id, decline_reason,
  created_at, held, settled, excess, released, refunded, ${SHOWN} as shown_type`;

export interface SingleFilter {
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
    `select ${COLUMNS} from transactions where ${where} order by created_at desc, id desc limit ? offset ?`,
    ...values,
    limit,
    offset,
  );
  return { rows, total: counted?.total ?? 0 };
}

export const singleRecord = (sql: Sql, account: string, id: string) =>
  sql.get<SingleRow>(`select ${COLUMNS} from transactions where account_id = ? and id = ?`, account, id);
