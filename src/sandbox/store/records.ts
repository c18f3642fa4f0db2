/** Statements on what the sandbox keeps beside the account: requests, keys, faults, deliveries, subscriptions. */

import type { EventName } from '../../contract/events.ts';
import type { SignedWith } from '../../contract/sandbox/deliveries.ts';
import type { KeyAccess } from '../../contract/sandbox/state.ts';
import { listed, type Page, type Sql } from './sql.ts';

/** What was asked of the service, without secrets; the newest of it is kept. */
export interface RequestRow {
  readonly request_id: string;
  /** ms UTC on the clock of the sandbox. */
  readonly at: number;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly error: string | null;
  readonly replayed: number;
  readonly fault: string | null;
  readonly idempotency_key: string | null;
  readonly card_id: string | null;
  /** JSON. */
  readonly body: string | null;
  /** Text of the answer, perhaps its beginning alone. */
  readonly answer: string | null;
  /** JSON. */
  readonly request_headers: string | null;
  readonly key_last4: string | null;
  /** Real ms. */
  readonly took: number | null;
  readonly query: string | null;
  readonly body_bytes: number | null;
  /** JSON: parts that are not as they were sent, with the reason. */
  readonly not_kept: string | null;
}

export interface RequestFilter {
  readonly operation?: string | undefined;
  /** ms UTC. */
  readonly since?: number | undefined;
  readonly idempotency_key?: string | undefined;
  readonly card_id?: string | undefined;
  readonly status?: number | undefined;
}

/** Rows that are kept at least; at most `SLACK` more. */
export const KEPT_REQUESTS = 1_000;
const SLACK = 100;

export function insertRequest(sql: Sql, row: RequestRow): void {
  const position = sql.insert('requests', row);
  if (position % SLACK === 0) sql.run('delete from requests where position <= ?', position - KEPT_REQUESTS);
}

/** Whether a row is one that a filter asks for, for rows that are in no store yet. */
export function fitsRequest(row: RequestRow, { since, ...wanted }: RequestFilter): boolean {
  const isWanted = Object.entries(wanted).every(
    ([name, value]) => value === undefined || row[name as keyof RequestRow] === value,
  );
  return isWanted && (since === undefined || row.at >= since);
}

export const requestById = (sql: Sql, id: string) =>
  sql.get<RequestRow>('select * from requests where request_id = ? order by position desc limit 1', id);

/** A page, newest first, of the `newest` of all there are: those that wait to be written push others out. */
export function pageOfRequests(
  sql: Sql,
  { operation, since, idempotency_key, card_id, status, newest }: RequestFilter & { readonly newest: number },
  page: Page,
) {
  const wanted = {
    'position > (select coalesce(max(position), 0) from requests) - ?': newest,
    'operation = ?': operation,
    'at >= ?': since,
    'idempotency_key = ?': idempotency_key,
    'card_id = ?': card_id,
    'status = ?': status,
  };
  return listed<RequestRow>(sql, { from: 'requests', wanted, order: 'position desc' }, page);
}

// Statements on `api_keys`: what is kept of a key is its digest, never the key.

export interface ApiKeyRow {
  readonly id: string;
  /** SHA-256 of the key, hexadecimal. */
  readonly digest: string;
  readonly last4: string;
  readonly access: KeyAccess;
  readonly created_at: number;
}

export const allApiKeys = (sql: Sql) => sql.all<ApiKeyRow>('select * from api_keys order by created_at, id');

export const apiKeyByDigest = (sql: Sql, digest: string) =>
  sql.get<ApiKeyRow>('select * from api_keys where digest = ?', digest);

// Statements on `faults`: the rules of docs/design/sandbox.md, section 5. What they say is JSON that SQL never looks into.

export interface FaultRow {
  readonly id: string;
  readonly position: number;
  readonly meets: 'requests' | 'deliveries';
  /** The rule as it was given, JSON. */
  readonly rule: string;
  readonly times: number | null;
  readonly seen: number;
  readonly struck: number;
  /** ms UTC on the clock of the sandbox. */
  readonly expires_at: number | null;
  readonly created_at: number;
}

/** Those that can still apply at `now`, in the order they were added. */
export const activeFaults = (sql: Sql, { meets, now }: { readonly meets: FaultRow['meets']; readonly now: number }) =>
  sql.all<FaultRow>(
    `select * from faults where meets = ? and (times is null or struck < times)
       and (expires_at is null or expires_at > ?) order by position`,
    meets,
    now,
  );

export const countMatch = (sql: Sql, { id, isApplied }: { id: string; isApplied: boolean }) =>
  sql.run('update faults set seen = seen + 1, struck = struck + ? where id = ?', isApplied ? 1 : 0, id);

// Statements on `deliveries` and their `attempts`. Times are on the clock of the sandbox, leases in real time.

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
