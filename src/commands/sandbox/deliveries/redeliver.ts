import { command } from '../../../cli/parsing/command.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { delivery, showQueued } from './columns.ts';

/** Sends something once more. */
export const redeliver = command({
  path: 'sandbox deliveries redeliver',
  summary: 'Send a delivery again, with the same event id and the same bytes',
  operation: 'deliveries.redeliver',
  args: { delivery },
  examples: [
    { does: 'Once more', run: 'sandbox deliveries redeliver dlv_1' },
    { does: 'What became of it, as data', run: 'sandbox deliveries redeliver dlv_1 --json' },
  ],
  run: (ctx, { delivery }) => runAdmin(ctx, 'deliveries.redeliver', { delivery_id: delivery }),
  show: showQueued,
});
