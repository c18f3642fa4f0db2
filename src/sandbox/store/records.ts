/** Statements on what the sandbox keeps beside the account: requests, keys, faults, deliveries, subscriptions. */

import type { API_KEYS, ATTEMPTS, DELIVERIES, FAULTS, REQUESTS, RowOf, WEBHOOKS } from './schema.ts';
import { listed, type Page, type Sql } from './sql.ts';

export type RequestRow = Omit<RowOf<typeof REQUESTS>, 'position'>;

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

export type ApiKeyRow = RowOf<typeof API_KEYS>;

export const allApiKeys = (sql: Sql) => sql.all<ApiKeyRow>('select * from api_keys order by created_at, id');

export const apiKeyByDigest = (sql: Sql, digest: string) =>
  sql.get<ApiKeyRow>('select * from api_keys where digest = ?', digest);

// Statements on `faults`: the rules of docs/design/sandbox.md, section 5. What they say is JSON that SQL never looks into.

export type FaultRow = RowOf<typeof FAULTS>;

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

/** Without who sends it, and the body of an example. */
export type DeliveryRow = Omit<RowOf<typeof DELIVERIES>, 'body' | `lease_${string}`>;
export type DeliveryState = DeliveryRow['state'];

export type AttemptRow = RowOf<typeof ATTEMPTS>;

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

export type WebhookRow = RowOf<typeof WEBHOOKS>;

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
