/** timers: what happens by itself, and what could not. */
import { pageFacts } from '../handlers/paging.ts';
import { isoTime } from '../rules/dates.ts';
import type { MomentHandler } from '../service/service.ts';
import { timersInOrder } from '../store/timer-pages.ts';

/** Queued deliveries too: moving the clock makes their attempts due in the same way. */
export const listTimers: MomentHandler<'timers'> = async (
  { sql, account, now },
  { page = 1, per_page: limit = 50 },
) => {
  const { rows, total } = await timersInOrder(sql, account, { limit, offset: (page - 1) * limit });
  const data = rows.map(({ due_at, kind, ref, error }) => ({
    due_at: isoTime(due_at),
    kind,
    ref,
    state: error !== null ? ('parked' as const) : due_at <= now ? ('due' as const) : ('waiting' as const),
    error,
  }));
  return { data, page: pageFacts(page, limit, total) };
};
