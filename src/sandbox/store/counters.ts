/** Numbers that go up by one, kept in the store and rolled back with what used them. */
import type { Sql } from './sql.ts';

/** The next number of `name`, from 1. */
export function nextCount(sql: Sql, account: string, name: string): Promise<number> {
  return takeCounts(sql, account, { name, count: 1 });
}

/** Takes the next `count` numbers of `name` at once; resolves to the last of them. */
export async function takeCounts(
  sql: Sql,
  account: string,
  { name, count }: { readonly name: string; readonly count: number },
): Promise<number> {
  const row = await sql.get<{ value: number }>(
    `insert into counters (account_id, name, value) values (?, ?, ?)
     on conflict (account_id, name) do update set value = counters.value + excluded.value returning value`,
    account,
    name,
    count,
  );
  if (row === undefined) throw new Error(`the counter ${name} gave no number`);
  return row.value;
}
