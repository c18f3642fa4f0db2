/** Statements on `deliveries` and their `attempts`. Times are on the clock of the sandbox, leases in real time. */
import type { EventName } from '../../contract/events.ts';
import type { SignedWith } from '../../contract/sandbox/deliveries.ts';
import type { Sql, SqlValue } from './sql.ts';

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

const NAMES = [
  'id',
  'position',
  'webhook_id',
  'event_id',
  'event_type',
  'event_seq',
  'state',
  'attempt',
  'created_at',
  'due_at',
  'faults_asked',
  'behind',
  'held_until',
  'edited',
  'sign',
] as const;
const COLUMNS = NAMES.join(', ');

export const deliveryById = (sql: Sql, account: string, id: string) =>
  sql.get<DeliveryRow>(`select ${COLUMNS} from deliveries where account_id = ? and id = ?`, account, id);

export const insertDelivery = (sql: Sql, account: string, row: DeliveryRow & { readonly body: string | null }) =>
  sql.run(
    `insert into deliveries (account_id, body, ${COLUMNS}) values (?, ?, ${NAMES.map(() => '?').join(', ')})`,
    account,
    row.body,
    ...NAMES.map(name => row[name]),
  );

/** The exact text that is sent on every attempt. */
export async function deliveryBody(sql: Sql, account: string, id: string): Promise<string> {
  const row = await sql.get<{ text: string }>(
    `select coalesce(d.body, e.body) as text from deliveries d
     left join events e on e.account_id = d.account_id and e.seq = d.event_seq
     where d.account_id = ? and d.id = ?`,
    account,
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

function condition(account: string, filter: DeliveryFilter): { readonly where: string; readonly values: SqlValue[] } {
  const { event, ...rest } = filter;
  const asked = Object.entries({ ...rest, event_type: event }).filter(([, value]) => value !== undefined);
  return {
    where: ['account_id = ?', ...asked.map(([name]) => `${name} = ?`)].join(' and '),
    values: [account, ...asked.map(([, value]) => value as string)],
  };
}

export async function countDeliveries(sql: Sql, account: string, filter: DeliveryFilter): Promise<number> {
  const { where, values } = condition(account, filter);
  return (await sql.get<{ n: number }>(`select count(*) as n from deliveries where ${where}`, ...values))?.n ?? 0;
}

/** Newest first. */
export function pageOfDeliveries(
  sql: Sql,
  account: string,
  { filter, limit, offset }: { filter: DeliveryFilter; limit: number; offset: number },
): Promise<readonly DeliveryRow[]> {
  const { where, values } = condition(account, filter);
  return sql.all<DeliveryRow>(
    `select ${COLUMNS} from deliveries where ${where} order by position desc limit ? offset ?`,
    ...values,
    limit,
    offset,
  );
}

/**
 * The first one of a subscription that may go now. Of those that were due at once the ones drawn to let fewer others
 * pass go first: when every one of them waits to be overtaken, their order is still the drawn one.
 */
export const headOf = (
  sql: Sql,
  account: string,
  { webhook, upTo, real }: { webhook: string; upTo: number; real: number },
) =>
  sql.get<DeliveryRow>(
    `select ${COLUMNS} from deliveries where account_id = ? and webhook_id = ? and state = 'queued' and due_at <= ?
       and (behind = 0 or held_until <= ?)
     order by due_at, behind, position limit 1`,
    account,
    webhook,
    upTo,
    real,
  );

/** When the next one is due; undefined when none is queued. */
export async function earliestDue(sql: Sql, account: string): Promise<number | undefined> {
  const row = await sql.get<{ due_at: number }>(
    `select due_at from deliveries where account_id = ? and state = 'queued' order by due_at limit 1`,
    account,
  );
  return row?.due_at;
}

/** Whether something is due at or before `upTo`, or in the air. */
export async function hasWork(sql: Sql, account: string, upTo: number): Promise<boolean> {
  const due = await earliestDue(sql, account);
  return (due !== undefined && due <= upTo) || (await sendingNow(sql, account)).length > 0;
}

interface Lease {
  readonly owner: string;
  readonly token: string;
  /** Real time, ms UTC. */
  readonly until: number;
}

export const sendingNow = (sql: Sql, account: string) =>
  sql.all<{
    readonly id: string;
    readonly webhook_id: string;
    readonly lease_owner: string;
    readonly lease_until: number;
  }>(
    `select id, webhook_id, lease_owner, lease_until from deliveries
     where account_id = ? and state = 'sending' order by position`,
    account,
  );

/** Takes one for an attempt, which is counted now: whatever happens, it was begun. */
export const takeDelivery = (sql: Sql, account: string, { id, lease }: { id: string; lease: Lease }) =>
  sql.run(
    `update deliveries set state = 'sending', attempt = attempt + 1, behind = 0, held_until = null,
       lease_owner = ?, lease_token = ?, lease_until = ? where account_id = ? and id = ? and state = 'queued'`,
    lease.owner,
    lease.token,
    lease.until,
    account,
    id,
  );

const FREE = 'lease_owner = null, lease_token = null, lease_until = null';

/** Gives one back whose sender died. */
export const freeDelivery = (sql: Sql, account: string, id: string) =>
  sql.run(
    `update deliveries set state = 'queued', ${FREE} where account_id = ? and id = ? and state = 'sending'`,
    account,
    id,
  );

/** Ends an attempt; resolves to 0 when the lease is not ours any more. */
export const endAttempt = (
  sql: Sql,
  account: string,
  { id, token, state, due_at }: { id: string; token: string; state: DeliveryState; due_at: number },
) =>
  sql.run(
    `update deliveries set state = ?, due_at = ?, ${FREE} where account_id = ? and id = ? and lease_token = ?`,
    state,
    due_at,
    account,
    id,
    token,
  );

/** What a fault does to a queued one. */
export const changeQueued = (
  sql: Sql,
  account: string,
  { id, due_at, behind, held_until }: Pick<DeliveryRow, 'id' | 'due_at' | 'behind' | 'held_until'>,
) =>
  sql.run(
    `update deliveries set faults_asked = 1, due_at = ?, behind = ?, held_until = ?
     where account_id = ? and id = ? and state = 'queued'`,
    due_at,
    behind,
    held_until,
    account,
    id,
  );

/** One that goes now lets those it overtakes come nearer. */
export const overtake = (sql: Sql, account: string, { webhook_id, position }: DeliveryRow) =>
  sql.run(
    `update deliveries set behind = behind - 1
     where account_id = ? and webhook_id = ? and state = 'queued' and behind > 0 and position < ?`,
    account,
    webhook_id,
    position,
  );

/** Nothing more goes to a subscription that is disabled or deleted. */
export const cancelQueued = (sql: Sql, account: string, webhook: string) =>
  sql.run(
    `update deliveries set state = 'cancelled' where account_id = ? and webhook_id = ? and state = 'queued'`,
    account,
    webhook,
  );

export const insertAttempt = (
  sql: Sql,
  account: string,
  row: Pick<AttemptRow, 'delivery_id' | 'number' | 'at' | 'request_headers' | 'error'>,
) =>
  sql.run(
    `insert into attempts (account_id, delivery_id, number, at, request_headers, error) values (?, ?, ?, ?, ?, ?)`,
    account,
    row.delivery_id,
    row.number,
    row.at,
    row.request_headers,
    row.error,
  );

export const finishAttempt = (sql: Sql, account: string, row: Omit<AttemptRow, 'at' | 'request_headers'>) =>
  sql.run(
    `update attempts set address = ?, status = ?, answer_headers = ?, answer_body = ?, duration = ?, error = ?
     where account_id = ? and delivery_id = ? and number = ?`,
    row.address,
    row.status,
    row.answer_headers,
    row.answer_body,
    row.duration,
    row.error,
    account,
    row.delivery_id,
    row.number,
  );

export const attemptsOf = (sql: Sql, account: string, delivery: string) =>
  sql.all<AttemptRow>(
    `select delivery_id, number, at, request_headers, address, status, answer_headers, answer_body, duration, error
     from attempts where account_id = ? and delivery_id = ? order by number`,
    account,
    delivery,
  );

/** Events from `since` on that nothing has brought or is about to bring to a subscription, in their order. */
export const undeliveredEvents = (sql: Sql, account: string, { webhook, since }: { webhook: string; since: number }) =>
  sql.all<{ readonly seq: number; readonly id: string; readonly type: EventName }>(
    `select e.seq, e.id, e.type from events e where e.account_id = ? and e.created_at >= ? and not exists
       (select 1 from deliveries d where d.account_id = e.account_id and d.event_id = e.id and d.webhook_id = ?
         and d.state in ('queued', 'sending', 'delivered'))
     order by e.seq`,
    account,
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

const WEBHOOK_COLUMNS =
  'id, url, events, secret, status, created_at, updated_at, former_secret, former_until, failing_since';

export const webhookById = (sql: Sql, account: string, id: string) =>
  sql.get<WebhookRow>(`select ${WEBHOOK_COLUMNS} from webhooks where account_id = ? and id = ?`, account, id);

/** Newest first. */
export const allWebhooks = (sql: Sql, account: string) =>
  sql.all<WebhookRow>(
    `select ${WEBHOOK_COLUMNS} from webhooks where account_id = ? order by created_at desc, id desc`,
    account,
  );

/** Those that receive events now, oldest first; the reader matches `events`. */
export const activeWebhooks = (sql: Sql, account: string) =>
  sql.known<WebhookRow>(
    `select ${WEBHOOK_COLUMNS} from webhooks where account_id = ? and status = 'active' order by created_at, id`,
    account,
  );

export const insertWebhook = (sql: Sql, account: string, row: WebhookRow) =>
  sql.run(
    `insert into webhooks (account_id, ${WEBHOOK_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    account,
    row.id,
    row.url,
    row.events,
    row.secret,
    row.status,
    row.created_at,
    row.updated_at,
    row.former_secret,
    row.former_until,
    row.failing_since,
  );

/** A change is a fresh start: earlier failures count no more. */
export const updateWebhook = (sql: Sql, account: string, row: WebhookRow) =>
  sql.run(
    `update webhooks set url = ?, events = ?, status = ?, updated_at = ?, failing_since = null
     where account_id = ? and id = ?`,
    row.url,
    row.events,
    row.status,
    row.updated_at,
    account,
    row.id,
  );

/** Failing since a time, or, with null, not failing. */
export const setFailing = (sql: Sql, account: string, { id, since }: { id: string; since: number | null }) =>
  sql.run('update webhooks set failing_since = ? where account_id = ? and id = ?', since, account, id);

export const disableWebhook = (sql: Sql, account: string, { id, now }: { id: string; now: number }) =>
  sql.run(
    `update webhooks set status = 'disabled', updated_at = ?, failing_since = null where account_id = ? and id = ?`,
    now,
    account,
    id,
  );

/** A new secret; the one before it signs as well until `until`. */
export const rotateSecret = (
  sql: Sql,
  account: string,
  { id, secret, until, now }: { id: string; secret: string; until: number; now: number },
) =>
  sql.run(
    `update webhooks set former_secret = secret, former_until = ?, secret = ?, updated_at = ?
     where account_id = ? and id = ?`,
    until,
    secret,
    now,
    account,
    id,
  );

export const deleteWebhook = (sql: Sql, account: string, id: string) =>
  sql.run('delete from webhooks where account_id = ? and id = ?', account, id);
