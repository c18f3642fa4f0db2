/** Numbers that go up by one, kept in the store and rolled back with what used them. */

import type { Sql } from './sql.ts';

/** The next number of `name`, from 1. */
export const nextCount = (sql: Sql, name: string) => takeCounts(sql, { name, count: 1 });

/** Takes the next `count` numbers of `name` at once; resolves to the last of them. */
export async function takeCounts(
  sql: Sql,
  { name, count }: { readonly name: string; readonly count: number },
): Promise<number> {
  const row = await sql.get<{ value: number }>(
    `insert into counters (name, value) values (?, ?)
     on conflict (name) do update set value = counters.value + excluded.value returning value`,
    name,
    count,
  );
  if (row === undefined) throw new Error(`the counter ${name} gave no number`);
  return row.value;
}

// Statements on `advances`: who is moving the clock forward, at most one, and where to.

interface Advance {
  readonly owner: string;
  readonly token: string;
  /** ms UTC on the clock of the sandbox. */
  readonly moves_to: number;
}

/** Whether a process, by its name, has ended for sure. */
type IsGone = (owner: string) => boolean;

const advanceOf = (sql: Sql) => sql.get<Advance>('select owner, token, moves_to from advances');

/** Whether somebody moves the clock; one that is gone moves it no more. */
export async function isAdvanceRunning(sql: Sql, isGone: IsGone): Promise<boolean> {
  const found = await advanceOf(sql);
  return found !== undefined && !isGone(found.owner);
}

/** Where a clock was to go whose mover is gone, ms UTC; undefined where nobody left it on its way. */
export async function abandonedAdvance(sql: Sql, isGone: IsGone): Promise<number | undefined> {
  const found = await advanceOf(sql);
  return found !== undefined && isGone(found.owner) ? found.moves_to : undefined;
}

/** Where the clock is being moved to, by whomever, ms UTC. */
export const advanceTarget = async (sql: Sql) => (await advanceOf(sql))?.moves_to;

/** Whether the clock is still this mover's to move. */
export const keepsAdvance = async (sql: Sql, token: string) => (await advanceOf(sql))?.token === token;

/** Takes the clock, also from one that is gone; the caller has looked before, in the same transaction. */
export async function beginAdvance(sql: Sql, advance: Advance): Promise<void> {
  await forgetAdvance(sql);
  await sql.insert('advances', advance);
}

/** What was left on its way is not gone on with: the clock was set otherwise. */
export const forgetAdvance = (sql: Sql) => sql.run('delete from advances');

/** Lets the clock go, unless somebody else has it meanwhile. */
export const endAdvance = (sql: Sql, token: string) => sql.run('delete from advances where token = ?', token);
