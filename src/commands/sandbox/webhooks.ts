import { columnsOf } from '../../cli/columns.ts';
import { wholeListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { SUBSCRIPTION } from '../../contract/sandbox/deliveries.ts';

const COLUMNS = columnsOf(SUBSCRIPTION, {
  id: { priority: 1 },
  status: { priority: 1 },
  waiting: { priority: 2 },
  delivered: { priority: 2 },
  failed: { priority: 1 },
  address: { priority: 2, shrink: 'wraps' },
  events: { priority: 4, shrink: true },
  failing_since: { title: 'FAILING SINCE', priority: 5 },
  created_at: { title: 'AGE', priority: 6, wideOnly: true },
});

/** Subscriptions, and whether anything arrives. */
export const sandboxWebhooks = command({
  path: 'sandbox webhooks',
  summary: 'List subscriptions with how their deliveries went',
  about: [
    'Of an address only where it leads to is shown. Looking changes nothing in the sandbox; webhooks list is a request of yours.',
  ],
  operation: 'webhooks',
  examples: [
    { does: 'In a table', run: 'sandbox webhooks' },
    { does: 'As data', run: 'sandbox webhooks --json' },
  ],
  async run(ctx) {
    const admin = await ctx.sandbox();
    return wholeListing((await admin.send('webhooks', {})).result, { noun: 'webhook' });
  },
  show: listing => ({ listing, noun: 'webhook', columns: COLUMNS }),
});
