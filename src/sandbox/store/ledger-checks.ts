/** When the books were last looked through, and what was found. */
import type { Sql } from './sql.ts';

export interface LastCheck {
  /** ms, on the clock of the sandbox. */
  readonly at: number;
  /** What did not hold, a line each; empty when all was well. */
  readonly faults: readonly string[];
}

/** Undefined when nobody looked since the sandbox was made, started over or put back. */
export async function lastCheck(sql: Sql, account: string): Promise<LastCheck | undefined> {
  const row = await sql.get<{ at: number; faults: string }>(
    'select at, faults from ledger_checks where account_id = ?',
    account,
  );
  return row && { at: row.at, faults: JSON.parse(row.faults) as string[] };
}

export async function keepCheck(sql: Sql, account: string, { at, faults }: LastCheck): Promise<void> {
  await sql.run(
    `insert into ledger_checks (account_id, at, faults) values (?, ?, ?)
      on conflict (account_id) do update set at = excluded.at, faults = excluded.faults`,
    account,
    at,
    JSON.stringify(faults),
  );
}

/** What was found is no longer true of what the store holds. */
export async function forgetCheck(sql: Sql, account: string): Promise<void> {
  await sql.run('delete from ledger_checks where account_id = ?', account);
}
