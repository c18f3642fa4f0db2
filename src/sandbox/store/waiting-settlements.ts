/** Statements of the dialect `strict-freeze`: settlements that wait until their card is unfrozen. */
import type { Cents } from '../../core/money.ts';
import type { Sql } from './sql.ts';

export interface WaitingRow {
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
