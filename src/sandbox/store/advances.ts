/** Statements on `advances`: who is moving the clock forward, at most one. PostgreSQL, which has more than one machine, knows by a lease how long that is believed. */
import type { Sql } from './sql.ts';

interface Advance {
  readonly owner: string;
  readonly token: string;
  /** Real time, ms UTC; null where it lasts as long as its process. */
  readonly lease_until: number | null;
}

/** What decides whether a mover is there still. */
interface Belief {
  readonly isGone: (owner: string) => boolean;
  /** Real time, ms UTC. */
  readonly real: number;
}

/** Real ms that a mover is believed in without a sign of life. */
const LEASE = 10_000;

const leaseOf = ({ engine }: Sql) => (engine === 'postgres' ? 'lease_until' : 'null as lease_until');

/** Who moves the clock. One that is gone, or silent for longer than its lease, moves it no more. */
export async function advanceRunning(
  sql: Sql,
  account: string,
  { isGone, real }: Belief,
): Promise<Advance | undefined> {
  const text = `select owner, token, ${leaseOf(sql)} from advances where account_id = ?`;
  const found = await sql.get<Advance>(text, account);
  if (found === undefined || isGone(found.owner)) return undefined;
  return found.lease_until !== null && found.lease_until <= real ? undefined : found;
}

interface Mover {
  readonly owner: string;
  readonly token: string;
  /** Real time, ms UTC. */
  readonly real: number;
}

/** Whether the clock is still this mover's to move. Its lease, where there is one, begins anew. */
export async function keepsAdvance(sql: Sql, account: string, { token, real }: Omit<Mover, 'owner'>): Promise<boolean> {
  if (sql.engine === 'sqlite') {
    const text = 'select token from advances where account_id = ? and token = ?';
    return (await sql.get(text, account, token)) !== undefined;
  }
  const text = 'update advances set lease_until = ? where account_id = ? and token = ?';
  return (await sql.run(text, real + LEASE, account, token)) === 1;
}

/** Takes the clock, also from one that is gone; the caller has looked before, in the same transaction. */
export async function beginAdvance(sql: Sql, account: string, { owner, token, real }: Mover): Promise<void> {
  await sql.run('delete from advances where account_id = ?', account);
  const [column, place, lease] = sql.engine === 'postgres' ? [', lease_until', ', ?', [real + LEASE]] : ['', '', []];
  const text = `insert into advances (account_id, owner, token${column}) values (?, ?, ?${place})`;
  await sql.run(text, account, owner, token, ...lease);
}

/** Lets the clock go, unless somebody else has it meanwhile. */
export const endAdvance = (sql: Sql, account: string, token: string) =>
  sql.run('delete from advances where account_id = ? and token = ?', account, token);
