/** Pages of what happens by itself: timers, those that failed, and deliveries that are queued. */
import { type Listed, listed, type Page } from './ledger-pages.ts';
import type { Sql } from './sql.ts';

export interface TimerRow {
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
