/** What goes to subscriptions: examples, events, deliveries in the queue. */
import { EVENTS, type EventName } from '../../contract/events.ts';
import { EXAMPLES } from '../../contract/examples.ts';
import { namedShape } from '../../contract/named-shapes.ts';
import type { SignedWith } from '../../contract/sandbox/deliveries.ts';
import { type Call, type Fields, wireObject } from '../calls/handler.ts';
import { isoTime } from '../rules/dates.ts';
import { activeWebhooks, type DeliveryRow, deliveryBody } from '../store/rows.ts';
import { nextCount } from '../store/sql.ts';

// A made-up payload for each event, as it looks after the change the event tells of.

const AUTHORIZATION = EXAMPLES['Transaction']?.['id'];

/** What differs from the example of the object. */
const AFTER: Readonly<Partial<Record<EventName, Fields>>> = {
  'card.frozen': { status: 'frozen' },
  'card.terminated': { status: 'terminated', balance: 0 },
  'transaction.settled': {
    id: 'txn_onsxi5dmmvsa2zlymftha3df',
    type: 'settlement',
    status: 'completed',
    authorization_id: AUTHORIZATION,
  },
  'transaction.declined': {
    id: 'txn_mrswg3djnzswizlymftha3df',
    type: 'decline',
    status: 'declined',
    decline_reason: 'spending_limit_exceeded',
  },
  'transaction.refunded': {
    id: 'txn_ojswm5lomrswizlymftha3df',
    type: 'refund',
    status: 'completed',
    authorization_id: AUTHORIZATION,
  },
  'deposit.confirmed': { status: 'confirmed', confirmations: 2, confirmed_at: '2026-11-20T14:20:00Z' },
};

export function exampleOf(event: EventName): Fields {
  const example = EXAMPLES[namedShape(EVENTS[event].data)?.title ?? ''];
  if (example === undefined) throw new Error(`no example of ${event}`);
  return { ...example, ...AFTER[event] };
}

// Puts deliveries into the queue: of events, once more, and of examples.

/** The open transaction, the time on the clock of the sandbox, and where ids come from. */
type Queueing = Pick<Call, 'sql' | 'now' | 'idSource'>;

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
  readonly untouched?: true | undefined;
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

/** Queues another delivery of the same event or example: the same bytes, signed the same way. */
export function enqueueAgain(queueing: Queueing, row: DeliveryRow, untouched?: true): DeliveryRow {
  const { id, webhook_id, event_id, event_type, event_seq, edited, sign } = row;
  const content = event_seq === null ? { body: deliveryBody(queueing.sql, id) } : { seq: event_seq };
  const same = { webhook_id, event_id, event_type, content, edited: edited === 1, sign: sign ?? undefined };
  return enqueue(queueing, { ...same, untouched });
}

/**
 * In the transaction that caused it: no event without its effect, no effect without its event. Records one event, its exact bytes, and a delivery
 * due now for each active subscription that asked for it.
 */
export function recordEvent({ sql, now, idSource }: Queueing, event: EventName, data: Fields): void {
  const id = idSource.id('evt');
  const text = JSON.stringify(wireObject(EVENTS[event].data, data));
  const body = `{"id":${JSON.stringify(id)},"type":"${event}","created_at":"${isoTime(now)}","data":${text}}`;
  // Numbered in the same transaction, so that events have no gap (I14).
  const seq = sql.insert('events', { id, type: event, created_at: now, body });
  for (const { id: webhook_id, events } of activeWebhooks(sql)) {
    const names = JSON.parse(events) as readonly string[];
    if (!names.includes('*') && !names.includes(event)) continue;
    enqueue({ sql, now, idSource }, { webhook_id, event_id: id, event_type: event, content: { seq } });
  }
}
