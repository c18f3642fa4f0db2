/** events: what was told, in the order of its numbers. */
import { pageFacts } from '../handlers/paging.ts';
import { isoTime } from '../rules/dates.ts';
import type { MomentHandler } from '../service/service.ts';
import { eventsInOrder } from '../store/ledger-pages.ts';

export const listEvents: MomentHandler<'events'> = async ({ sql, account }, input) => {
  const { page = 1, per_page: limit = 100, ...wanted } = input;
  const { rows, total } = await eventsInOrder(sql, account, { ...wanted, limit, offset: (page - 1) * limit });
  const data = rows.map(row => ({ ...row, created_at: isoTime(row.created_at) }));
  return { data, page: pageFacts(page, limit, total) };
};
