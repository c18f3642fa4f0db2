/** Deliveries of webhooks. */

import { isUtf8 } from 'node:buffer';
import type { Context, Shown } from '../../cli/context.ts';
import { columnsOf } from '../../cli/listing.ts';
import { local, option, orNull, tells } from '../../cli/parsing/flag.ts';
import type { ItemOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin.ts';
import { ATTEMPT, DELIVERY, DELIVERY_OPERATIONS } from '../../contract/sandbox/deliveries.ts';
import { usage } from '../../core/errors.ts';
import { copiedLine, lineBlock, pairsBlock, tableBlock } from '../../terminal/view.ts';
import { adminCommand } from './admin.ts';

type Delivery = ItemOf<AdminOperations['deliveries']>;

/** A delivery as data, in a list. */
const DELIVERY_ROW = { ...DELIVERY, last: orNull(tells.text('What came of the newest attempt.')) } as const;

export const DELIVERY_COLUMNS = columnsOf(
  DELIVERY_ROW,
  'id state event:2 webhook_id:4 event_id:5 attempt:3 last:2 due_at:3 created_at:6+',
  {
    webhook_id: { kind: 'id' },
    event_id: { title: 'EVENT ID', kind: 'id' },
    attempt: 'TRIES',
    last: { title: 'LAST ANSWER', shrink: true },
    due_at: 'NEXT',
    created_at: 'AGE',
  },
);

/** What came of the newest attempt, for the one line a person reads. */
function lastAnswer({ attempts }: Delivery): string | null {
  const last = attempts?.at(-1);
  if (last === undefined) return null;
  return last.status ? String(last.status) : (last.error ?? 'unknown');
}

function showQueued(made: Delivery): Shown {
  const { id, event, webhook_id } = made;
  return {
    noun: 'delivery',
    columns: DELIVERY_COLUMNS,
    blocks: [lineBlock(`Queued ${id}: ${event} to ${webhook_id}`)],
    notes: ['What came of it: cardwright sandbox deliveries list'],
  };
}

export const listDeliveries = adminCommand({
  path: 'sandbox deliveries list',
  answers: { list: DELIVERY_ROW },
  about:
    'sandbox start, sandbox exec and webhooks listen send deliveries; until one of them runs, deliveries wait. --json shows each attempt with what was sent and what was answered.',
  operation: 'deliveries',
  examples: {
    'The newest': 'sandbox deliveries list',
    'What did not arrive, with every attempt': 'sandbox deliveries list --state failed --all --json',
  },
  as: (row: Delivery) => ({ ...row, last: lastAnswer(row) }),
  noun: 'delivery',
  columns: DELIVERY_COLUMNS,
});

const ATTEMPT_COLUMNS = columnsOf(ATTEMPT, 'number at:2 status duration_ms:3 error:2 address:4', {
  number: 'TRY',
  at: { kind: 'text' },
  duration_ms: 'MS',
  error: { shrink: true },
});

export const showDelivery = adminCommand({
  path: 'sandbox deliveries show',
  about:
    'The digest is that of the bytes that are sent. webhooks verify --explain tells why a receiver gets another signature. Looking changes nothing in the sandbox.',
  operation: 'deliveries.get',
  examples: { 'In words': 'sandbox deliveries show dlv_1' },
  noun: 'delivery',
  show: ({ id, event, webhook_id, state, attempts, body, body_bytes, body_sha256, body_hidden }) => ({
    columns: DELIVERY_COLUMNS.filter(({ field }) => field !== 'last'),
    blocks: [
      pairsBlock([
        ['Delivery', `${id}: ${event} to ${webhook_id}`],
        ['State', state],
        ['Body', `${body_bytes} bytes, SHA-256 ${body_sha256}`],
      ]),
      // Not broken: it is JSON, which is copied.
      copiedLine(body),
      tableBlock(ATTEMPT_COLUMNS, attempts ?? []),
    ],
    notes: body_hidden ? ['The one-time code in the text is replaced; 3ds list shows it.'] : [],
  }),
});

export const redeliver = adminCommand({
  path: 'sandbox deliveries redeliver',
  operation: 'deliveries.redeliver',
  examples: { 'Once more': 'sandbox deliveries redeliver dlv_1' },
  show: showQueued,
});

export const recoverDeliveries = adminCommand({
  path: 'sandbox deliveries recover',
  about:
    'Includes events of the time when it was disabled. Events that were delivered or are on their way are left out.',
  operation: 'deliveries.recover',
  examples: {
    'What was missed in the last hour': 'sandbox deliveries recover wh_1 --since 1h',
    'Since a day': 'sandbox deliveries recover wh_1 --since 2026-11-01',
  },
  columns: 'webhook_id since:2 queued',
  noun: 'recovery',
  idField: 'webhook_id',
  says: ({ webhook_id, since, queued }) =>
    `${queued} ${queued === 1 ? 'event goes' : 'events go'} to ${webhook_id} again, from ${since} on.`,
});

const MOST = DELIVERY_OPERATIONS['deliveries.send'].body.body.maxLength ?? 0;

/** The exact text; a byte order mark and line ends are part of it. Throws `usage` for bytes that are no text. */
async function bodyFrom(ctx: Context, path: string): Promise<string> {
  const bytes = await ctx.files.readBytes(path);
  const where = ctx.files.nameOf(path);
  if (!isUtf8(bytes)) throw usage(`${where} is not UTF-8 text, and a body is sent as text`);
  const body = Buffer.from(bytes).toString();
  if (body === '') throw usage(`${where} is empty`);
  if ([...body].length > MOST) throw usage(`${where} is longer than ${MOST} characters`);
  return body;
}

export const sendDelivery = adminCommand({
  path: 'sandbox deliveries send',
  summary: 'Send a body of your own to a subscription, signed right, wrong, or not at all',
  about: [
    'Shows what your receiver does with it. It goes to the address of the subscription alone, whatever events it asked for, and is tried again like any other. Without --body it is an invented example of the event.',
    '--sign former takes the secret from before the last rotation, while both are valid.',
  ],
  operation: 'deliveries.send',
  flags: { body: option(local('file', 'File with the exact body; - for standard input.'), '<file|->') },
  examples: {
    'A settlement': 'sandbox deliveries send wh_1 --event transaction.settled',
    'An example with a wrong signature': 'sandbox deliveries send wh_1 --event card.created --sign wrong',
    'Your own body': 'sandbox deliveries send wh_1 --event card.created --body event.json',
  },
  check: async ({ body }, ctx) => (body === undefined ? undefined : { body: await bodyFrom(ctx, body) }),
  show: showQueued,
});

export const rotateSecret = adminCommand({
  path: 'sandbox deliveries rotate',
  about:
    'While both are valid, the signature header holds one signature of each, separated by a comma, the new one first. At most two secrets sign: a second rotation ends the oldest at once.',
  operation: 'deliveries.rotate',
  examples: {
    'A day to change receivers': 'sandbox deliveries rotate wh_1',
    'The old one ends now': 'sandbox deliveries rotate wh_1 --overlap 0s',
  },
  columns: 'webhook_id secret old_until:2',
  noun: 'secret',
  idField: 'webhook_id',
  show: ({ old_until }) => ({
    notes: [
      `The old secret signs as well until ${old_until}.`,
      'The new one is shown this once. Keep it where your receiver reads it.',
    ],
  }),
});
