/**
 * What the sandbox sends to subscriptions, and what can be done about it (docs/design/sandbox.md, sections 4 and 9).
 */
import { DAY, durationOf } from '../../core/durations.ts';
import { EVENTS } from '../events.ts';
import { must, nullable } from '../field.ts';
import { choice, flag, integer, list, map, object, text, time } from '../own-field.ts';
import { WEBHOOK_ID, WEBHOOK_STATUSES } from '../resources.ts';
import { DELIVERY_STATES } from './basis.ts';
import { BETWEEN, change, listOf, look, one, pageOf, paging } from './row.ts';

/** The secret of the subscription, another text, the one before it, or no signature at all. */
const SIGNED_WITH = ['right', 'wrong', 'former', 'none'] as const;
export type SignedWith = (typeof SIGNED_WITH)[number];

export const ATTEMPT = {
  number: must(integer('Which attempt, from 1.')),
  at: must(time('When, on the clock of the sandbox.')),
  address: nullable(text('Address it went to.')),
  status: nullable(integer('HTTP status of the answer.')),
  duration_ms: nullable(integer('Real milliseconds it took.')),
  error: nullable(text('Why there was no answer.')),
  request_headers: map('Headers that were sent.'),
  answer_headers: nullable(map('Headers of the answer.')),
  answer_body: nullable(text('First 4 KiB of the answer.')),
} as const;

export const DELIVERY = {
  id: must(text('Identifier of the delivery.')),
  webhook_id: must(text('Subscription it goes to.', { names: 'webhook' })),
  event_id: must(text('Identifier of the event, the same on every delivery of it.')),
  event: must(text('Event name.', { names: 'event' })),
  state: must(choice(DELIVERY_STATES, 'How far it is.')),
  attempt: must(integer('Attempts begun so far.')),
  created_at: must(time('When it was queued, on the clock of the sandbox.')),
  due_at: nullable(time('When it goes next, while it is queued.')),
  example: must(flag('An example, not something that happened.')),
  edited: must(flag('Its body was written by hand.')),
  signed: must(choice(SIGNED_WITH, 'What it is signed with.')),
  attempts: list(object(ATTEMPT, 'One attempt.'), 'What was sent and what came back.'),
} as const;

/** A delivery with the exact text that it brings. */
const WHOLE_DELIVERY = {
  ...DELIVERY,
  body: must(text('Text that is sent; a one-time code in it is replaced.')),
  body_hidden: must(flag('A code was replaced: the text that is sent is another one.')),
  body_bytes: must(integer('Bytes that are sent.')),
  body_sha256: must(text('SHA-256 of the bytes that are sent, lowercase hex.')),
} as const;

/** A subscription, and how its deliveries went. */
const SUBSCRIPTION = {
  id: must(text('Subscription.', { names: 'webhook' })),
  address: must(text('Scheme, host and port that it goes to.')),
  events: must(list(text('Event name.', { names: 'event' }), 'Events it asked for; * is all.')),
  status: must(choice(WEBHOOK_STATUSES, 'Whether anything goes to it.')),
  created_at: must(time('When it was made, on the clock of the sandbox.')),
  failing_since: nullable(time('The first failure after the last success.')),
  waiting: must(integer('Deliveries that are queued or on their way.')),
  delivered: must(integer('Deliveries that were taken.')),
  failed: must(integer('Deliveries that were given up or cancelled.')),
} as const;

export const DELIVERY_OPERATIONS = {
  webhooks: look('List subscriptions with how their deliveries went', 'GET /webhooks', {
    returns: listOf(SUBSCRIPTION),
  }),
  deliveries: look('List deliveries to subscriptions with their attempts, newest first', 'GET /deliveries', {
    query: {
      webhook_id: text('Only those to this subscription.', { names: 'webhook' }),
      event_id: text('Only those of this event.'),
      event: text('Only those of events of this name.', { names: 'event' }),
      state: choice(DELIVERY_STATES, 'Only those.'),
      ...BETWEEN,
      ...paging(25, 100),
    },
    returns: pageOf(DELIVERY),
  }),
  'deliveries.get': look(
    'Show a delivery with its attempts and the text that it brings',
    'GET /deliveries/{delivery_id}',
    { params: { delivery_id: must(text('Delivery.')) }, returns: one(WHOLE_DELIVERY) },
  ),
  'deliveries.redeliver': change(
    'Send a delivery again, with the same event id and the same bytes',
    'POST /deliveries/{delivery_id}/redeliver',
    { params: { delivery_id: must(text('Delivery to repeat.')) }, returns: one(DELIVERY, 201) },
  ),
  'deliveries.recover': change(
    'Send a subscription every event that it missed since a time',
    'POST /webhooks/{webhook_id}/recover',
    {
      params: { webhook_id: WEBHOOK_ID },
      body: { since: must(time('Events since this time, on the clock of the sandbox.')) },
      returns: one({
        webhook_id: WEBHOOK_ID,
        since: must(time('Where it began: not before the subscription was made.')),
        queued: must(integer('Events that go again.')),
      }),
    },
  ),
  'deliveries.send': change(
    'Send a body of your own to a subscription, signed as asked',
    'POST /webhooks/{webhook_id}/send',
    {
      params: { webhook_id: WEBHOOK_ID },
      body: {
        event: must(choice(Object.keys(EVENTS), 'Event name.', { names: 'event' })),
        body: text('Exact text to send; an example of the event when left out.', { maxLength: 32_768 }),
        sign: choice(SIGNED_WITH, 'What to sign it with.', { defaults: 'right' }),
      },
      returns: one(DELIVERY, 201),
    },
  ),
  'deliveries.rotate': change(
    'Replace the signing secret of a subscription; both sign for a while',
    'POST /webhooks/{webhook_id}/rotate',
    {
      params: { webhook_id: WEBHOOK_ID },
      body: {
        overlap: text('How long both secrets sign, such as 24h or 90m; 0s ends the old one now.', {
          maxLength: 40,
          defaults: '24h',
          form: {
            holds: overlap => /^0[dhms]$/.test(overlap) || (durationOf(overlap) ?? Number.NaN) <= 365 * DAY,
            says: 'must be a time up to 365d, such as 24h or 90m',
          },
        }),
      },
      returns: one({
        webhook_id: WEBHOOK_ID,
        secret: must(text('New signing secret; shown in this answer only.', { secret: true })),
        old_until: must(time('Until when the old one signs as well.')),
      }),
    },
  ),
} as const;
