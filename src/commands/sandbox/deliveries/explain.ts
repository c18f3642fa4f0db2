import { command } from '../../../cli/parsing/command.ts';
import { local, needs } from '../../../cli/parsing/flag.ts';
import { webhook } from '../../webhooks/columns.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { bodyFrom } from './send.ts';

/** Says which mistake a receiver makes, without anybody handling the secret. */
export const explainDelivery = command({
  path: 'sandbox deliveries explain',
  summary: 'Judge a signature that your code saw, and name the usual mistakes',
  about: [
    'The sandbox knows the secret and does not show it. For a payload of the service, with a secret in a file: webhooks verify --explain.',
    'A signature that does not match is an answer and no error: the command ends with 0.',
  ],
  operation: 'deliveries.explain',
  args: { webhook },
  flags: {
    signature: 'body.signature',
    body: needs(local('file', 'File with the exact body that your code saw; - for standard input.'), '<file|->'),
  },
  examples: [
    {
      does: 'What your receiver saw',
      run: 'sandbox deliveries explain wh_1 --signature "$signature" --body event.json',
    },
    {
      does: 'As data',
      run: 'sandbox deliveries explain wh_1 --signature "$signature" --body event.json --json',
    },
  ],
  run: async (ctx, { webhook, signature, body }) =>
    runAdmin(ctx, 'deliveries.explain', { webhook_id: webhook, signature, body: await bodyFrom(ctx, body) }),
  show: ({ matches, secret, deviations, mistakes }) => ({
    noun: 'signature',
    quiet: [],
    columns: [
      { field: 'matches', title: 'MATCHES', kind: 'boolean', priority: 1 },
      { field: 'secret', title: 'SECRET', kind: 'word', priority: 2 },
      { field: 'deviations', title: 'DEVIATIONS', kind: 'list', priority: 2 },
    ],
    blocks: [
      {
        kind: 'line',
        text: matches
          ? `The signature matches, by the ${secret} secret${deviations.length === 0 ? '' : `; not as documented: ${deviations.join(', ')}`}.`
          : 'The signature does not match.',
      },
      ...mistakes.map(({ says }) => ({ kind: 'line' as const, text: says })),
      ...(matches || mistakes.length > 0
        ? []
        : [{ kind: 'line' as const, text: 'No usual mistake explains it: another secret, or another body.' }]),
    ],
  }),
});
