/**
 * Events and what is to be delivered of them, written in the transaction that caused them: no event without
 * its effect, no effect without its event. Sending is somebody else's business.
 */
import { EVENTS, type EventName } from '../../contract/events.ts';
import { encodedText } from '../calls/encoded.ts';
import type { IdSource } from '../calls/handler.ts';
import { wireObject } from '../calls/sealed.ts';
import { isoTime } from '../rules/dates.ts';
import type { Sql } from '../store/sql.ts';
import { activeWebhooks } from '../store/webhooks.ts';
import { enqueue } from './enqueue.ts';

export interface Outbox {
  readonly sql: Sql;
  readonly account: string;
  /** ms UTC on the clock of the sandbox. */
  readonly now: number;
  readonly idSource: IdSource;
}

/** Records one event, its exact bytes, and a delivery due now for each active subscription that asked for it. */
export async function recordEvent(
  { sql, account, now, idSource }: Outbox,
  event: EventName,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const id = await idSource.id('evt');
  const text = encodedText(data) ?? JSON.stringify(wireObject(EVENTS[event].data, data));
  const body = `{"id":${JSON.stringify(id)},"type":"${event}","created_at":"${isoTime(now)}","data":${text}}`;
  const seq = await insertEvent(sql, account, { id, type: event, created_at: now, body });
  for (const webhook of await activeWebhooks(sql, account)) {
    if (!wants(webhook.events, event)) continue;
    const content = { seq };
    await enqueue(
      { sql, account, now, idSource },
      { webhook_id: webhook.id, event_id: id, event_type: event, content },
    );
  }
}

interface EventRow {
  readonly id: string;
  readonly type: EventName;
  readonly created_at: number;
  readonly body: string;
}

const EVENTS_TABLE = {
  table: 'events',
  columns: ['account_id', 'seq', 'id', 'type', 'created_at', 'body'],
  number: 'seq',
};

/** Numbered in the same transaction, so that an account's events have no gap (I14); resolves to the number. */
async function insertEvent(sql: Sql, account: string, { id, type, created_at, body }: EventRow): Promise<number> {
  const seq = await sql.next(EVENTS_TABLE, account);
  await sql.append(EVENTS_TABLE, account, seq, id, type, created_at, body);
  return seq;
}

function wants(list: string, event: EventName): boolean {
  const names = JSON.parse(list) as readonly string[];
  return names.includes('*') || names.includes(event);
}
