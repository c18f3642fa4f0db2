/**
 * What the sandbox sends to subscriptions, and what can be done about it (docs/design/sandbox.md, sections 4 and 9).
 */
import { choice, flag, integer, list, map, must, nullable, object, text, time } from '../field.ts';
import { one, operation, pageOf } from '../operation.ts';
import { WEBHOOK_ID } from '../resources.ts';
import { change, look, ours, said } from './basis.ts';

export const DELIVERY_STATES = ['queued', 'sending', 'delivered', 'failed', 'cancelled'] as const;

const ATTEMPT = {
  number: must(integer(said('Which attempt, from 1.'))),
  at: must(time(said('When, on the clock of the sandbox.'))),
  address: nullable(text(said('Address it went to.'))),
  status: nullable(integer(said('HTTP status of the answer.'))),
  duration_ms: nullable(integer(said('Real milliseconds it took.'))),
  error: nullable(text(said('Why there was no answer.'))),
  request_headers: map(said('Headers that were sent.')),
  answer_headers: nullable(map(said('Headers of the answer.'))),
  answer_body: nullable(text(said('First 4 KiB of the answer.'))),
} as const;

export const DELIVERY = {
  id: must(text(said('Identifier of the delivery.'))),
  webhook_id: must(text({ ...said('Subscription it goes to.'), names: 'webhook' })),
  event_id: must(text(said('Identifier of the event, the same on every delivery of it.'))),
  event: must(text({ ...said('Event name.'), names: 'event' })),
  state: must(choice(DELIVERY_STATES, said('How far it is.'))),
  attempt: must(integer(said('Attempts begun so far.'))),
  created_at: must(time(said('When it was queued, on the clock of the sandbox.'))),
  due_at: nullable(time(said('When it goes next, while it is queued.'))),
  example: must(flag(said('An example, not something that happened.'))),
  attempts: list(object(ATTEMPT, said('One attempt.')), said('What was sent and what came back.')),
} as const;

const event = text({ ...said('Event name.'), names: 'event' });

export const DELIVERY_OPERATIONS = {
  deliveries: operation({
    ...look,
    summary: 'List deliveries to subscriptions with their attempts, newest first',
    path: '/deliveries',
    query: {
      webhook_id: text({ ...said('Only those to this subscription.'), names: 'webhook' }),
      event_id: text(said('Only those of this event.')),
      event: { ...event, doc: 'Only those of events of this name.' },
      state: choice(DELIVERY_STATES, said('Only those.')),
      page: integer({ ...said('Page, from 1.'), min: 1, defaults: 1 }),
      per_page: integer({ ...said('Rows a page.'), min: 1, max: 100, defaults: 25 }),
    },
    returns: pageOf(DELIVERY, ours),
  }),
  'deliveries.redeliver': operation({
    ...change,
    summary: 'Send a delivery again, with the same event id and the same bytes',
    path: '/deliveries/{delivery_id}/redeliver',
    params: { delivery_id: must(text(said('Delivery to repeat.'))) },
    returns: one(DELIVERY, ours, 201),
  }),
  'deliveries.recover': operation({
    ...change,
    summary: 'Send a subscription every event that it missed since a time',
    path: '/webhooks/{webhook_id}/recover',
    params: { webhook_id: WEBHOOK_ID },
    body: { since: must(time(said('Events since this time, on the clock of the sandbox.'))) },
    returns: one(
      {
        webhook_id: WEBHOOK_ID,
        since: must(time(said('Where it began: not before the subscription was made.'))),
        queued: must(integer(said('Events that go again.'))),
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
  'deliveries.rotate': operation({
    ...change,
    summary: 'Replace the signing secret of a subscription; both sign for a while',
    path: '/webhooks/{webhook_id}/rotate',
    params: { webhook_id: WEBHOOK_ID },
    body: {
      overlap: text({
        ...said('How long both secrets sign, such as 24h or 90m; 0s ends the old one now.'),
        maxLength: 40,
        defaults: '24h',
      }),
    },
    returns: one(
      {
        webhook_id: WEBHOOK_ID,
        secret: must(text({ ...said('New signing secret; shown in this answer only.'), secret: true })),
        old_until: must(time(said('Until when the old one signs as well.'))),
      },
      ours,
    ),
  }),
} as const;
