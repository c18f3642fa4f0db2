/** Puts deliveries into the queue: of events, once more, and of examples. */
import { EVENTS, type EventName } from '../../contract/events.ts';
import type { SignedWith } from '../../contract/sandbox/deliveries.ts';
import { encodedText, type IdSource, wireObject } from '../calls/handler.ts';
import { isoTime } from '../rules/dates.ts';
import { activeWebhooks, type DeliveryRow } from '../store/deliveries.ts';
import { nextCount, type Sql } from '../store/sql.ts';

interface Queueing {
  readonly sql: Sql;
  /** ms UTC on the clock of the sandbox: due now. */
  readonly now: number;
  readonly idSource: Pick<IdSource, 'id'>;
}

interface ToDeliver {
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event_type: EventName;
  /** Number of the event whose bytes are sent, or the bytes of an example. */
  readonly content: { readonly seq: number } | { readonly body: string };
  /** Its body was written by hand. */
  readonly edited?: boolean | undefined;
  readonly sign?: SignedWith | undefined;
  /** The faults let it pass: it is the work of one. */
  readonly untouched?: true;
}

/** Queues one delivery; it may go as soon as the transaction is committed. */
export function enqueue(
  { sql, now, idSource }: Queueing,
  { webhook_id, event_id, event_type, content, edited, sign, untouched }: ToDeliver,
): DeliveryRow {
  const row: DeliveryRow = {
    id: idSource.id('dlv'),
    position: nextCount(sql, 'delivery position'),
    webhook_id,
    event_id,
    event_type,
    event_seq: 'seq' in content ? content.seq : null,
    state: 'queued',
    attempt: 0,
    created_at: now,
    due_at: now,
    faults_asked: untouched ? 1 : 0,
    behind: 0,
    held_until: null,
    edited: edited === true ? 1 : null,
    sign: sign === undefined || sign === 'right' ? null : sign,
  };
  sql.insert('deliveries', { ...row, body: 'body' in content ? content.body : null });
  return row;
}

// Events and what is to be delivered of them, written in the transaction that caused them: no event without its effect, no effect without its event. Sending is somebody else's business.

interface Outbox {
  readonly sql: Sql;
  /** ms UTC on the clock of the sandbox. */
  readonly now: number;
  readonly idSource: IdSource;
}

/** Records one event, its exact bytes, and a delivery due now for each active subscription that asked for it. */
export function recordEvent(
  { sql, now, idSource }: Outbox,
  event: EventName,
  data: Readonly<Record<string, unknown>>,
): void {
  const id = idSource.id('evt');
  const text = encodedText(data) ?? JSON.stringify(wireObject(EVENTS[event].data, data));
  const body = `{"id":${JSON.stringify(id)},"type":"${event}","created_at":"${isoTime(now)}","data":${text}}`;
  // Numbered in the same transaction, so that events have no gap (I14).
  const seq = sql.insert('events', { id, type: event, created_at: now, body });
  for (const webhook of activeWebhooks(sql)) {
    if (!wants(webhook.events, event)) continue;
    const content = { seq };
    enqueue({ sql, now, idSource }, { webhook_id: webhook.id, event_id: id, event_type: event, content });
  }
}

function wants(list: string, event: EventName): boolean {
  const names = JSON.parse(list) as readonly string[];
  return names.includes('*') || names.includes(event);
}
