/**
 * Reads authorizations again that may have changed since: those that are pending here, and those that a new settlement
 * or refund names. The service tells neither when a record changed nor one record alone, so spans around them are read.
 */
import { SECOND } from '../core/durations.ts';
import type { SyncRun } from './run.ts';
import { IS_PENDING } from './schema.ts';
import type { Span } from './store-records.ts';
import { AIM_PAGES, PAGE_ROWS, readWindow } from './windows.ts';

/** `since`: the closed windows of this run began there; everything from there on has just been read. */
export async function readLateUpdates(run: SyncRun, since: number): Promise<void> {
  for (const span of spansOf(run, dueTimes(run, since))) await readWindow(run, span, { type: 'authorization' });
}

/** Times of the authorizations before `since` that may have changed, ms, oldest first. */
export function dueTimes({ db, end, sync }: SyncRun, since: number): number[] {
  const finished = db.number('finished_sync') ?? 0;
  const rows = db.all<{ at_ms: number }>(
    `select at_ms from record
      where ${IS_PENDING} and gone_at is null and at_ms < ?
    union
    select a.at_ms from record s join record a on a.tx_id = s.authorization_id
      where s.first_sync > ? and s.type in ('settlement', 'refund') and a.type = 'authorization'
        and a.gone_at is null and (a.at_ms < ? or s.at_ms >= ?) and (s.first_sync = ? or a.status is not 'settled')
    order by 1`,
    since,
    finished,
    since,
    end,
    sync,
  );
  return rows.map(({ at_ms }) => at_ms);
}

/** Spans that hold them all: neighbours share one page; never more pages than everything since the oldest has. */
function spansOf({ db, end }: SyncRun, times: readonly number[]): Span[] {
  const [oldest] = times;
  if (oldest === undefined) return [];
  const between = (from: number, to: number) =>
    db.get<{ count: number }>(
      `select count(*) as count from record where type = 'authorization' and gone_at is null and at_ms between ? and ?`,
      from,
      to,
    )?.count ?? 0;
  const groups: { from: number; to: number }[] = [];
  for (const at of times) {
    const last = groups.at(-1);
    if (last !== undefined && between(last.from, at) <= PAGE_ROWS) last.to = at;
    else groups.push({ from: at, to: at });
  }
  const all = Math.ceil(between(oldest, end) / PAGE_ROWS);
  return (groups.length <= all ? groups : everything(db, oldest, end)).map(wholeSeconds);
}

/** All authorizations since a time, in spans of as many pages as a window aims at. */
function everything(db: SyncRun['db'], from: number, to: number): { from: number; to: number }[] {
  const starts = db.all<{ at_ms: number }>(
    `select at_ms from (
      select at_ms, row_number() over (order by at_ms) as number from record
        where type = 'authorization' and gone_at is null and at_ms between ? and ?
    ) where number % ? = 1 order by at_ms`,
    from,
    to,
    AIM_PAGES * PAGE_ROWS,
  );
  return starts.map(({ at_ms }, index) => ({ from: at_ms, to: starts[index + 1]?.at_ms ?? to }));
}

/** Services may keep parts of a ms, or checkpoint times to the second. */
function wholeSeconds({ from, to }: Span): Span {
  const floor = (ms: number) => Math.floor(ms / SECOND) * SECOND;
  return { from: floor(from) - 1, to: floor(to) + 2 * SECOND - 1 };
}
