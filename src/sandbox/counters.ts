/** Numbers that go up by one, kept in the store and rolled back with what used them. */
import type { Sql } from './store/sql.ts';

/** The next number of `name`, from 1. */
export async function nextCount(sql: Sql, account: string, name: string): Promise<number> {
  const row = await sql.get<{ value: number }>(
    `insert into counters (account_id, name, value) values (?, ?, 1)
     on conflict (account_id, name) do update set value = counters.value + 1 returning value`,
    account,
    name,
  );
  if (row === undefined) throw new Error(`the counter ${name} gave no number`);
  return row.value;
}
