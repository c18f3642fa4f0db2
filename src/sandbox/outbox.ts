/**
 * Events and what is to be delivered of them, written in the transaction that caused them: no event without
 * its effect, no effect without its event. Sending is somebody else's business.
 */
import { EVENTS, type EventName } from '../contract/events.ts';
import { nextCount } from './counters.ts';
import { enqueue } from './delivery/enqueue.ts';
import type { Chance } from './handler.ts';
import { isoTime } from './rules/dates.ts';
import { wireObject } from './sealed.ts';
import type { Sql } from './store/sql.ts';
import { activeWebhooks } from './store/webhooks.ts';

export interface Outbox {
  readonly sql: Sql;
  readonly account: string;
  /** ms UTC on the clock of the sandbox. */
  readonly now: number;
  readonly chance: Chance;
}

/** Records one event, its exact bytes, and a delivery due now for each active subscription that asked for it. */
export async function recordEvent(
  { sql, account, now, chance }: Outbox,
  event: EventName,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const id = await chance.id('evt');
  // Counted in the same transaction, so that an account's events have no gap (I14).
  const seq = await nextCount(sql, account, 'event seq');
  const body = JSON.stringify({
    id,
    type: event,
    created_at: isoTime(now),
    data: wireObject(EVENTS[event].data, data),
  });
  await sql.run(
    'insert into events (account_id, seq, id, type, created_at, body) values (?, ?, ?, ?, ?, ?)',
    account,
    seq,
    id,
    event,
    now,
    body,
  );
  for (const webhook of await activeWebhooks(sql, account)) {
    if (!wants(webhook.events, event)) continue;
    const content = { seq };
    await enqueue({ sql, account, now, chance }, { webhook_id: webhook.id, event_id: id, event_type: event, content });
  }
}

function wants(list: string, event: EventName): boolean {
  const names = JSON.parse(list) as readonly string[];
  return names.includes('*') || names.includes(event);
}
