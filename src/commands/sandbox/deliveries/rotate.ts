import { command } from '../../../cli/parsing/command.ts';
import { webhook } from '../../webhooks/columns.ts';
import { runAdmin } from '../simulate/run-admin.ts';

/** Gives a subscription a new secret. */
export const rotateSecret = command({
  path: 'sandbox deliveries rotate',
  summary: 'Replace the signing secret of a subscription; both sign for a while',
  about: [
    'While both are valid, the signature header holds one signature of each, separated by a comma, the new one first. At most two secrets sign: a second rotation ends the oldest at once.',
  ],
  operation: 'deliveries.rotate',
  args: { webhook },
  flags: { overlap: 'body.overlap' },
  examples: [
    { does: 'A day to change receivers', run: 'sandbox deliveries rotate wh_1' },
    { does: 'The old one ends now', run: 'sandbox deliveries rotate wh_1 --overlap 0s' },
  ],
  run: (ctx, { webhook, overlap }) => runAdmin(ctx, 'deliveries.rotate', { webhook_id: webhook, overlap }),
  show: ({ webhook_id, secret, old_until }) => ({
    noun: 'secret',
    idField: 'webhook_id',
    columns: [
      { field: 'webhook_id', title: 'WEBHOOK', kind: 'id', priority: 1 },
      { field: 'secret', title: 'SECRET', kind: 'id', priority: 1 },
      { field: 'old_until', title: 'OLD UNTIL', kind: 'time', priority: 2 },
    ],
    blocks: [
      { kind: 'line', text: `New secret of ${webhook_id}; the old one signs as well until ${old_until}.` },
      { kind: 'pairs', pairs: [['Secret', secret]] },
    ],
    notes: ['The secret is shown this once. Keep it where your receiver reads it.'],
  }),
});
