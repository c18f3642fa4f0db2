/** What is asked of a running sandbox, and set in it: its server, its clock, what it holds, its books. */

import { durationOf } from '../../core/durations.ts';
import { CARD, CARD_ID, CARD_STATUSES } from '../card.ts';
import { must, nullable } from '../field.ts';
import { oneOf, type TogetherCheck } from '../operation.ts';
import { choice, flag, integer, list, money, number, object, rows, sealed, text, time } from '../own-field.ts';
import {
  CURRENCIES,
  DEPOSIT,
  DEPOSIT_STATUSES,
  TRANSACTION,
  TRANSACTION_STATUSES,
  TRANSACTION_TYPES,
} from '../resources.ts';
import { CHALLENGE_STATUSES, CLOCK_MODES } from './basis.ts';
import { DIALECT_NAMES } from './faults.ts';
import { BETWEEN, change, listOf, look, one, pageOf, paging, reading, THOROUGH, TIMED } from './row.ts';

export const SERVER_OPERATIONS = {
  health: reading(
    'Tell that the sandbox answers, and prove that it is the one that holds the admin token',
    'GET /health',
    {
      credential: 'none',
      query: { nonce: text('Random text of the asker, proved over.', { maxLength: 128 }) },
      returns: one({
        status: must(text('ok: the store answers too.')),
        version: must(text('Version of cardwright that serves it.')),
        instance: must(text('Which store it is.')),
        proof: text('HMAC-SHA256 of nonce and port under the admin token, lowercase hex.'),
      }),
    },
  ),
  stop: change('End a sandbox that was started for other programs, once running requests are finished', 'POST /stop', {
    returns: one({ pid: must(integer('Process that ends.')) }),
  }),
  'accounts.open': change('Open an account of a server of many accounts; it is made on first use', 'POST /accounts', {
    repeat: 'freely',
    body: {
      name: must(text('Its name: lower-case letters, digits and -.', { minLength: 1, maxLength: 32 })),
      data: choice(['empty', 'demo'], 'What a new one holds at first.', { defaults: 'demo' }),
      seed: integer('Seed of a new one.', { min: 0 }),
      dialect: choice(DIALECT_NAMES, 'How it speaks from now on, until the server ends.'),
    },
    returns: one({
      name: must(text('Its name.')),
      api_key: must(sealed('Key for the service, the same each time.')),
      admin_token: must(sealed('Token for its control surface, the same each time.')),
    }),
  }),
} as const;

// The clock of the sandbox (docs/design/sandbox.md, section 6).

const CLOCK = {
  mode: must(choice(CLOCK_MODES, 'How it goes.')),
  now: must(time('What it shows.')),
  rate: must(number('Its seconds in one real second; 0 when it stands.')),
} as const;

const MOVING_CLOCK = {
  ...CLOCK,
  moving_to: nullable(time('Where it is being moved to; null when nobody moves it.')),
  awaited_deliveries: integer(
    'Attempts of deliveries that are under way, for which its move waits; 0 when nobody moves it.',
  ),
} as const;

const FIRED = {
  ...TIMED,
  error: text('Why it could not happen; then nothing changed, and the timer is parked.'),
} as const;

const SPAN = text('How far, such as 7d, 36h or 1d12h.', {
  maxLength: 40,
  form: { holds: span => durationOf(span) !== undefined, says: 'must be a span of time such as 7d, 36h or 1d12h' },
});

const rateOfScaled: TogetherCheck = ({ given, values: { mode }, called = name => name }) =>
  mode === undefined || (mode === 'scaled') === given.has('rate')
    ? undefined
    : { text: `${called('rate')} is needed for a scaled clock, and for no other` };

export const CLOCK_OPERATIONS = {
  'clock.show': look('Show the clock of the sandbox', 'GET /clock', { returns: one(MOVING_CLOCK) }),
  'clock.set': change('Set the clock of the sandbox', 'PUT /clock', {
    body: {
      mode: must(choice(CLOCK_MODES, 'Mode of the clock.')),
      at: time('What it shall show now; what it shows when left out.'),
      rate: number('Seconds in one real second, for a scaled clock.', { min: 0.001, max: 1_000_000 }),
    },
    together: rateOfScaled,
    returns: one(CLOCK),
  }),
  'clock.advance': change(
    'Move the clock forward; what is due on the way happens at its time, in order',
    'POST /clock/advance',
    {
      body: { by: SPAN, to: time('Until when.') },
      together: oneOf('by', 'to'),
      returns: one({
        mode: CLOCK.mode,
        now: CLOCK.now,
        fired: must(list(object(FIRED, 'One thing that happened.'), 'What happened on the way, in order.')),
      }),
    },
  ),
} as const;

// What it holds, looked at without a trace: its money, its cards, one card with its accounts of the ledger.

const count = (doc: string) => must(integer(doc));
const usd = (doc: string) => must(money(`${doc} USD.`));

/** Where the money is: what came in and was not spent is in the wallet, on cards or on hold (I10). */
const OVERVIEW = {
  now: must(time('Clock of the sandbox.')),
  data_set: must(text('Data set it was seeded with.')),
  deposited: usd('What came from outside.'),
  wallet: usd('In the wallet.'),
  on_cards: usd('On cards, open holds taken off.'),
  on_hold: usd('Held by authorizations.'),
  spent: usd('Settled, refunds taken off.'),
  cards_active: count('Active cards.'),
  cards_frozen: count('Frozen cards.'),
  cards_terminated: count('Terminated cards.'),
  transactions: count('Transaction records.'),
  open_holds: count('Authorizations that still hold money.'),
  open_challenges: count('3DS challenges that wait for a code.'),
  pending_deposits: count('Deposits that are not confirmed.'),
  webhooks: count('Subscriptions.'),
  failed_deliveries: count('Deliveries that were given up.'),
  retried_deliveries: count('Deliveries that failed and go once more by themselves.'),
  events: count('Events recorded.'),
  faults: count('Fault rules that can still happen.'),
  timers: count('What happens by itself later: timers and queued deliveries.'),
  next_timer: nullable(object(TIMED, 'What happens by itself next; null where nothing does.')),
} as const;

const hold = usd('Held by authorizations.');

const { id, label, last4, network, status, balance, bin_id, created_at } = CARD;
const FOUND_CARD = { id, label, last4, network, status, balance, hold, bin_id, created_at } as const;

export const CARD_ENTRY = {
  id: must(integer('Number of the entry.')),
  at: must(time('When, on the clock of the sandbox.')),
  kind: must(text('What it was.')),
  ref: must(text('What it is about.')),
  card: must(money('USD that came to the account of the card; below 0 for what left it.')),
  hold: must(money('USD that came to the account of its hold; below 0 for what left it.')),
  card_after: must(money('Account of the card after it, USD.')),
  hold_after: must(money('Account of its hold after it, USD.')),
} as const;

/** One card, its limits and what is used of them, and its two accounts of the ledger. */
const WHOLE_CARD = {
  ...CARD,
  hold,
  used_this_month: usd('What its authorizations of this month take of the monthly limit (A-161).'),
  max_transaction: usd('Most that one purchase may be, by its BIN.'),
  max_monthly: usd('Most that a month may be, by its BIN.'),
  agrees: must(flag('Balance and hold are the sums of its entries (I2).')),
  entries_total: must(integer('Entries of the ledger that touch it.')),
  entries: must(rows(CARD_ENTRY, 'The newest 50 of them, newest first.')),
} as const;

const card_id = text('Only those of this card.', { names: 'card', maxLength: 64 });
const search = (doc: string) => text(doc, { maxLength: 200 });

const FOUND_TRANSACTION = { ...TRANSACTION, last4 } as const;

/** A record, what became of its authorization, and every entry of the ledger about it. */
const WHOLE_TRANSACTION = {
  ...FOUND_TRANSACTION,
  held: usd('Still held by its authorization.'),
  settled: usd('Settled of its authorization.'),
  released: usd('Given back of its hold.'),
  refunded: usd('Refunded of what was settled.'),
  chain: must(rows(CARD_ENTRY, 'Entries about it and its purchase, oldest first.')),
} as const;

/** Without its code. */
const FOUND_CHALLENGE = {
  id: must(text('Identifier of the challenge.')),
  card_id: must(text('Card it belongs to.', { names: 'card' })),
  last4,
  merchant: must(text('Merchant name.')),
  amount: usd('Amount.'),
  status: must(choice(CHALLENGE_STATUSES, 'State.')),
  attempts: count('Wrong codes so far.'),
  created_at: must(time('When it was opened.')),
  expires_at: must(time('When the code stops working.')),
} as const;

const SPENT_DAY = {
  day: must(text('Day, UTC.')),
  spent: usd('Settled, refunds taken off.'),
  purchases: count('Authorizations.'),
  declined: count('Declines.'),
} as const;

export const HOLDING_OPERATIONS = {
  overview: look('Show where the money of the sandbox is, and what is open', 'GET /overview', {
    returns: one(OVERVIEW),
  }),
  cards: look('List cards, newest first, or search them', 'GET /cards', {
    query: {
      q: search('Part of a label, the last four digits, an id, or key=value of its metadata.'),
      status: choice(CARD_STATUSES, 'Only those.'),
      bin: text('Only cards of this BIN.', { names: 'bin', maxLength: 128 }),
      ...paging(50),
    },
    returns: pageOf(FOUND_CARD),
  }),
  'cards.show': look(
    'Show a card with its limits, what is used of them, and its entries in the ledger',
    'GET /cards/{card_id}',
    { params: { card_id: CARD_ID }, returns: one(WHOLE_CARD) },
  ),
  transactions: look('List transactions, newest first, or search them', 'GET /transactions', {
    query: {
      q: search('Part of a merchant or of the label of a card, last four digits, an amount, or an id.'),
      type: choice(TRANSACTION_TYPES, 'Only those.'),
      status: choice(TRANSACTION_STATUSES, 'Only those.'),
      card_id,
      ...BETWEEN,
      ...paging(50),
    },
    returns: pageOf(FOUND_TRANSACTION),
  }),
  'transactions.show': look(
    'Show a transaction with everything that became of its purchase',
    'GET /transactions/{transaction_id}',
    {
      params: { transaction_id: must(text('Transaction record.', { names: 'transaction' })) },
      returns: one(WHOLE_TRANSACTION),
    },
  ),
  challenges: look('List 3DS challenges without their codes, newest first', 'GET /challenges', {
    query: {
      q: search('Part of a merchant, last four digits of a card, or an id.'),
      status: choice(CHALLENGE_STATUSES, 'Only those.'),
      card_id,
      ...paging(50),
    },
    returns: pageOf(FOUND_CHALLENGE),
  }),
  spending: look('Sum what was spent by day, oldest first, up to the clock of the sandbox', 'GET /overview/spending', {
    query: { days: integer('How many days.', { min: 1, max: 366, defaults: 14 }) },
    returns: listOf(SPENT_DAY),
  }),
} as const;

// Looks behind the service: its books, its events, its deposits. Nothing of it is part of the interface.

const ENTRY = {
  id: must(integer('Number of the entry; entries are never changed.')),
  kind: must(text('What it was.')),
  ref: must(text('What it is about.')),
  created_at: must(time('When, on the clock of the sandbox.')),
  postings: must(
    rows(
      { account: must(text('Account of the ledger.')), amount: must(money('USD; what comes in is positive.')) },
      'They sum to 0.',
    ),
  ),
} as const;

export const EVENT = {
  seq: must(integer('Number in the account, without gaps.')),
  id: must(text('Identifier of the event.')),
  type: must(text('Event name.')),
  created_at: must(time('When, on the clock of the sandbox.')),
  body: must(text('Exact text that is delivered.')),
} as const;

export const INVARIANT = {
  id: must(text('Its code, such as I4.')),
  holds: nullable(flag('Whether it holds; null where the file is damaged and nobody asked.')),
  says: must(text('What must hold; of a broken one also what breaks it.')),
} as const;

export const LEDGER_OPERATIONS = {
  deposits: look('List deposits, newest first', 'GET /deposits', {
    query: {
      q: search('Part of the hash of its transaction on the chain, or an id.'),
      status: choice(DEPOSIT_STATUSES, 'Only those.'),
      currency: choice(CURRENCIES, 'Only those.'),
      ...paging(100),
    },
    returns: pageOf(DEPOSIT),
  }),
  events: look('List events in their order', 'GET /events', {
    query: {
      type: text('Only those of this name.', { names: 'event' }),
      card_id: text('Only those about this card.', { names: 'card', maxLength: 64 }),
      after: integer('Only those behind the event of this number.', { min: 0 }),
      ...BETWEEN,
      order: choice(['asc', 'desc'], 'From the first one, or from the newest.', { defaults: 'asc' }),
      ...paging(100),
    },
    returns: pageOf(EVENT),
  }),
  'ledger.accounts': reading('List the accounts of the ledger with what is in them', 'GET /ledger/accounts', {
    query: paging(100),
    returns: pageOf({
      account: must(text('Account of the ledger.')),
      balance: must(money('Sum of its postings, USD.')),
      postings: must(integer('How many there are.')),
    }),
  }),
  'ledger.entries': reading('List entries of the ledger in their order', 'GET /ledger/entries', {
    query: { account: text('Only those that touch this account.'), ref: text('Only those about it.'), ...paging(100) },
    returns: pageOf(ENTRY),
  }),
  'ledger.check': reading('Check every invariant that stored data can show', 'POST /ledger/check', {
    ...THOROUGH,
    returns: one({
      ok: must(flag('All of them hold.')),
      faults: must(list(text('What does not hold.'), 'One line for each broken invariant.')),
      invariants: must(rows(INVARIANT, 'I1 to I16, in their order.')),
    }),
  }),
} as const;
