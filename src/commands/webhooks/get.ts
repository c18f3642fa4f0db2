import { command } from '../../cli/parsing/command.ts';
import { WEBHOOK_COLUMNS, webhook } from './columns.ts';

/** Shows one subscription. */
export const getWebhook = command({
  path: 'webhooks get',
  summary: 'Show one subscription',
  operation: 'webhooks.get',
  args: { webhook },
  examples: [
    { does: 'In words', run: 'webhooks get wh_1' },
    { does: 'As data', run: 'webhooks get wh_1 --json' },
  ],
  run: (ctx, { webhook }) => ctx.read('webhooks.get', { webhook_id: webhook }),
  show: () => ({ noun: 'webhook', columns: WEBHOOK_COLUMNS }),
});
