/** deliveries, deliveries.get, .redeliver, .recover, .send, .rotate */
import { hash } from 'node:crypto';
import { type EventName, withoutCode } from '../../contract/events.ts';
import { ATTEMPT, DELIVERY } from '../../contract/sandbox/deliveries.ts';
import { DAY, durationOf, instantOf } from '../../core/durations.ts';
import { wired } from '../account/wire.ts';
import { found, impossible } from '../calls/handler.ts';
import { type Addressed, webhookOf } from '../handlers/service.ts';
import { enqueue, enqueueAgain, exampleOf } from '../outbox/outbox.ts';
import { createdWithin, isoTime } from '../rules/dates.ts';
import type { StoreHandlers, StoreMoment } from '../service/service.ts';
import { type AttemptRow, type DeliveryRow, deliveryBody, sendingNow, type WebhookRow } from '../store/rows.ts';
import type { Sql } from '../store/sql.ts';
import { pageOfList } from './state.ts';

export const DELIVERIES = {
  deliveries: moment => {
    const { sql, input } = moment;
    const { webhook_id, event_id, event, state, since: from, until: to } = input;
    const wanted = {
      'webhook_id = ?': webhook_id,
      'event_id = ?': event_id,
      'event_type = ?': event,
      'state = ?': state,
      ...createdWithin({ from, to }),
    };
    const sending = beingSent(moment);
    const query = { from: 'deliveries', wanted, order: 'position desc' };
    return pageOfList('deliveries', moment, query, (row: DeliveryRow) =>
      wireDelivery(row, attemptsOf(sql, row.id), sending),
    );
  },

  /** The digest is that of the bytes, also where a code in the text is not shown. */
  'deliveries.get': moment => {
    const { sql, input } = moment;
    const { delivery_id: id } = input;
    const row = found(sql.row('deliveries', { id }), 'delivery', id);
    const body = deliveryBody(sql, id);
    const shown = row.edited === 1 ? body : withoutCode(row.event_type, body);
    return {
      ...wireDelivery(row, attemptsOf(sql, id), beingSent(moment)),
      body: shown,
      body_hidden: shown !== body,
      body_bytes: Buffer.byteLength(body),
      body_sha256: hash('sha256', body, 'hex'),
    };
  },

  /** A new delivery of the same event; what is still on its way cannot be repeated. */
  'deliveries.redeliver': call => {
    const { sql, input } = call;
    const row = found(sql.row('deliveries', { id: input.delivery_id }), 'delivery', input.delivery_id);
    const { id, state, webhook_id } = row;
    if (state === 'queued' || state === 'sending') throw impossible(`delivery ${id} is ${state}: it goes by itself`);
    activeWebhook({ sql, input: { webhook_id } });
    return wireDelivery(enqueueAgain(call, row), []);
  },

  /** Also what happened while it was disabled; nothing from before it was there. */
  'deliveries.recover': call => {
    const { sql, input } = call;
    const webhook = activeWebhook(call);
    const since = Math.max(instantOf(input.since) ?? 0, webhook.created_at);
    const wanted = JSON.parse(webhook.events) as readonly string[];
    let queued = 0;
    for (const { seq, id, type } of sql.all<{ seq: number; id: string; type: EventName }>(MISSED, since, webhook.id)) {
      if (!wanted.includes('*') && !wanted.includes(type)) continue;
      enqueue(call, { webhook_id: webhook.id, event_id: id, event_type: type, content: { seq } });
      queued += 1;
    }
    return { webhook_id: webhook.id, since: isoTime(since), queued };
  },

  /**
   * Sends an example of an event, or a body that nobody would send by mistake, for whoever tests what refuses it. It goes
   * to the subscription whatever events it asked for, and is no event of the account.
   */
  'deliveries.send': call => {
    const { now, idSource, input } = call;
    const webhook = activeWebhook(call);
    const { sign = 'right' } = input;
    const isFormerOver = webhook.former_until === null || webhook.former_until <= now;
    if (sign === 'former' && isFormerOver) {
      throw impossible(`webhook ${webhook.id} has no former secret: it was not rotated, or its overlap is over`);
    }
    const event_type = input.event as EventName;
    const event_id = idSource.id('evt');
    const example = { id: event_id, type: event_type, created_at: isoTime(now), data: exampleOf(event_type) };
    const content = { body: input.body ?? JSON.stringify(example) };
    const queued = { webhook_id: webhook.id, event_id, event_type, content, edited: input.body !== undefined, sign };
    return wireDelivery(enqueue(call, queued), []);
  },

  /** A second rotation within the overlap ends the oldest secret: at most two sign. */
  'deliveries.rotate': call => {
    const { sql, now, idSource, input } = call;
    const webhook = webhookOf(call);
    // A span of nothing is no duration elsewhere.
    const overlap = input.overlap === undefined ? DAY : (durationOf(input.overlap) ?? 0);
    const secret = idSource.webhookSecret('rotated');
    const rotated = { former_secret: webhook.secret, former_until: now + overlap, secret, updated_at: now };
    sql.change('webhooks', webhook, rotated);
    return { webhook_id: webhook.id, secret, old_until: isoTime(now + overlap) };
  },
} satisfies Partial<StoreHandlers>;

/** Events from a time on that nothing has brought or is about to bring to a subscription, in their order. */
const MISSED = `select e.seq, e.id, e.type from events e where e.created_at >= ? and not exists
  (select 1 from deliveries d where d.event_id = e.id and d.webhook_id = ?
    and d.state in ('queued', 'sending', 'delivered')) order by e.seq`;

function activeWebhook(call: Addressed): WebhookRow {
  const webhook = webhookOf(call);
  if (webhook.status === 'active') return webhook;
  throw impossible(`webhook ${webhook.id} is disabled: nothing is sent to it`);
}

const attemptsOf = (sql: Sql, delivery: string) =>
  sql.all<AttemptRow>('select * from attempts where delivery_id = ? order by number', delivery);

/** Deliveries whose sender is believed in: until its lease is over, or it is known to be gone. */
function beingSent({ sql, parts }: StoreMoment): ReadonlySet<string> {
  const { clock, isGone } = parts;
  const real = clock.now();
  const rows = sendingNow(sql);
  return new Set(rows.filter(each => each.lease_until > real && !isGone(each.lease_owner)).map(({ id }) => id));
}

/** `sending`: ids of those whose last attempt is under way. */
function wireDelivery(row: DeliveryRow, attempts: readonly AttemptRow[], sending: ReadonlySet<string> = new Set()) {
  const isUnderWay = ({ number }: AttemptRow) => number === row.attempt && sending.has(row.id);
  return wired(DELIVERY, {
    ...row,
    event: row.event_type,
    due_at: row.state === 'queued' ? row.due_at : null,
    example: row.event_seq === null,
    edited: row.edited === 1,
    signed: row.sign ?? 'right',
    attempts: attempts.map(each => ({
      ...wired(ATTEMPT, { ...each, duration_ms: each.duration }),
      ...(isUnderWay(each) && { error: 'waiting for the answer' }),
    })),
  });
}
