/** Statements on `advances`: who is moving the clock forward, at most one. PostgreSQL, which has more than one machine, knows by a lease how long that is believed. */
import type { Sql } from './sql.ts';

interface Advance {
  readonly owner: string;
  readonly token: string;
  /** Real time, ms UTC; undefined where it lasts as long as its process. */
  readonly lease_until?: number;
}

/** Real ms that a mover is believed in without a sign of life. */
const LEASE = 10_000;

export const advanceRunning = (sql: Sql, account: string) =>
  sql.get<Advance>(
    `select owner, token${sql.engine === 'postgres' ? ', lease_until' : ''} from advances where account_id = ?`,
    account,
  );

/** Lets the lease begin anew, where there is one. */
export async function renewAdvance(sql: Sql, account: string, { token, real }: { token: string; real: number }) {
  if (sql.engine === 'sqlite') return;
  await sql.run('update advances set lease_until = ? where account_id = ? and token = ?', real + LEASE, account, token);
}

/** Takes the clock, also from one that is gone; the caller has looked before, in the same transaction. */
export const beginAdvance = (sql: Sql, account: string, mine: { owner: string; token: string }) =>
  sql.run(
    `insert into advances (account_id, owner, token) values (?, ?, ?)
     on conflict (account_id) do update set owner = excluded.owner, token = excluded.token`,
    account,
    mine.owner,
    mine.token,
  );

/** Lets the clock go, unless somebody else has it meanwhile. */
export const endAdvance = (sql: Sql, account: string, token: string) =>
  sql.run('delete from advances where account_id = ? and token = ?', account, token);
