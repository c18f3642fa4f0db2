import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { webhook } from './columns.ts';

/** Ends a subscription. */
export const deleteWebhook = command({
  path: 'webhooks delete',
  summary: 'Delete a subscription',
  answers: { one: { id: tells.text('The subscription.'), deleted: tells.yes('Always true.') } },
  operation: 'webhooks.delete',
  args: { webhook },
  examples: [
    { does: 'In a script', run: 'webhooks delete wh_1 --yes' },
    { does: 'See the request first', run: 'webhooks delete wh_1 --dry-run' },
  ],
  async run(ctx, { webhook }) {
    await ctx.write('webhooks.delete', { webhook_id: webhook }, { intent: `Delete subscription ${webhook}` });
    return { id: webhook, deleted: true };
  },
  show: ({ id }) => ({
    noun: 'webhook',
    columns: [
      { field: 'id', title: 'ID', kind: 'id', priority: 1 },
      { field: 'deleted', title: 'DELETED', kind: 'boolean', priority: 1 },
    ],
    blocks: [{ kind: 'line', text: `Deleted ${id}.` }],
  }),
});
