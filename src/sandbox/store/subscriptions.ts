/** Subscriptions with the number of their deliveries by state. */
import type { Sql } from './sql.ts';

export interface CountedSubscription {
  readonly id: string;
  readonly url: string;
  /** JSON list. */
  readonly events: string;
  readonly status: 'active' | 'disabled';
  readonly created_at: number;
  readonly failing_since: number | null;
  readonly waiting: number;
  readonly delivered: number;
  readonly failed: number;
}

const STATEMENT = `select w.id, w.url, w.events, w.status, w.created_at, w.failing_since,
    count(case when d.state in ('queued', 'sending') then 1 end) as waiting,
    count(case when d.state = 'delivered' then 1 end) as delivered,
    count(case when d.state in ('failed', 'cancelled') then 1 end) as failed
  from webhooks w left join deliveries d on d.account_id = w.account_id and d.webhook_id = w.id
  where w.account_id = ?
  group by w.id, w.url, w.events, w.status, w.created_at, w.failing_since
  order by w.created_at desc, w.id desc`;

/** Newest first. */
export const subscriptionsWithCounts = (sql: Sql, account: string) => sql.all<CountedSubscription>(STATEMENT, account);

/** How many deliveries go to. */
export async function countActiveSubscriptions(sql: Sql, account: string): Promise<number> {
  const text = `select count(*) as n from webhooks where account_id = ? and status = 'active'`;
  return (await sql.get<{ n: number }>(text, account))?.n ?? 0;
}
