/** webhooks: subscriptions, and how their deliveries went. */
import { isoTime } from '../rules/dates.ts';
import type { MomentHandler } from '../service/service.ts';
import { subscriptionsWithCounts } from '../store/subscriptions.ts';

/** Of an address where it leads to alone: its path or query may be a password. */
export const listSubscriptions: MomentHandler<'webhooks'> = async ({ sql, account }) => {
  const rows = await subscriptionsWithCounts(sql, account);
  const data = rows.map(({ url, events, created_at, failing_since, ...row }) => ({
    ...row,
    address: new URL(url).origin,
    events: JSON.parse(events) as readonly string[],
    created_at: isoTime(created_at),
    failing_since: failing_since === null ? null : isoTime(failing_since),
  }));
  return { data, page: {} };
};
