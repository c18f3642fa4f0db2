/** Interface 6: the twelve events, and the payload around them. */
import { glob } from '../core/text.ts';
import { type AssumptionId, assumed, stated } from './basis.ts';
import { CARD } from './card.ts';
import { must, type Shape, text, time } from './field.ts';
import { CHALLENGE, DEPOSIT, TRANSACTION } from './resources.ts';

const event = (meaning: string, data: Shape, id: AssumptionId = 'A-74') => ({ meaning, data, basis: stated('6', id) });
export type EventRow = ReturnType<typeof event>;

export const EVENTS = {
  'card.created': event('A new card was issued.', CARD, 'A-83'),
  'card.frozen': event('A card was frozen.', CARD, 'A-84'),
  'card.unfrozen': event('A card was unfrozen.', CARD),
  'card.terminated': event('A card was terminated.', CARD, 'A-85'),
  'card.funded': event('Funds were added to a card.', CARD),
  'transaction.authorized': event('A transaction was authorized.', TRANSACTION),
  'transaction.settled': event('A transaction was settled.', TRANSACTION),
  'transaction.declined': event('A transaction was declined.', TRANSACTION),
  'transaction.refunded': event('A refund was processed.', TRANSACTION),
  '3ds.challenge': event('A 3DS verification is required.', CHALLENGE, 'A-56'),
  'deposit.pending': event('A crypto deposit was detected.', DEPOSIT),
  'deposit.confirmed': event('A crypto deposit was confirmed.', DEPOSIT),
} as const;

export type EventName = keyof typeof EVENTS;

/** What is posted to a subscription; `data` is the object after the change. */
export const EVENT_ENVELOPE = {
  id: must(text('Event identifier, the same on every attempt.', assumed('A-73'), { also: ['event_id'] })),
  type: must(text('Event name.', assumed('A-73'), { also: ['event', 'event_type', 'name'], names: 'event' })),
  created_at: time('When it happened.', assumed('A-73'), {
    also: ['created', 'created_on', 'timestamp', 'occurred_at'],
  }),
} as const;

/** Where the object may stand in a payload; else the payload itself is it. */
export const EVENT_DATA = ['data.object', 'data', 'payload', 'resource'] as const;

/** Headers that name the event where the payload does not; not signed. */
export const EVENT_ID_HEADERS = ['X-Webhook-Id', 'Webhook-Id'] as const;

/** Names that a pattern such as `card.*` or `*` means; empty for one that means none. */
export function eventsMatching(pattern: string): readonly EventName[] {
  return (Object.keys(EVENTS) as EventName[]).filter(name => matchesEvent(pattern, name));
}

export const matchesEvent = (pattern: string, name: string) => glob(pattern)(name);

/** The body without its code: as it was where its event has no secret field, JSON written anew where one was taken out. */
export function withoutCode(type: string, body: string): string {
  const fields = Object.hasOwn(EVENTS, type) ? EVENTS[type as keyof typeof EVENTS].data : {};
  const secret = Object.entries(fields).filter(([, field]) => field.secret);
  if (secret.length === 0) return body;
  const event = JSON.parse(body) as { readonly data?: Readonly<Record<string, unknown>> };
  const data: Record<string, unknown> = { ...event.data };
  for (const [name, { wire = name }] of secret) if (Object.hasOwn(data, wire)) data[wire] = '[hidden]';
  return JSON.stringify({ ...event, data });
}
