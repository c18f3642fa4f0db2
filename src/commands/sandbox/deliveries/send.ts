import type { Context } from '../../../cli/context.ts';
import { command } from '../../../cli/parsing/command.ts';
import { local, option } from '../../../cli/parsing/flag.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { DELIVERY_OPERATIONS } from '../../../contract/sandbox/deliveries.ts';
import { webhook } from '../../webhooks/columns.ts';
import { checkEvents } from '../../webhooks/events-flag.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { showQueued } from './columns.ts';

const MOST = DELIVERY_OPERATIONS['deliveries.send'].body.body.maxLength ?? 0;

/** The exact text; a byte order mark and line ends are part of it. Throws `usage` for bytes that are no text. */
export async function bodyFrom(ctx: Context, path: string): Promise<string> {
  const bytes = await ctx.readBytes(path);
  const where = path === '-' ? 'standard input' : path;
  try {
    const body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (body === '') throw usage(`${where} is empty`);
    if ([...body].length > MOST) throw usage(`${where} is longer than ${MOST} characters`);
    return body;
  } catch (error) {
    if (error instanceof TypeError) throw usage(`${where} is not UTF-8 text, and a body is sent as text`);
    throw error;
  }
}

/** Sends what a receiver must refuse, or a body of one's own. */
export const sendDelivery = command({
  path: 'sandbox deliveries send',
  summary: 'Send a body of your own to a subscription, signed right, wrong, or not at all',
  about: [
    'Shows what your receiver does with it. It goes to the address of the subscription alone, is marked as edited, and is tried again like any other. Without --body it is an example of the event.',
    '--sign former takes the secret from before the last rotation, while both are valid.',
  ],
  operation: 'deliveries.send',
  args: { webhook },
  flags: {
    event: 'body.event',
    body: option(local('file', 'File with the exact body; - for standard input.'), '<file|->'),
    sign: 'body.sign',
  },
  examples: [
    {
      does: 'An example with a wrong signature',
      run: 'sandbox deliveries send wh_1 --event card.created --sign wrong',
    },
    { does: 'Your own body', run: 'sandbox deliveries send wh_1 --event card.created --body event.json' },
  ],
  async run(ctx, { webhook, event, body, sign }) {
    checkEvents([event]);
    const own = body === undefined ? {} : { body: await bodyFrom(ctx, body) };
    return runAdmin(ctx, 'deliveries.send', { webhook_id: webhook, event, sign, ...own });
  },
  show: showQueued,
});
