/**
 * Looking closely at what a sandbox did, and why (docs/design/inspector.md). A row that `leavesNoTrace` takes no number,
 * fires no timer, meets no fault and stands in no log: an export is the same with it and without.
 */
import { CARD_ID } from '../card.ts';
import { must, nullable } from '../field.ts';
import { choice, integer, list, map, money, rows, text, time } from '../own-field.ts';
import { DECLINE_REASONS } from '../resources.ts';
import { LOGGED_REQUEST } from './faults.ts';
import { NOT_KEPT_REASONS } from './not-kept.ts';
import { listOf, look, one, pageOf, paging, THOROUGH } from './row.ts';
import { SNAPSHOT_NAME_FIELD } from './snapshots.ts';

const CHECK_RESULTS = ['holds', 'fails', 'not_asked'] as const;
const WHY_OUTCOMES = ['approved', 'declined', 'posted'] as const;

/** The checks of A-48 about one record: what was compared, and which of them said no. */
const WHY = {
  transaction: must(text('The record.')),
  outcome: must(choice(WHY_OUTCOMES, 'What became of it; posted: it was never asked about.')),
  decline_reason: nullable(choice(DECLINE_REASONS, 'Why it was declined.')),
  checks: must(
    rows(
      {
        check: must(choice(DECLINE_REASONS, 'The reason it declines for.')),
        result: must(choice(CHECK_RESULTS, 'What came of it.')),
        left: nullable(text('What was compared; null where it was not kept.')),
        right: nullable(text('What it was compared with; null where it was not kept.')),
      },
      'In the order in which they are asked.',
    ),
  ),
} as const;

export const TIMELINE_KINDS = ['request', 'transaction', 'entry', 'challenge', 'event', 'delivery'] as const;
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

export const TURNED_REQUEST = {
  at: must(time('When, on the clock of the sandbox.')),
  method: must(text('HTTP method.')),
  path: must(text('Path as it was asked, without query and secrets.')),
  status: must(integer('Status of the answer.')),
  error: must(text('Identifier of the error.')),
  why: must(text('What was wrong.')),
  nearest: nullable(text('Method and path of the route that it may have meant.')),
  key: must(text('Form of the key that came with it, never its text.')),
} as const;

const NOT_KEPT = {
  part: must(text('The part: path, idempotency_key, body, body.label, query.status.')),
  why: must(
    choice(
      NOT_KEPT_REASONS,
      'It may hold a secret or a card number; of an address only its origin is kept; the operation has no such field; it is longer than is kept; it is no JSON object.',
    ),
  ),
} as const;

/** What was asked and what was answered. */
export const REQUEST_PAIR = {
  ...LOGGED_REQUEST,
  answer: nullable(text('Body of the answer, without secrets, its first 4 KiB; null where it was not kept.')),
  headers: map('Some of the headers that were sent.'),
  body_bytes: nullable(integer('Length of the body that was sent; null where it was not announced.')),
  not_kept: must(rows(NOT_KEPT, 'Parts that are not kept as they were sent.')),
  key_last4: nullable(text('Last four characters of the API key.')),
  took_ms: nullable(integer('Real milliseconds until the work was done; null where it was not measured.')),
  on_the_wire: must(text('What reached the client: the answer as it is, or what a fault made of it.')),
} as const;

const TIMER_STATES = ['waiting', 'due', 'parked'] as const;

export const TIMER = {
  due_at: must(time('When it is due, on the clock of the sandbox.')),
  kind: must(text('What happens.')),
  ref: must(text('What it happens to.')),
  state: must(choice(TIMER_STATES, 'Ahead of the clock, due by now, or out of the way because it failed.')),
  error: nullable(text('Why it could not happen, of a parked one.')),
} as const;

/** What differs between two states of a sandbox. */
export const DIFFERENCE = {
  problems: must(list(text('What is damaged.'), 'Why nothing was compared; else empty.')),
  tables: must(
    rows(
      {
        table: must(text('Table of the store.')),
        added: must(integer('Rows that are new.')),
        removed: must(integer('Rows that are gone.')),
        changed: must(integer('Rows that are others now.')),
      },
      'Tables that differ.',
    ),
  ),
  accounts: must(
    rows(
      { account: must(text('Account of the ledger.')), delta: must(money('USD; what it has more, below 0 for less.')) },
      'Accounts of the ledger that hold something else; the differences sum to 0.',
    ),
  ),
  cards: must(
    rows(
      {
        card_id: must(text('The card.', { names: 'card' })),
        fields: must(
          rows(
            {
              field: must(text('Name of the field.')),
              from: nullable(text('What it was, as JSON; null where there was no such card.')),
              to: nullable(text('What it is, as JSON; null where there is no such card.')),
            },
            'Fields that differ.',
          ),
        ),
      },
      'Cards that differ, in the order of their ids.',
    ),
  ),
} as const;

export const INSPECTOR_OPERATIONS = {
  'transactions.why': look({
    summary: 'Show the checks that a purchase went through, and which one declined it',
    path: '/transactions/{transaction_id}/why',
    params: { transaction_id: must(text('Transaction record.', { names: 'transaction' })) },
    returns: one(WHY),
  }),
  'cards.timeline': look({
    summary: 'Show what happened to a card, newest first',
    path: '/cards/{card_id}/timeline',
    params: { card_id: CARD_ID },
    query: {
      kinds: text(`Only those kinds, with commas: ${TIMELINE_KINDS.join(', ')}.`, { maxLength: 100 }),
      ...paging(50),
    },
    returns: pageOf(TIMELINE_ITEM),
  }),
  'requests.turned': look({
    summary: 'List the newest requests that this server turned away before they were counted',
    path: '/requests/turned',
    returns: listOf(TURNED_REQUEST),
  }),
  'requests.get': look({
    summary: 'Show a request with its answer',
    path: '/requests/{request_id}',
    params: { request_id: must(text('The request.', { maxLength: 64 })) },
    returns: one(REQUEST_PAIR),
  }),
  timers: look({
    summary: 'List what happens by itself, earliest first',
    path: '/timers',
    query: paging(50),
    returns: pageOf(TIMER),
  }),
  'snapshots.diff': look({
    ...THOROUGH,
    summary: 'Compare a snapshot with another one, or with what the sandbox holds now',
    path: '/snapshots/{name}/diff',
    params: { name: SNAPSHOT_NAME_FIELD },
    query: { to: text('The other snapshot; what the sandbox holds now when left out.', { maxLength: 64 }) },
    returns: one(DIFFERENCE),
  }),
} as const;
