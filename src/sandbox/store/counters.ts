/** Numbers that go up by one, kept in the store and rolled back with what used them. */

import { type Listed, listed, type Page } from './ledger.ts';
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

// Statements on `advances`: who is moving the clock forward, at most one, and where to.

interface Advance {
  readonly owner: string;
  readonly token: string;
  /** ms UTC on the clock of the sandbox. */
  readonly moves_to: number;
}

/** Whether a process, by its name, has ended for sure. */
type IsGone = (owner: string) => boolean;

const advanceOf = (sql: Sql, account: string) =>
  sql.get<Advance>('select owner, token, moves_to from advances where account_id = ?', account);

/** Whether somebody moves the clock; one that is gone moves it no more. */
export async function isAdvanceRunning(sql: Sql, account: string, isGone: IsGone): Promise<boolean> {
  const found = await advanceOf(sql, account);
  return found !== undefined && !isGone(found.owner);
}

/** Where a clock was to go whose mover is gone, ms UTC; undefined where nobody left it on its way. */
export async function abandonedAdvance(sql: Sql, account: string, isGone: IsGone): Promise<number | undefined> {
  const found = await advanceOf(sql, account);
  return found !== undefined && isGone(found.owner) ? found.moves_to : undefined;
}

/** Where the clock is being moved to, by whomever, ms UTC. */
export async function advanceTarget(sql: Sql, account: string): Promise<number | undefined> {
  return (await advanceOf(sql, account))?.moves_to;
}

/** Whether the clock is still this mover's to move. */
export async function keepsAdvance(sql: Sql, account: string, token: string): Promise<boolean> {
  return (await advanceOf(sql, account))?.token === token;
}

/** Takes the clock, also from one that is gone; the caller has looked before, in the same transaction. */
export async function beginAdvance(sql: Sql, account: string, { owner, token, moves_to }: Advance): Promise<void> {
  await forgetAdvance(sql, account);
  await sql.run(
    'insert into advances (account_id, owner, token, moves_to) values (?, ?, ?, ?)',
    account,
    owner,
    token,
    moves_to,
  );
}

/** What was left on its way is not gone on with: the clock was set otherwise. */
export const forgetAdvance = (sql: Sql, account: string) =>
  sql.run('delete from advances where account_id = ?', account);

/** Lets the clock go, unless somebody else has it meanwhile. */
export const endAdvance = (sql: Sql, account: string, token: string) =>
  sql.run('delete from advances where account_id = ? and token = ?', account, token);

// Pages of what happens by itself: timers, those that failed, and deliveries that are queued.

interface TimerRow {
  /** ms UTC on the clock of the sandbox. */
  readonly due_at: number;
  readonly kind: string;
  readonly ref: string;
  /** Why it could not happen, of a parked one. */
  readonly error: string | null;
}

/** Earliest first; those that failed come first of all, because they wait for nobody. */
export function timersInOrder(sql: Sql, account: string, page: Page): Promise<Listed<TimerRow>> {
  const from = `(select due_at, kind, ref, error, 0 as later from parked_timers where account_id = ?
    union all select due_at, kind, ref, null, 1 from timers where account_id = ?
    union all select due_at, 'delivery', id, null, 1 from deliveries where account_id = ? and state = 'queued') t`;
  const query = {
    columns: 'due_at, kind, ref, error',
    from,
    order: 'later, due_at, kind, ref',
    values: [account, account, account],
  };
  return listed<TimerRow>(sql, query, page);
}
