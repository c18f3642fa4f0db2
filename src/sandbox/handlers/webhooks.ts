/** webhooks.create, .list, .get, .update, .delete */
import { wireWebhook } from '../account/objects.ts';
import { type Call, type Handlers, Refused } from '../calls/handler.ts';
import { checkEndpoint, checkedEvents } from '../rules/endpoints.ts';
import { cancelQueued } from '../store/deliveries.ts';
import {
  allWebhooks,
  deleteWebhook,
  insertWebhook,
  updateWebhook,
  type WebhookRow,
  webhookById,
} from '../store/webhooks.ts';

export const createWebhook: Handlers['webhooks.create'] = async ({ sql, account, now, idSource, input }) => {
  checkEndpoint(input.url);
  const row: WebhookRow = {
    id: await idSource.id('wh'),
    url: input.url,
    events: JSON.stringify(checkedEvents(input.events)),
    secret: input.secret ?? (await idSource.webhookSecret('first')),
    status: 'active',
    created_at: now,
    updated_at: now,
    former_secret: null,
    former_until: null,
    failing_since: null,
  };
  await insertWebhook(sql, account, row);
  return { ...wireWebhook(row), secret: row.secret };
};

export const listWebhooks: Handlers['webhooks.list'] = async ({ sql, account }) => {
  const rows = await allWebhooks(sql, account);
  return { data: rows.map(wireWebhook), page: {} };
};

export const getWebhook: Handlers['webhooks.get'] = async call => wireWebhook(await webhookOf(call));

export const changeWebhook: Handlers['webhooks.update'] = async call => {
  const row = await webhookOf(call);
  const { url, events, status } = call.input;
  if (url !== undefined) checkEndpoint(url);
  const changed: WebhookRow = {
    ...row,
    url: url ?? row.url,
    events: events === undefined ? row.events : JSON.stringify(checkedEvents(events)),
    status: status ?? row.status,
    updated_at: call.now,
  };
  await updateWebhook(call.sql, call.account, changed);
  if (changed.status === 'disabled') await cancelQueued(call.sql, call.account, row.id);
  return wireWebhook(changed);
};

export const endWebhook: Handlers['webhooks.delete'] = async call => {
  const { id } = await webhookOf(call);
  await deleteWebhook(call.sql, call.account, id);
  await cancelQueued(call.sql, call.account, id);
  return undefined;
};

export type Addressed = Pick<Call, 'sql' | 'account'> & { readonly input: { readonly webhook_id: string } };

/** Throws `not_found`. */
export async function webhookOf({ sql, account, input }: Addressed): Promise<WebhookRow> {
  const row = await webhookById(sql, account, input.webhook_id);
  if (row === undefined) throw new Refused('not_found', `no webhook ${input.webhook_id}`);
  return row;
}
