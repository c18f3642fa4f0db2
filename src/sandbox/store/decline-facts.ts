/** Statements on `decline_facts`: what a decline was judged by, JSON text. */
import type { Sql } from './sql.ts';

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
