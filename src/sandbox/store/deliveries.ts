/** Statements on `deliveries` and their `attempts`. Times are on the clock of the sandbox, leases in real time. */
import type { EventName } from '../../contract/events.ts';
import type { SignedWith } from '../../contract/sandbox/deliveries.ts';
import { listed, type Page, type Sql } from './sql.ts';

export type DeliveryState = 'queued' | 'sending' | 'delivered' | 'failed' | 'cancelled';

export interface DeliveryRow {
  readonly id: string;
  /** Order in which they were made. */
  readonly position: number;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event_type: EventName;
  /** Null for an example, which is no event. */
  readonly event_seq: number | null;
  readonly state: DeliveryState;
  /** Attempts begun so far. */
  readonly attempt: number;
  readonly created_at: number;
  readonly due_at: number;
  /** 1 once the faults were asked about it. */
  readonly faults_asked: number;
  /** How many later ones of its subscription go first. */
  readonly behind: number;
  /** Real time, ms UTC, at which it no longer waits for those. */
  readonly held_until: number | null;
  /** 1 for a body that was written by hand. */
  readonly edited: number | null;
  /** What it is signed with; null for the secret of the subscription. */
  readonly sign: Exclude<SignedWith, 'right'> | null;
}

export interface AttemptRow {
  readonly delivery_id: string;
  readonly number: number;
  readonly at: number;
  /** JSON text. */
  readonly request_headers: string;
  readonly address: string | null;
  readonly status: number | null;
  /** JSON text. */
  readonly answer_headers: string | null;
  readonly answer_body: string | null;
  /** Real ms. */
  readonly duration: number | null;
  readonly error: string | null;
}

export const deliveryById = (sql: Sql, id: string) => sql.get<DeliveryRow>('select * from deliveries where id = ?', id);

/** The exact text that is sent on every attempt. */
export async function deliveryBody(sql: Sql, id: string): Promise<string> {
  const row = await sql.get<{ text: string }>(
    'select coalesce(d.body, e.body) as text from deliveries d left join events e on e.seq = d.event_seq where d.id = ?',
    id,
  );
  if (typeof row?.text !== 'string') throw new Error(`delivery ${id} has no event`);
  return row.text;
}

interface DeliveryFilter {
  readonly webhook_id?: string | undefined;
  readonly event_id?: string | undefined;
  readonly event?: string | undefined;
  readonly state?: string | undefined;
}

/** A page, newest first. */
export function pageOfDeliveries(sql: Sql, { webhook_id, event_id, event, state }: DeliveryFilter, page: Page) {
  const wanted = {
    'webhook_id = ?': webhook_id,
    'event_id = ?': event_id,
    'event_type = ?': event,
    'state = ?': state,
  };
  return listed<DeliveryRow>(sql, { from: 'deliveries', wanted, order: 'position desc' }, page);
}

/**
 * The first one of a subscription that may go now. Of those that were due at once the ones drawn to let fewer others
 * pass go first: when every one of them waits to be overtaken, their order is still the drawn one.
 */
export const headOf = (sql: Sql, { webhook, upTo, real }: { webhook: string; upTo: number; real: number }) =>
  sql.get<DeliveryRow>(
    `select * from deliveries where webhook_id = ? and state = 'queued' and due_at <= ?
       and (behind = 0 or held_until <= ?) order by due_at, behind, position limit 1`,
    webhook,
    upTo,
    real,
  );

/** When the next one is due; undefined when none is queued. */
export async function earliestDue(sql: Sql): Promise<number | undefined> {
  const statement = "select due_at from deliveries where state = 'queued' order by due_at limit 1";
  return (await sql.get<{ due_at: number }>(statement))?.due_at;
}

/** Whether something is due at or before `upTo`, or in the air. */
export async function hasWork(sql: Sql, upTo: number): Promise<boolean> {
  const due = await earliestDue(sql);
  return (due !== undefined && due <= upTo) || (await sendingNow(sql)).length > 0;
}

interface Lease {
  readonly owner: string;
  readonly token: string;
  /** Real time, ms UTC. */
  readonly until: number;
}

export const sendingNow = (sql: Sql) =>
  sql.all<{
    readonly id: string;
    readonly webhook_id: string;
    readonly lease_owner: string;
    readonly lease_until: number;
  }>("select id, webhook_id, lease_owner, lease_until from deliveries where state = 'sending' order by position");

/** Takes one for an attempt, which is counted now: whatever happens, it was begun. */
export const takeDelivery = (sql: Sql, { id, lease }: { id: string; lease: Lease }) =>
  sql.run(
    `update deliveries set state = 'sending', attempt = attempt + 1, behind = 0, held_until = null,
       lease_owner = ?, lease_token = ?, lease_until = ? where id = ? and state = 'queued'`,
    lease.owner,
    lease.token,
    lease.until,
    id,
  );

const FREE = { lease_owner: null, lease_token: null, lease_until: null };

/** Gives one back whose sender died. */
export const freeDelivery = (sql: Sql, id: string) =>
  sql.update('deliveries', { id, state: 'sending' }, { state: 'queued', ...FREE });

/** Ends an attempt; resolves to 0 when the lease is not ours any more. */
export const endAttempt = (
  sql: Sql,
  { id, token, state, due_at }: { id: string; token: string; state: DeliveryState; due_at: number },
) => sql.update('deliveries', { id, lease_token: token }, { state, due_at, ...FREE });

/** What a fault does to a queued one. */
export const changeQueued = (
  sql: Sql,
  { id, due_at, behind, held_until }: Pick<DeliveryRow, 'id' | 'due_at' | 'behind' | 'held_until'>,
) => sql.update('deliveries', { id, state: 'queued' }, { faults_asked: 1, due_at, behind, held_until });

/** One that goes now lets those it overtakes come nearer. */
export const overtake = (sql: Sql, { webhook_id, position }: DeliveryRow) =>
  sql.run(
    `update deliveries set behind = behind - 1
     where webhook_id = ? and state = 'queued' and behind > 0 and position < ?`,
    webhook_id,
    position,
  );

/** Nothing more goes to a subscription that is disabled or deleted. */
export const cancelQueued = (sql: Sql, webhook_id: string) =>
  sql.update('deliveries', { webhook_id, state: 'queued' }, { state: 'cancelled' });

export const finishAttempt = (sql: Sql, { delivery_id, number, ...came }: Omit<AttemptRow, 'at' | 'request_headers'>) =>
  sql.update('attempts', { delivery_id, number }, came);

export const attemptsOf = (sql: Sql, delivery: string) =>
  sql.all<AttemptRow>('select * from attempts where delivery_id = ? order by number', delivery);

/** Events from `since` on that nothing has brought or is about to bring to a subscription, in their order. */
export const undeliveredEvents = (sql: Sql, { webhook, since }: { webhook: string; since: number }) =>
  sql.all<{ readonly seq: number; readonly id: string; readonly type: EventName }>(
    `select e.seq, e.id, e.type from events e where e.created_at >= ? and not exists
       (select 1 from deliveries d where d.event_id = e.id and d.webhook_id = ?
         and d.state in ('queued', 'sending', 'delivered')) order by e.seq`,
    since,
    webhook,
  );

// Subscriptions with the number of their deliveries by state.

interface CountedSubscription {
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

/** Newest first. */
export const subscriptionsWithCounts = (sql: Sql) =>
  sql.all<CountedSubscription>(`select w.id, w.url, w.events, w.status, w.created_at, w.failing_since,
      count(case when d.state in ('queued', 'sending') then 1 end) as waiting,
      count(case when d.state = 'delivered' then 1 end) as delivered,
      count(case when d.state in ('failed', 'cancelled') then 1 end) as failed
    from webhooks w left join deliveries d on d.webhook_id = w.id
    group by w.id order by w.created_at desc, w.id desc`);

/** How many deliveries go to. */
export const countActiveSubscriptions = async (sql: Sql) => (await activeWebhooks(sql)).length;

// Statements on `webhooks`, the subscriptions. Deliveries are the outbox's.

export interface WebhookRow {
  readonly id: string;
  readonly url: string;
  /** JSON list of event names, or of `*` alone. */
  readonly events: string;
  readonly secret: string;
  readonly status: 'active' | 'disabled';
  readonly created_at: number;
  readonly updated_at: number;
  /** Signs as well until `former_until`, ms on the clock of the sandbox. */
  readonly former_secret: string | null;
  readonly former_until: number | null;
  /** When the first attempt failed after the last one that did not, or after the last change. */
  readonly failing_since: number | null;
}

export const webhookById = (sql: Sql, id: string) => sql.get<WebhookRow>('select * from webhooks where id = ?', id);

/** Newest first. */
export const allWebhooks = (sql: Sql) =>
  sql.all<WebhookRow>('select * from webhooks order by created_at desc, id desc');

/** Those that receive events now, oldest first; the reader matches `events`. */
export const activeWebhooks = (sql: Sql) =>
  sql.known<WebhookRow>("select * from webhooks where status = 'active' order by created_at, id");

/** A change is a fresh start: earlier failures count no more. */
export const updateWebhook = (sql: Sql, { id, url, events, status, updated_at }: WebhookRow) =>
  sql.update('webhooks', { id }, { url, events, status, updated_at, failing_since: null });

export const disableWebhook = (sql: Sql, { id, now }: { id: string; now: number }) =>
  sql.update('webhooks', { id }, { status: 'disabled', updated_at: now, failing_since: null });

/** A new secret; the one before it signs as well until `until`. */
export const rotateSecret = (
  sql: Sql,
  { id, secret, until, now }: { id: string; secret: string; until: number; now: number },
) =>
  sql.run(
    'update webhooks set former_secret = secret, former_until = ?, secret = ?, updated_at = ? where id = ?',
    until,
    secret,
    now,
    id,
  );
