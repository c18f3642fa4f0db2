import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import type { Result } from '../../contract/calls.ts';
import { flag } from '../../contract/field.ts';
import { WEBHOOK_COLUMNS } from './columns.ts';
import { checkEndpoint } from './endpoint-flag.ts';
import { checkEvents } from './events-flag.ts';
import { secretIn } from './secrets.ts';

const MAX_SECRET_BYTES = 4096;

type Subscribed = Result<'webhooks.create'>;

/** Subscribes an endpoint to events. A generated secret is shown in this answer only. */
export const createWebhook = command({
  path: 'webhooks create',
  summary: 'Subscribe an endpoint to events',
  about: [
    'The signing secret is read from a file or standard input, never from an option. Without one the service generates it.',
  ],
  operation: 'webhooks.create',
  flags: {
    url: 'body.url',
    event: 'body.events',
    secretFile: option(local('file', 'File that holds the signing secret.'), '<file>'),
    secretStdin: option(flag({ doc: 'Read the signing secret from standard input.', basis: OURS })),
  },
  examples: [
    {
      does: 'Two events',
      run: 'webhooks create --url https://example.com/hook --event card.created --event card.frozen',
    },
    {
      does: 'All events, with your own secret',
      run: "webhooks create --url https://example.com/hook --event '*' --secret-file secret.txt",
    },
  ],
  async run(ctx, { url, event: events, secretFile, secretStdin }) {
    const secret = await readSecret(ctx, secretFile, secretStdin ?? false);
    const body = { url: checkEndpoint(url), events: checkEvents(events), secret };
    const { result } = await ctx.write('webhooks.create', body, { intent: `Subscribe ${url}` });
    // A chosen secret is known already and was kept off the screen; an echo of it is not shown.
    const { secret: made, ...subscription } = result;
    return secret === undefined ? { ...subscription, secret: made } : subscription;
  },
  show: (made: Subscribed) => ({
    noun: 'webhook',
    columns: [...WEBHOOK_COLUMNS, { field: 'secret', title: 'SECRET', kind: 'id', priority: 1 }],
    blocks: [
      { kind: 'line', text: `Subscribed ${made.id}: ${made.url}` },
      {
        kind: 'pairs',
        pairs: [
          ['Events', (made.events ?? []).join(', ')],
          ['Secret', made.secret ?? ('secret' in made ? 'not shown by the service' : 'as you chose it')],
        ],
      },
    ],
    notes: secretNotes(made),
  }),
});

/** A secret that was generated and not shown is of no use to a receiver. */
function secretNotes(made: Subscribed): string[] {
  if (made.secret) return ['The secret is shown this once. Keep it where your receiver reads it.'];
  if (!('secret' in made)) return [];
  return [`Events cannot be verified without it: delete ${made.id} and choose a secret with --secret-file.`];
}

async function readSecret(ctx: Context, file: string | undefined, fromStdin: boolean): Promise<string | undefined> {
  if (file !== undefined && fromStdin) throw usage('--secret-file and --secret-stdin exclude each other');
  if (file === undefined && !fromStdin) return undefined;
  const content = file === undefined ? await ctx.stdin.readAll(MAX_SECRET_BYTES) : await ctx.readFile(file);
  return secretIn(content, file ?? 'standard input').expose();
}
