/** A made-up payload for each event, as it looks after the change the event tells of. */
import { EVENTS, type EventName } from '../../contract/events.ts';
import { EXAMPLES } from '../../contract/examples.ts';
import { NAMED_SHAPES } from '../../contract/named-shapes.ts';

type Fields = Readonly<Record<string, unknown>>;

const AUTHORIZATION = EXAMPLES['Transaction']?.['id'];

/** What differs from the example of the object. */
const AFTER: Readonly<Partial<Record<EventName, Fields>>> = {
  'card.frozen': { status: 'frozen' },
  'card.terminated': { status: 'terminated', balance: 0 },
  'transaction.settled': {
    id: 'txn_onsxi5dmmvsa2zlymftha3df',
    type: 'settlement',
    status: 'completed',
    authorization_id: AUTHORIZATION,
  },
  'transaction.declined': {
    id: 'txn_mrswg3djnzswizlymftha3df',
    type: 'decline',
    status: 'declined',
    decline_reason: 'spending_limit_exceeded',
  },
  'transaction.refunded': {
    id: 'txn_ojswm5lomrswizlymftha3df',
    type: 'refund',
    status: 'completed',
    authorization_id: AUTHORIZATION,
  },
  'deposit.confirmed': { status: 'confirmed', confirmations: 2, confirmed_at: '2026-11-20T14:20:00Z' },
};

export function exampleOf(event: EventName): Fields {
  const title = NAMED_SHAPES.find(({ shape, use }) => use === 'answer' && shape === EVENTS[event].data)?.title ?? '';
  const example = EXAMPLES[title];
  if (example === undefined) throw new Error(`no example of ${event}`);
  return { ...example, ...AFTER[event] };
}
