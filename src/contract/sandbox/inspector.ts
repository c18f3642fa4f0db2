/**
 * Looking closely at what a sandbox did, and why (docs/design/inspector.md). A row that `leavesNoTrace` takes no number,
 * fires no timer, meets no fault and stands in no log: an export is the same with it and without.
 */
import { CARD_ID } from '../card.ts';
import { must, nullable } from '../field.ts';
import { choice, integer, map, money, rows, text, texts, time } from '../own-field.ts';
import { DECLINE_REASONS } from '../resources.ts';
import { LOGGED_REQUEST } from './faults.ts';
import { look, one, pageOf, paging, TIMED } from './row.ts';

/** One of the checks of A-48. */
export const CHECK = {
  check: must(choice(DECLINE_REASONS, 'The reason it declines for.')),
  result: must(choice(['holds', 'fails', 'not_asked'], 'What came of it.')),
  left: nullable(text('What was compared; null where it was not kept.')),
  right: nullable(text('What it was compared with; null where it was not kept.')),
} as const;

/** The checks about one record: what was compared, and which of them said no. */
const WHY = {
  transaction: must(text('The record.')),
  outcome: must(choice(['approved', 'declined', 'posted'], 'What became of it; posted: it was never asked about.')),
  decline_reason: nullable(choice(DECLINE_REASONS, 'Why it was declined.')),
  checks: must(rows(CHECK, 'In the order in which they are asked.')),
} as const;

export const TIMELINE_KINDS = ['request', 'challenge', 'transaction', 'entry', 'event', 'delivery'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** One thing in the life of a card. */
export const TIMELINE_ITEM = {
  at: must(time('When, on the clock of the sandbox.')),
  kind: must(choice(TIMELINE_KINDS, 'What it is.')),
  id: must(text('Its identifier.')),
  number: nullable(integer('Its number among those of its kind; null where they have none.')),
  text: must(text('What happened, in a few words.')),
  amount: nullable(money('USD; of an entry what came to the card, below 0 for what left it.')),
} as const;

/** What was asked and what was answered. */
export const REQUEST_PAIR = {
  ...LOGGED_REQUEST,
  answer: nullable(text('Body of the answer, without secrets, its first 4 KiB; null where it was not kept.')),
  headers: map('Some of the headers that were sent.'),
  body_bytes: nullable(integer('Length of the body that was sent; null where it was not announced.')),
  not_kept: must(
    texts('Parts that are not kept as they were sent: path, idempotency_key, body, body.label, query.status.'),
  ),
  key_last4: nullable(text('Last four characters of the API key.')),
  took_ms: nullable(integer('Real milliseconds until the work was done; null where it was not measured.')),
  on_the_wire: must(text('What reached the client: the answer as it is, or what a fault made of it.')),
} as const;

export const TIMER = {
  ...TIMED,
  state: must(
    choice(['waiting', 'due', 'parked'], 'Ahead of the clock, due by now, or out of the way because it failed.'),
  ),
  error: nullable(text('Why it could not happen, of a parked one.')),
} as const;

export const INSPECTOR_OPERATIONS = {
  'transactions.why': look(
    'Show the checks that a purchase went through, and which one declined it',
    'GET /transactions/{transaction_id}/why',
    { params: { transaction_id: must(text('Transaction record.', { names: 'transaction' })) }, returns: one(WHY) },
  ),
  'cards.timeline': look('Show what happened to a card, newest first', 'GET /cards/{card_id}/timeline', {
    params: { card_id: CARD_ID },
    query: {
      kinds: text(`Only those kinds, with commas: ${TIMELINE_KINDS.join(', ')}.`, {
        maxLength: 100,
        form: {
          holds: kinds => kinds.split(',').every(kind => (TIMELINE_KINDS as readonly string[]).includes(kind.trim())),
          says: `must be some of ${TIMELINE_KINDS.join(', ')}, with commas`,
        },
      }),
      ...paging(50),
    },
    returns: pageOf(TIMELINE_ITEM),
  }),
  'requests.get': look('Show a request with its answer', 'GET /requests/{request_id}', {
    params: { request_id: must(text('The request.', { maxLength: 64 })) },
    returns: one(REQUEST_PAIR),
  }),
  timers: look('List what happens by itself, earliest first', 'GET /timers', {
    query: paging(50),
    returns: pageOf(TIMER),
  }),
} as const;
