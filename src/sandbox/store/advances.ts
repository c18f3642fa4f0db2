/** Statements on `advances`: who is moving the clock forward, at most one, and where to. */
import type { Sql } from './sql.ts';

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
