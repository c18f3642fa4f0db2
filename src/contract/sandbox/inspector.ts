/**
 * Looking closely at what a sandbox did, and why (docs/design/inspector.md). A row that `leavesNoTrace` takes no number,
 * fires no timer, meets no fault and stands in no log: an export is the same with it and without.
 */
import { CARD_ID } from '../card.ts';
import { choice, integer, list, map, money, must, nullable, object, text, time } from '../field.ts';
import { listOf, one, operation, pageOf } from '../operation.ts';
import { DECLINE_REASONS } from '../resources.ts';
import { described, ours, paging, THOROUGH, traceless } from './basis.ts';
import { LOGGED_REQUEST } from './faults.ts';
import { NOT_KEPT_REASONS } from './not-kept.ts';
import { SNAPSHOT_NAME_FIELD } from './snapshots.ts';

const CHECK_RESULTS = ['holds', 'fails', 'not_asked'] as const;
const WHY_OUTCOMES = ['approved', 'declined', 'posted'] as const;

/** The checks of A-48 about one record: what was compared, and which of them said no. */
const WHY = {
  transaction: must(text(described('The record.'))),
  outcome: must(choice(WHY_OUTCOMES, described('What became of it; posted: it was never asked about.'))),
  decline_reason: nullable(choice(DECLINE_REASONS, described('Why it was declined.'))),
  checks: must(
    list(
      object(
        {
          check: must(choice(DECLINE_REASONS, described('The reason it declines for.'))),
          result: must(choice(CHECK_RESULTS, described('What came of it.'))),
          left: nullable(text(described('What was compared; null where it was not kept.'))),
          right: nullable(text(described('What it was compared with; null where it was not kept.'))),
        },
        described('One of them.'),
      ),
      described('In the order in which they are asked.'),
    ),
  ),
} as const;

export const TIMELINE_KINDS = ['request', 'transaction', 'entry', 'challenge', 'event', 'delivery'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** One thing in the life of a card. */
export const TIMELINE_ITEM = {
  at: must(time(described('When, on the clock of the sandbox.'))),
  kind: must(choice(TIMELINE_KINDS, described('What it is.'))),
  id: must(text(described('Its identifier.'))),
  number: nullable(integer(described('Its number among those of its kind; null where they have none.'))),
  text: must(text(described('What happened, in a few words.'))),
  amount: nullable(money(described('USD; of an entry what came to the card, below 0 for what left it.'))),
} as const;

export const TURNED_REQUEST = {
  at: must(time(described('When, on the clock of the sandbox.'))),
  method: must(text(described('HTTP method.'))),
  path: must(text(described('Path as it was asked, without query and secrets.'))),
  status: must(integer(described('Status of the answer.'))),
  error: must(text(described('Identifier of the error.'))),
  why: must(text(described('What was wrong.'))),
  nearest: nullable(text(described('Method and path of the route that it may have meant.'))),
  key: must(text(described('Form of the key that came with it, never its text.'))),
} as const;

const NOT_KEPT = {
  part: must(text(described('The part: path, idempotency_key, body, body.label, query.status.'))),
  why: must(
    choice(
      NOT_KEPT_REASONS,
      described(
        'It may hold a secret or a card number; of an address only its origin is kept; the operation has no such field; it is longer than is kept; it is no JSON object.',
      ),
    ),
  ),
} as const;

/** What was asked and what was answered. */
export const REQUEST_PAIR = {
  ...LOGGED_REQUEST,
  answer: nullable(
    text(described('Body of the answer, without secrets, its first 4 KiB; null where it was not kept.')),
  ),
  headers: map(described('Some of the headers that were sent.')),
  body_bytes: nullable(integer(described('Length of the body that was sent; null where it was not announced.'))),
  not_kept: nullable(
    list(
      object(NOT_KEPT, described('One of them.')),
      described(
        'Parts that are not kept as they were sent; null for a request of an older cardwright, which did not say.',
      ),
    ),
  ),
  key_last4: nullable(text(described('Last four characters of the API key.'))),
  took_ms: nullable(integer(described('Real milliseconds until the work was done; null where it was not measured.'))),
  on_the_wire: must(text(described('What reached the client: the answer as it is, or what a fault made of it.'))),
} as const;

const TIMER_STATES = ['waiting', 'due', 'parked'] as const;

export const TIMER = {
  due_at: must(time(described('When it is due, on the clock of the sandbox.'))),
  kind: must(text(described('What happens.'))),
  ref: must(text(described('What it happens to.'))),
  state: must(choice(TIMER_STATES, described('Ahead of the clock, due by now, or out of the way because it failed.'))),
  error: nullable(text(described('Why it could not happen, of a parked one.'))),
} as const;

/** What differs between two states of a sandbox. */
export const DIFFERENCE = {
  problems: must(list(text(described('What is damaged.')), described('Why nothing was compared; else empty.'))),
  tables: must(
    list(
      object(
        {
          table: must(text(described('Table of the store.'))),
          added: must(integer(described('Rows that are new.'))),
          removed: must(integer(described('Rows that are gone.'))),
          changed: must(integer(described('Rows that are others now.'))),
        },
        described('One of them.'),
      ),
      described('Tables that differ.'),
    ),
  ),
  accounts: must(
    list(
      object(
        {
          account: must(text(described('Account of the ledger.'))),
          delta: must(money(described('USD; what it has more, below 0 for less.'))),
        },
        described('One of them.'),
      ),
      described('Accounts of the ledger that hold something else; the differences sum to 0.'),
    ),
  ),
  cards: must(
    list(
      object(
        {
          card_id: must(text({ ...described('The card.'), names: 'card' })),
          fields: must(
            list(
              object(
                {
                  field: must(text(described('Name of the field.'))),
                  from: nullable(text(described('What it was, as JSON; null where there was no such card.'))),
                  to: nullable(text(described('What it is, as JSON; null where there is no such card.'))),
                },
                described('One of them.'),
              ),
              described('Fields that differ.'),
            ),
          ),
        },
        described('One of them.'),
      ),
      described('Cards that differ, in the order of their ids.'),
    ),
  ),
} as const;

export const INSPECTOR_OPERATIONS = {
  'transactions.why': operation({
    ...traceless,
    summary: 'Show the checks that a purchase went through, and which one declined it',
    path: '/transactions/{transaction_id}/why',
    params: { transaction_id: must(text({ ...described('Transaction record.'), names: 'transaction' })) },
    returns: one(WHY, ours),
  }),
  'cards.timeline': operation({
    ...traceless,
    summary: 'Show what happened to a card, newest first',
    path: '/cards/{card_id}/timeline',
    params: { card_id: CARD_ID },
    query: {
      kinds: text({ ...described(`Only those kinds, with commas: ${TIMELINE_KINDS.join(', ')}.`), maxLength: 100 }),
      ...paging(50),
    },
    returns: pageOf(TIMELINE_ITEM, ours),
  }),
  'requests.turned': operation({
    ...traceless,
    summary: 'List the newest requests that this server turned away before they were counted',
    path: '/requests/turned',
    returns: listOf(TURNED_REQUEST, ours),
  }),
  'requests.get': operation({
    ...traceless,
    summary: 'Show a request with its answer',
    path: '/requests/{request_id}',
    params: { request_id: must(text({ ...described('The request.'), maxLength: 64 })) },
    returns: one(REQUEST_PAIR, ours),
  }),
  timers: operation({
    ...traceless,
    summary: 'List what happens by itself, earliest first',
    path: '/timers',
    query: paging(50),
    returns: pageOf(TIMER, ours),
  }),
  'snapshots.diff': operation({
    ...traceless,
    ...THOROUGH,
    summary: 'Compare a snapshot with another one, or with what the sandbox holds now',
    path: '/snapshots/{name}/diff',
    params: { name: SNAPSHOT_NAME_FIELD },
    query: {
      to: text({ ...described('The other snapshot; what the sandbox holds now when left out.'), maxLength: 64 }),
    },
    returns: one(DIFFERENCE, ours),
  }),
} as const;
