import { command } from '../../cli/parsing/command.ts';
import { usage } from '../../cli/parsing/values.ts';
import { WEBHOOK_COLUMNS, webhook } from './columns.ts';
import { checkEndpoint } from './endpoint-flag.ts';
import { checkEvents } from './events-flag.ts';

/** Changes a subscription. */
export const updateWebhook = command({
  path: 'webhooks update',
  summary: 'Change the endpoint, the events or the status of a subscription',
  operation: 'webhooks.update',
  args: { webhook },
  flags: { url: 'body.url', event: 'body.events', status: 'body.status' },
  examples: [
    { does: 'Switch it off for a while', run: 'webhooks update wh_1 --status disabled' },
    { does: 'Everything from now on', run: "webhooks update wh_1 --event '*'" },
  ],
  async run(ctx, { webhook, url, event: events, status }) {
    if (url === undefined && events === undefined && status === undefined) {
      throw usage('webhooks update needs --url, --event or --status', 'cardwright webhooks update --help');
    }
    const body = { webhook_id: webhook, url: url && checkEndpoint(url), status, events: events && checkEvents(events) };
    return (await ctx.write('webhooks.update', body, { intent: `Change ${webhook}` })).result;
  },
  show: () => ({ noun: 'webhook', columns: WEBHOOK_COLUMNS }),
});
