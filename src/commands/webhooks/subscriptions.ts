/** Subscriptions of webhooks, and the events there are. */

import { columnsOf, SHORT_ID } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, local, option, takes, tells } from '../../cli/parsing/flag.ts';
import { basisText } from '../../contract/basis.ts';
import type { Result } from '../../contract/calls.ts';
import { EVENTS, eventsMatching } from '../../contract/events.ts';
import { namedShape } from '../../contract/named-shapes.ts';
import { WEBHOOK, WEBHOOK_ID } from '../../contract/resources.ts';
import { usage } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { secretIn } from './verify.ts';

export const WEBHOOK_COLUMNS = columnsOf(WEBHOOK, 'id status url events:3 created_at:5', {
  id: { shortTo: SHORT_ID },
  events: { shrink: true },
  created_at: 'AGE',
});

export const webhook = argument(WEBHOOK_ID);

/** The names as they are. Throws `usage` with the nearest one for a name the interface does not have. */
export function checkEvents(names: readonly string[]): readonly string[] {
  const known = Object.keys(EVENTS);
  for (const name of names) {
    if (name === '*' || known.includes(name)) continue;
    throw usage(`unknown event ${JSON.stringify(name)}.${didYouMean(name, known) || ` Known: * ${known.join(' ')}`}`);
  }
  return names;
}

/** Patterns such as `card.*`. Throws `usage` for one that means no event. */
export function checkPatterns(patterns: readonly string[]): readonly string[] {
  for (const pattern of patterns) if (eventsMatching(pattern).length === 0) checkEvents([pattern]);
  return patterns;
}

const MAX_SECRET_BYTES = 4096;

type Subscribed = Result<'webhooks.create'>;

export const createWebhook = command({
  path: 'webhooks create',
  summary: 'Subscribe an endpoint to events',
  about:
    'The signing secret is read from a file or standard input, never from an option. Without one the service generates it.',
  operation: 'webhooks.create',
  flags: {
    url: 'body.url',
    event: 'body.events',
    secretFile: option(local('file', 'File that holds the signing secret.'), '<file>'),
    secretStdin: option(takes.flag('Read the signing secret from standard input.'), { conflicts: ['secretFile'] }),
  },
  examples: {
    'Two events': 'webhooks create --url https://example.com/hook --event card.created --event card.frozen',
    'All events, with your own secret':
      "webhooks create --url https://example.com/hook --event '*' --secret-file secret.txt",
  },
  async run(ctx, { url, event: events, secretFile, secretStdin }) {
    const fromStdin = secretStdin ? ctx.files.stdin.readText(MAX_SECRET_BYTES) : undefined;
    const chosen = await (secretFile === undefined ? fromStdin : ctx.files.readFile(secretFile));
    const secret = chosen === undefined ? undefined : secretIn(chosen, secretFile ?? 'standard input').expose();
    const body = { url, events: checkEvents(events), secret };
    const { result } = await ctx.api.write('webhooks.create', body, { intent: `Subscribe ${url}` });
    // A chosen secret is known already and was kept off the screen; an echo of it is not shown.
    const { secret: made, ...subscription } = result;
    return secret === undefined ? { ...subscription, secret: made } : subscription;
  },
  noun: 'webhook',
  show: (made: Subscribed) => ({
    columns: [...WEBHOOK_COLUMNS, { field: 'secret', title: 'SECRET', kind: 'id', priority: 1, unlessEmpty: true }],
    notes: secretNotes(made),
  }),
});

/** A secret that was generated and not shown is of no use to a receiver. */
function secretNotes(made: Subscribed): string[] {
  if (made.secret) return ['The secret is shown this once. Keep it where your receiver reads it.'];
  if (!('secret' in made)) return [];
  return [
    `Its secret is not shown by the service: delete ${made.id} and choose one with --secret-file, to verify events.`,
  ];
}

export const listWebhooks = command({
  path: 'webhooks list',
  summary: 'List subscriptions',
  operation: 'webhooks.list',
  examples: { 'All of them': 'webhooks list' },
  run: ctx => ctx.api.read('webhooks.list', {}),
  noun: 'webhook',
  columns: WEBHOOK_COLUMNS,
});

export const getWebhook = command({
  path: 'webhooks get',
  summary: 'Show one subscription',
  operation: 'webhooks.get',
  args: { webhook },
  examples: { 'In words': 'webhooks get wh_1' },
  run: (ctx, { webhook }) => ctx.api.read('webhooks.get', { webhook_id: webhook }),
  noun: 'webhook',
  columns: WEBHOOK_COLUMNS,
});

export const updateWebhook = command({
  path: 'webhooks update',
  summary: 'Change the endpoint, the events or the status of a subscription',
  operation: 'webhooks.update',
  args: { webhook },
  flags: { url: 'body.url', event: 'body.events', status: 'body.status' },
  examples: {
    'Switch it off for a while': 'webhooks update wh_1 --status disabled',
    'Everything from now on': "webhooks update wh_1 --event '*'",
  },
  async run(ctx, { webhook, url, event: events, status }) {
    if (url === undefined && events === undefined && status === undefined) {
      throw usage('webhooks update needs --url, --event or --status', 'cardwright webhooks update --help');
    }
    const body = { webhook_id: webhook, url, status, events: events && checkEvents(events) };
    return (await ctx.api.write('webhooks.update', body, { intent: `Change ${webhook}` })).result;
  },
  noun: 'webhook',
  columns: WEBHOOK_COLUMNS,
});

export const deleteWebhook = command({
  path: 'webhooks delete',
  summary: 'Delete a subscription',
  answers: { one: { id: tells.text('The subscription.'), deleted: tells.yes('Always true.') } },
  operation: 'webhooks.delete',
  args: { webhook },
  examples: {
    'In a script': 'webhooks delete wh_1 --yes',
    'See the request first': 'webhooks delete wh_1 --dry-run',
  },
  async run(ctx, { webhook }) {
    await ctx.api.write('webhooks.delete', { webhook_id: webhook }, { intent: `Delete subscription ${webhook}` });
    return { id: webhook, deleted: true };
  },
  columns: 'id deleted',
  noun: 'webhook',
  says: ({ id }) => `Deleted ${id}.`,
});

export const listEvents = command({
  path: 'webhooks events',
  summary: 'List the events of the service, and what they carry (offline)',
  answers: {
    list: {
      name: tells.text('Event.'),
      meaning: tells.text('When it is sent.'),
      object: tells.text('What it is about.'),
      basis: tells.text('Where it is known from.'),
    },
  },
  about:
    "KNOWN FROM is a section of the service's interface (§6), or an assumption that contract show --id explains (A-83).",
  examples: { 'All of them': 'webhooks events' },
  async run() {
    return Object.entries(EVENTS).map(([name, { meaning, data: shape, basis }]) => {
      return { name, meaning, object: namedShape(shape)?.name ?? null, basis: basisText(basis) };
    });
  },
  columns: [
    'name object:2 meaning:3 basis:4+',
    { name: 'EVENT', object: 'CARRIES', meaning: { shrink: 'wraps' }, basis: 'KNOWN FROM' },
  ],
  noun: 'event',
  idField: 'name',
});
