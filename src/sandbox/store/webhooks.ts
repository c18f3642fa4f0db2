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
}

const COLUMNS = 'id, url, events, secret, status, created_at, updated_at';

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
  sql.all<WebhookRow>(
    `select ${COLUMNS} from webhooks where account_id = ? and status = 'active' order by created_at, id`,
    account,
  );

export const insertWebhook = (sql: Sql, account: string, row: WebhookRow) =>
  sql.run(
    `insert into webhooks (account_id, ${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)`,
    account,
    row.id,
    row.url,
    row.events,
    row.secret,
    row.status,
    row.created_at,
    row.updated_at,
  );

export const updateWebhook = (sql: Sql, account: string, row: WebhookRow) =>
  sql.run(
    'update webhooks set url = ?, events = ?, status = ?, updated_at = ? where account_id = ? and id = ?',
    row.url,
    row.events,
    row.status,
    row.updated_at,
    account,
    row.id,
  );

export const deleteWebhook = (sql: Sql, account: string, id: string) =>
  sql.run('delete from webhooks where account_id = ? and id = ?', account, id);
