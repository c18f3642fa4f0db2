/** Statements on `webhooks`, the subscriptions. Deliveries are the outbox's. */
import type { Sql } from './sql.ts';

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

const COLUMNS = 'id, url, events, secret, status, created_at, updated_at, former_secret, former_until, failing_since';

export const webhookById = (sql: Sql, account: string, id: string) =>
  sql.get<WebhookRow>(`select ${COLUMNS} from webhooks where account_id = ? and id = ?`, account, id);

/** Newest first. */
export const allWebhooks = (sql: Sql, account: string) =>
  sql.all<WebhookRow>(
    `select ${COLUMNS} from webhooks where account_id = ? order by created_at desc, id desc`,
    account,
  );

/** Those that receive events now, oldest first; the reader matches `events`. */
export const activeWebhooks = (sql: Sql, account: string) =>
  sql.known<WebhookRow>(
    `select ${COLUMNS} from webhooks where account_id = ? and status = 'active' order by created_at, id`,
    account,
  );

export const insertWebhook = (sql: Sql, account: string, row: WebhookRow) =>
  sql.run(
    `insert into webhooks (account_id, ${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
