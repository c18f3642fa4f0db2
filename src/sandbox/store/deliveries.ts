/** Statements on `deliveries` and their `attempts`. Times are on the clock of the sandbox, leases in real time. */
import type { EventName } from '../../contract/events.ts';
import type { SignedWith } from '../../contract/sandbox/deliveries.ts';
import type { Sql } from './sql.ts';

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
export function deliveryBody(sql: Sql, id: string): string {
  const row = sql.get<{ text: string }>(
    'select coalesce(d.body, e.body) as text from deliveries d left join events e on e.seq = d.event_seq where d.id = ?',
    id,
  );
  if (typeof row?.text !== 'string') throw new Error(`delivery ${id} has no event`);
  return row.text;
}

export const sendingNow = (sql: Sql) =>
  sql.all<{
    readonly id: string;
    readonly webhook_id: string;
    readonly lease_owner: string;
    readonly lease_until: number;
  }>("select id, webhook_id, lease_owner, lease_until from deliveries where state = 'sending' order by position");

/** Nothing more goes to a subscription that is disabled or deleted. */
export const cancelQueued = (sql: Sql, webhook_id: string) =>
  sql.update('deliveries', { webhook_id, state: 'queued' }, { state: 'cancelled' });

/** How many deliveries go to. */
export const countActiveSubscriptions = (sql: Sql) => activeWebhooks(sql).length;

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
