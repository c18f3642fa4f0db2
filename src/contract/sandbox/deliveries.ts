/**
 * What the sandbox sends to subscriptions, and what can be done about it (docs/design/sandbox.md, sections 4 and 9).
 */
import { choice, flag, integer, list, map, must, nullable, object, text, time } from '../field.ts';
import { listOf, one, operation, pageOf } from '../operation.ts';
import { WEBHOOK_ID } from '../resources.ts';
import { change, described, ours, paging, traceless } from './basis.ts';

/** The secret of the subscription, another text, the one before it, or no signature at all. */
const SIGNED_WITH = ['right', 'wrong', 'former', 'none'] as const;
export type SignedWith = (typeof SIGNED_WITH)[number];

const DELIVERY_STATES = ['queued', 'sending', 'delivered', 'failed', 'cancelled'] as const;

export const ATTEMPT = {
  number: must(integer(described('Which attempt, from 1.'))),
  at: must(time(described('When, on the clock of the sandbox.'))),
  address: nullable(text(described('Address it went to.'))),
  status: nullable(integer(described('HTTP status of the answer.'))),
  duration_ms: nullable(integer(described('Real milliseconds it took.'))),
  error: nullable(text(described('Why there was no answer.'))),
  request_headers: map(described('Headers that were sent.')),
  answer_headers: nullable(map(described('Headers of the answer.'))),
  answer_body: nullable(text(described('First 4 KiB of the answer.'))),
} as const;

export const DELIVERY = {
  id: must(text(described('Identifier of the delivery.'))),
  webhook_id: must(text({ ...described('Subscription it goes to.'), names: 'webhook' })),
  event_id: must(text(described('Identifier of the event, the same on every delivery of it.'))),
  event: must(text({ ...described('Event name.'), names: 'event' })),
  state: must(choice(DELIVERY_STATES, described('How far it is.'))),
  attempt: must(integer(described('Attempts begun so far.'))),
  created_at: must(time(described('When it was queued, on the clock of the sandbox.'))),
  due_at: nullable(time(described('When it goes next, while it is queued.'))),
  example: must(flag(described('An example, not something that happened.'))),
  edited: must(flag(described('Its body was written by hand.'))),
  signed: must(choice(SIGNED_WITH, described('What it is signed with.'))),
  attempts: list(object(ATTEMPT, described('One attempt.')), described('What was sent and what came back.')),
} as const;

/** A delivery with the exact text that it brings. */
const WHOLE_DELIVERY = {
  ...DELIVERY,
  body: must(text(described('Text that is sent; a one-time code in it is replaced.'))),
  body_hidden: must(flag(described('A code was replaced: the text that is sent is another one.'))),
  body_bytes: must(integer(described('Bytes that are sent.'))),
  body_sha256: must(text(described('SHA-256 of the bytes that are sent, lowercase hex.'))),
} as const;

const event = text({ ...described('Event name.'), names: 'event' });

/** A subscription, and how its deliveries went. */
const SUBSCRIPTION = {
  id: must(text({ ...described('Subscription.'), names: 'webhook' })),
  address: must(text(described('Scheme, host and port that it goes to.'))),
  events: must(
    list(text({ ...described('Event name.'), names: 'event' }), described('Events it asked for; * is all.')),
  ),
  status: must(choice(['active', 'disabled'], described('Whether anything goes to it.'))),
  created_at: must(time(described('When it was made, on the clock of the sandbox.'))),
  failing_since: nullable(time(described('The first failure after the last success.'))),
  waiting: must(integer(described('Deliveries that are queued or on their way.'))),
  delivered: must(integer(described('Deliveries that were taken.'))),
  failed: must(integer(described('Deliveries that were given up or cancelled.'))),
} as const;

export const DELIVERY_OPERATIONS = {
  webhooks: operation({
    ...traceless,
    summary: 'List subscriptions with how their deliveries went',
    path: '/webhooks',
    returns: listOf(SUBSCRIPTION, ours),
  }),
  deliveries: operation({
    ...traceless,
    summary: 'List deliveries to subscriptions with their attempts, newest first',
    path: '/deliveries',
    query: {
      webhook_id: text({ ...described('Only those to this subscription.'), names: 'webhook' }),
      event_id: text(described('Only those of this event.')),
      event: { ...event, doc: 'Only those of events of this name.' },
      state: choice(DELIVERY_STATES, described('Only those.')),
      ...paging(25, 100),
    },
    returns: pageOf(DELIVERY, ours),
  }),
  'deliveries.get': operation({
    ...traceless,
    summary: 'Show a delivery with its attempts and the text that it brings',
    path: '/deliveries/{delivery_id}',
    params: { delivery_id: must(text(described('Delivery.'))) },
    returns: one(WHOLE_DELIVERY, ours),
  }),
  'deliveries.redeliver': operation({
    ...change,
    summary: 'Send a delivery again, with the same event id and the same bytes',
    path: '/deliveries/{delivery_id}/redeliver',
    params: { delivery_id: must(text(described('Delivery to repeat.'))) },
    returns: one(DELIVERY, ours, 201),
  }),
  'deliveries.recover': operation({
    ...change,
    summary: 'Send a subscription every event that it missed since a time',
    path: '/webhooks/{webhook_id}/recover',
    params: { webhook_id: WEBHOOK_ID },
    body: { since: must(time(described('Events since this time, on the clock of the sandbox.'))) },
    returns: one(
      {
        webhook_id: WEBHOOK_ID,
        since: must(time(described('Where it began: not before the subscription was made.'))),
        queued: must(integer(described('Events that go again.'))),
      },
      ours,
    ),
  }),
  'deliveries.example': operation({
    ...change,
    summary: 'Send an example event to a subscription',
    path: '/webhooks/{webhook_id}/example',
    params: { webhook_id: WEBHOOK_ID },
    body: { event: must(event) },
    returns: one(DELIVERY, ours, 201),
  }),
  'deliveries.send': operation({
    ...change,
    summary: 'Send a body of your own to a subscription, signed as asked',
    path: '/webhooks/{webhook_id}/send',
    params: { webhook_id: WEBHOOK_ID },
    body: {
      event: must(event),
      body: text({ ...described('Exact text to send; an example of the event when left out.'), maxLength: 32_768 }),
      sign: choice(SIGNED_WITH, { ...described('What to sign it with.'), defaults: 'right' }),
    },
    returns: one(DELIVERY, ours, 201),
  }),
  'deliveries.explain': operation({
    ...traceless,
    summary: 'Judge a signature that your code saw, and name the usual mistakes',
    method: 'POST',
    path: '/webhooks/{webhook_id}/explain',
    params: { webhook_id: WEBHOOK_ID },
    body: {
      signature: must(text({ ...described('Signature that your code saw.'), maxLength: 4_096 })),
      body: must(text({ ...described('Body that your code saw, exactly.'), maxLength: 32_768 })),
    },
    returns: one(
      {
        matches: must(flag(described('The signature is that of the body.'))),
        secret: nullable(choice(['present', 'former'], described('The secret that made it; null when none did.'))),
        deviations: must(
          list(text(described('One of them.')), described('In what it is otherwise than documented, and matches.')),
        ),
        mistakes: must(
          list(
            object(
              {
                mistake: must(text(described('Name of it.'))),
                says: must(text(described('What was done wrong.'))),
              },
              described('One of them.'),
            ),
            described('What explains that it does not match; empty where no usual mistake does.'),
          ),
        ),
      },
      ours,
    ),
  }),
  'deliveries.rotate': operation({
    ...change,
    summary: 'Replace the signing secret of a subscription; both sign for a while',
    path: '/webhooks/{webhook_id}/rotate',
    params: { webhook_id: WEBHOOK_ID },
    body: {
      overlap: text({
        ...described('How long both secrets sign, such as 24h or 90m; 0s ends the old one now.'),
        maxLength: 40,
        defaults: '24h',
      }),
    },
    returns: one(
      {
        webhook_id: WEBHOOK_ID,
        secret: must(text({ ...described('New signing secret; shown in this answer only.'), secret: true })),
        old_until: must(time(described('Until when the old one signs as well.'))),
      },
      ours,
    ),
  }),
} as const;
