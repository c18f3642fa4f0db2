/** How often a store was written to: by this connection, and by others. */
import type { Sql } from './sql.ts';

export interface ChangeCount {
  /** Rows that this connection wrote so far. */
  readonly own: number;
  /** Another number after every commit of another connection. */
  readonly others: number;
  /** Fault rules that can still happen. */
  readonly faults: number;
  /** JSON list of what did not hold when the books were last looked through; null when nobody did. */
  readonly checked: string | null;
}

const FACTS = `select total_changes() as own, (select data_version from pragma_data_version) as others,
  (select count(*) from faults where account_id = ? and (times is null or struck < times)
    and (expires_at is null or expires_at > ?)) as faults,
  (select faults from ledger_checks where account_id = ?) as checked`;

/** `now` is the clock of the sandbox, ms UTC. */
export async function changeCount(sql: Sql, account: string, now: number): Promise<ChangeCount> {
  const row = await sql.get<ChangeCount>(FACTS, account, now, account);
  if (row === undefined) throw new Error('the store says nothing about itself');
  return row;
}
