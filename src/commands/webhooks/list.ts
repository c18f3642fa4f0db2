import { wholeListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { WEBHOOK_COLUMNS } from './columns.ts';

/** Lists subscriptions. */
export const listWebhooks = command({
  path: 'webhooks list',
  summary: 'List subscriptions',
  operation: 'webhooks.list',
  examples: [
    { does: 'All of them', run: 'webhooks list' },
    { does: 'The ids alone', run: 'webhooks list -o id' },
  ],
  run: async ctx => wholeListing(await ctx.read('webhooks.list', {}), { noun: 'webhook' }),
  show: listing => ({ listing, noun: 'webhook', columns: WEBHOOK_COLUMNS }),
});
