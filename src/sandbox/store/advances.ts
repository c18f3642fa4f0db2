/** Statements on `advances`: who is moving the clock forward, at most one. */
import type { Sql } from './sql.ts';

export const advanceRunning = (sql: Sql, account: string) =>
  sql.get<{ readonly owner: string; readonly token: string }>(
    'select owner, token from advances where account_id = ?',
    account,
  );

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
