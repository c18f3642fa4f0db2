/**
 * Statements on `advances`: who is moving the clock forward, at most one, and until when. PostgreSQL, which has more than
 * one machine, knows by a lease how long that is believed.
 */
import type { Sql } from './sql.ts';

interface Advance {
  readonly owner: string;
  readonly token: string;
  /** Real time, ms UTC; null where it lasts as long as its process. */
  readonly lease_until: number | null;
  /** Where the clock is moved to, ms UTC on the clock of the sandbox; null in rows of schema 8 and before. */
  readonly moves_to: number | null;
}

/** What decides whether a mover is there still. */
interface Belief {
  readonly isGone: (owner: string) => boolean;
  /** Real time, ms UTC. */
  readonly real: number;
}

/** Real ms that a mover is believed in without a sign of life. */
export const LEASE = 10_000;

const leaseOf = ({ engine }: Sql) => (engine === 'postgres' ? 'lease_until' : 'null as lease_until');

async function advanceOf(sql: Sql, account: string): Promise<Advance | undefined> {
  const text = `select owner, token, moves_to, ${leaseOf(sql)} from advances where account_id = ?`;
  return sql.get<Advance>(text, account);
}

const isBelieved = ({ owner, lease_until }: Advance, { isGone, real }: Belief): boolean =>
  !isGone(owner) && (lease_until === null || lease_until > real);

/** Who moves the clock. One that is gone, or silent for longer than its lease, moves it no more. */
export async function advanceRunning(sql: Sql, account: string, belief: Belief): Promise<Advance | undefined> {
  const found = await advanceOf(sql, account);
  return found !== undefined && isBelieved(found, belief) ? found : undefined;
}

/** Where a clock was to go whose mover is gone or silent, ms UTC; undefined where nobody left it on its way. */
export async function abandonedAdvance(sql: Sql, account: string, belief: Belief): Promise<number | undefined> {
  const found = await advanceOf(sql, account);
  return found === undefined || isBelieved(found, belief) ? undefined : (found.moves_to ?? undefined);
}

/** Where the clock is being moved to, by whomever, ms UTC. */
export async function advanceTarget(sql: Sql, account: string): Promise<number | undefined> {
  return (await advanceOf(sql, account))?.moves_to ?? undefined;
}

interface Mover {
  readonly owner: string;
  readonly token: string;
  /** Real time, ms UTC. */
  readonly real: number;
  /** Where to, ms UTC on the clock of the sandbox. */
  readonly to: number;
}

/** Whether the clock is still this mover's to move. Its lease, where there is one, begins anew. */
export async function keepsAdvance(
  sql: Sql,
  account: string,
  { token, real }: Omit<Mover, 'owner' | 'to'>,
): Promise<boolean> {
  if (sql.engine === 'sqlite') {
    const text = 'select token from advances where account_id = ? and token = ?';
    return (await sql.get(text, account, token)) !== undefined;
  }
  const text = 'update advances set lease_until = ? where account_id = ? and token = ?';
  return (await sql.run(text, real + LEASE, account, token)) === 1;
}

/** Takes the clock, also from one that is gone; the caller has looked before, in the same transaction. */
export async function beginAdvance(sql: Sql, account: string, { owner, token, real, to }: Mover): Promise<void> {
  await forgetAdvance(sql, account);
  const [column, place, lease] = sql.engine === 'postgres' ? [', lease_until', ', ?', [real + LEASE]] : ['', '', []];
  const text = `insert into advances (account_id, owner, token, moves_to${column}) values (?, ?, ?, ?${place})`;
  await sql.run(text, account, owner, token, to, ...lease);
}

/** What was left on its way is not gone on with: the clock was set otherwise. */
export const forgetAdvance = (sql: Sql, account: string) =>
  sql.run('delete from advances where account_id = ?', account);

/** Lets the clock go, unless somebody else has it meanwhile. */
export const endAdvance = (sql: Sql, account: string, token: string) =>
  sql.run('delete from advances where account_id = ? and token = ?', account, token);
