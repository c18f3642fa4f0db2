import { command } from '../../../cli/parsing/command.ts';
import { webhook } from '../../webhooks/columns.ts';
import { runAdmin } from '../simulate/run-admin.ts';

/** Sends a subscription what it missed. */
export const recoverDeliveries = command({
  path: 'sandbox deliveries recover',
  summary: 'Send a subscription every event that it missed since a time',
  about: [
    'Includes events of the time when it was disabled. Events that were delivered or are on their way are left out.',
  ],
  operation: 'deliveries.recover',
  args: { webhook },
  flags: { since: 'body.since' },
  examples: [
    { does: 'What was missed in the last hour', run: 'sandbox deliveries recover wh_1 --since 1h' },
    { does: 'Since a day', run: 'sandbox deliveries recover wh_1 --since 2026-11-01' },
  ],
  run: (ctx, { webhook, since }) => runAdmin(ctx, 'deliveries.recover', { webhook_id: webhook, since }),
  show: ({ webhook_id, since, queued }) => ({
    noun: 'recovery',
    idField: 'webhook_id',
    columns: [
      { field: 'webhook_id', title: 'WEBHOOK', kind: 'id', priority: 1 },
      { field: 'since', title: 'SINCE', kind: 'time', priority: 2 },
      { field: 'queued', title: 'QUEUED', kind: 'integer', priority: 1 },
    ],
    blocks: [
      {
        kind: 'line',
        text: `${queued} ${queued === 1 ? 'event goes' : 'events go'} to ${webhook_id} again, from ${since} on.`,
      },
    ],
  }),
});
