import { command } from '../../../cli/parsing/command.ts';
import { webhook } from '../../webhooks/columns.ts';
import { checkEvents } from '../../webhooks/events-flag.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { showQueued } from './columns.ts';

/** Sends a made-up event. */
export const sendExample = command({
  path: 'sandbox deliveries send-example',
  summary: 'Send an example event to a subscription',
  about: [
    'The payload is invented and signed like a real one. It is sent even if the subscription did not ask for this event.',
  ],
  operation: 'deliveries.example',
  args: { webhook },
  flags: { event: 'body.event' },
  examples: [
    { does: 'A settlement', run: 'sandbox deliveries send-example wh_1 --event transaction.settled' },
    { does: 'A one-time code', run: 'sandbox deliveries send-example wh_1 --event 3ds.challenge' },
  ],
  run(ctx, { webhook, event }) {
    checkEvents([event]);
    return runAdmin(ctx, 'deliveries.example', { webhook_id: webhook, event });
  },
  show: showQueued,
});
