/**
 * Every table of the store, and by its columns the type of its rows. Money is cents, times are ms UTC on the clock of the sandbox
 * (`real_*` and leases: real time), flags 0 or 1, lists and maps JSON text that SQL never looks into. A cached balance stands beside
 * what it belongs to; postings are the truth (I2). A table of one row has the key `one`.
 */
import { CARD_STATUSES, NETWORKS } from '../../contract/card.ts';
import type { EventName } from '../../contract/events.ts';
import {
  BIN_TYPES,
  CURRENCIES,
  type DECLINE_REASONS,
  DEPOSIT_STATUSES,
  TRANSACTION_STATUSES,
  TRANSACTION_TYPES,
  WEBHOOK_STATUSES,
} from '../../contract/resources.ts';
import { CHALLENGE_STATUSES, CLOCK_MODES, DELIVERY_STATES } from '../../contract/sandbox/basis.ts';
import type { SignedWith } from '../../contract/sandbox/deliveries.ts';
import type { Cents } from '../../core/money.ts';

/** What SQL says of a column, by its name, and the type of what stands in it. */
interface Column<Value> {
  (name: string): string;
  readonly value?: Value;
}
type Columns = Readonly<Record<string, Column<unknown>>>;

interface Table<Name extends string, C extends Columns> {
  readonly name: Name;
  readonly columns: C;
  /** The statement that makes it. */
  readonly sql: string;
}

function table<const Name extends string, const C extends Columns>(
  name: Name,
  columns: C,
  rules: readonly string[] = [],
  ending = '',
): Table<Name, C> {
  const lines = [...Object.entries(columns).map(([column, says]) => says(column)), ...rules];
  return { name, columns, sql: `create table ${name} (\n  ${lines.join(',\n  ')}\n) strict${ending}` };
}

const column =
  <Value>(type: string): Column<Value> =>
  name =>
    `${name} ${type}`;
const text = column<string>('text not null');
/** The key of its table, the id of a row of another table, and what no two rows share. */
const key = column<string>('text not null primary key');
const idIn = (other: string) => column<string>(`text not null references ${other} (id)`);
const unique = column<string>('text not null unique');
const integer = column<number>('integer not null');
const cents = column<Cents>('integer not null');
/** The only row of its table, and a number that the engine gives. */
const one = column<number>('integer primary key check (one = 1)');
const numbered = column<number>('integer primary key');
const checked =
  <Value>(of: Column<Value>, rule: string): Column<Value> =>
  name =>
    `${of(name)} check (${name} ${rule})`;
const words = <const Words extends readonly string[]>(list: Words) =>
  checked(column<Words[number]>('text not null'), `in (${list.map(word => `'${word}'`).join(', ')})`);
const flag = checked(integer, 'in (0, 1)');
const orNull =
  <Value>(of: Column<Value>): Column<Value | null> =>
  name =>
    of(name).replace(' not null', '');

const WALLETS = table('wallets', {
  one,
  data_set: text,
  /** May be below 0 by A-157. */
  balance: cents,
  /** What came from outside: deposits and adjustments of the sandbox (I10). */
  deposited: cents,
  /** Settled minus refunded (A-61). */
  spent: cents,
  entries: checked(integer, '>= 0'),
});

const BINS = table('bins', {
  id: key,
  position: integer,
  network: words(NETWORKS),
  type: words(BIN_TYPES),
  three_ds: flag,
  apple_pay: flag,
  google_pay: flag,
  max_transaction: checked(cents, '> 0'),
  max_monthly: checked(cents, '> 0'),
  /** Tenths of a percent, because only whole numbers are stored. */
  acceptance_tenths: checked(integer, 'between 0 and 1000'),
  /** JSON list of tags. */
  best_for: text,
});

/** A CVV is there if and only if the card is not terminated. Only a hold is never below 0; see I5 for balances. */
const CARDS = table(
  'cards',
  {
    id: key,
    bin_id: idIn('bins'),
    network: words(NETWORKS),
    number: unique,
    cvv: orNull(text),
    status: words(CARD_STATUSES),
    /** Available, open holds taken off (A-150). */
    balance: cents,
    hold: checked(cents, '>= 0'),
    spending_limit: checked(cents, '> 0'),
    label: text,
    /** JSON list. */
    allowed_categories: text,
    auto_freeze_at: orNull(checked(cents, '>= 0')),
    /** JSON object. */
    metadata: text,
    created_at: integer,
    expires_at: integer,
    /** The card as it is sent. */
    document: text,
  },
  ['check (length(number) = 16)', "check (status <> 'terminated' or (balance = 0 and cvv is null))"],
);

/**
 * One record a message (A-40). Its key is an index apart: ids come in no order, and to sort a million of them once is
 * less work than to find the place of each. A settlement or refund without an authorization is one that nobody authorized:
 * a force post, or a refund of nothing.
 */
const TRANSACTIONS = table(
  'transactions',
  {
    id: text,
    card_id: idIn('cards'),
    type: words(TRANSACTION_TYPES),
    status: words(TRANSACTION_STATUSES),
    amount: checked(cents, '> 0'),
    merchant: text,
    mcc: text,
    merchant_country: text,
    authorization_id: orNull(text),
    decline_reason: orNull(column<(typeof DECLINE_REASONS)[number]>('text not null')),
    created_at: integer,
    /** Sums of an authorization, 0 on every other record: reserved still. */
    held: checked(cents, '>= 0'),
    settled: checked(cents, '>= 0'),
    /** Of what settled, what went above the hold or came after it. */
    excess: checked(cents, '>= 0'),
    /** Went back (I7). */
    released: checked(cents, '>= 0'),
    refunded: checked(cents, '>= 0'),
  },
  [
    'check (excess <= settled and refunded <= settled)',
    "check ((type = 'decline') = (decline_reason is not null))",
    "check (type in ('settlement', 'refund') or authorization_id is null)",
    "check (status = 'pending' or held = 0)",
  ],
);

const CHALLENGES = table('challenges', {
  id: key,
  card_id: idIn('cards'),
  merchant: text,
  amount: checked(cents, '> 0'),
  otp: text,
  status: words(CHALLENGE_STATUSES),
  /** Wrong codes so far (A-53). */
  attempts: checked(integer, 'between 0 and 3'),
  /** The attached authorization as JSON text, run when the right code comes; null without one. */
  purchase: orNull(text),
  created_at: integer,
  expires_at: integer,
});

const DEPOSITS = table(
  'deposits',
  {
    id: key,
    currency: words(CURRENCIES),
    network: text,
    crypto_amount: text,
    /** Fixed when it was seen (A-67). */
    amount: checked(cents, '> 0'),
    status: words(DEPOSIT_STATUSES),
    tx_hash: unique,
    confirmations: checked(integer, 'between 0 and required_confirmations'),
    required_confirmations: integer,
    created_at: integer,
    confirmed_at: orNull(integer),
  },
  ["check ((status = 'confirmed') = (confirmed_at is not null))"],
);

/** Subscriptions. */
const WEBHOOKS = table(
  'webhooks',
  {
    id: key,
    url: text,
    /** JSON list of event names, or of `*` alone. */
    events: text,
    secret: text,
    status: words(WEBHOOK_STATUSES),
    created_at: integer,
    updated_at: integer,
    /** Signs as well until `former_until`. */
    former_secret: orNull(text),
    former_until: orNull(integer),
    /** When the first attempt failed after the last one that did not, or after the last change. */
    failing_since: orNull(integer),
  },
  ['check ((former_secret is null) = (former_until is null))'],
);

/** `ref` names what the entry is about: a transaction, a deposit or a card. Written once, never changed (I1). */
const ENTRIES = table('entries', { id: numbered, kind: text, ref: text, created_at: integer });

const POSTINGS = table(
  'postings',
  {
    entry_id: column<number>('integer not null references entries (id)'),
    ledger: text,
    amount: checked(cents, '<> 0'),
  },
  ['primary key (entry_id, ledger)'],
  ', without rowid',
);

/**
 * The key of transactions first. Apart from the others: they are made anew once a data set has written its records. Indexes by
 * age hold all that a search compares and a sum by day adds up, so that whole rows are read only of what is found.
 */
export const LATE_INDEXES: readonly string[] = [
  'create unique index transactions_by_id on transactions (id)',
  'create index transactions_by_age on transactions (created_at, id, type, amount, merchant, card_id)',
  'create index transactions_by_card on transactions (card_id, created_at, id)',
  'create index postings_by_ledger on postings (ledger, entry_id)',
];

/** The account of the store: in names of its books and in addresses of deposits. */
export const ACCOUNT = 'acct_sandbox';

/** In the order in which they can be made. */
const DOMAIN = [WALLETS, BINS, CARDS, TRANSACTIONS, CHALLENGES, DEPOSITS, WEBHOOKS, ENTRIES, POSTINGS] as const;

/** Number of the schema. A store with another one is refused. */
export const SCHEMA = 7;

const META = table(
  'meta',
  {
    one,
    application: text,
    schema_number: integer,
    /** Tells one store from another, also when it was copied over a former one. */
    instance: text,
    /** Fixes ids, numbers and codes (docs/design/sandbox.md, section 7). */
    seed: integer,
    ids: words(['derived', 'counted']),
    created_at: integer,
  },
  [],
  ', without rowid',
);

const CLOCK = table('clock', {
  one,
  mode: words(CLOCK_MODES),
  /** frozen: the time; offset: ms ahead of real time; scaled: the time at `real_since`; real: unused. */
  at: integer,
  /** Real time at which a scaled clock was set, ms UTC. */
  real_since: integer,
  /** Sandbox ms in 1,000 real ms, for a scaled clock. */
  rate_milli: integer,
});

/** Who moves the clock forward now, and where to; one at a time. */
const ADVANCES = table('advances', { one, owner: text, token: text, moves_to: integer });

const TIMERS = table(
  'timers',
  { kind: text, ref: text, due_at: integer },
  ['primary key (kind, ref)'],
  ', without rowid',
);

/** Timers whose action threw: out of the way, with what it said, until they are set anew or the sandbox starts over. */
const PARKED_TIMERS = table('parked_timers', { kind: text, ref: text, due_at: integer, error: text }, [
  'primary key (kind, ref)',
]);

/** Answers kept to be repeated; what is expired keeps its generation alone. */
const IDEMPOTENCY = table('idempotency', {
  scope: key,
  fingerprint: text,
  state: words(['done', 'expired']),
  generation: integer,
  status: orNull(integer),
  headers: orNull(text),
  body: orNull(text),
  expires_at: orNull(integer),
});

/** Written one after the other and found by number, so the key is where the rows are. */
const EVENTS = table('events', { seq: numbered, id: text, type: text, created_at: integer, body: text });

const DELIVERIES = table(
  'deliveries',
  {
    id: key,
    /** Order in which they were made. */
    position: integer,
    webhook_id: text,
    event_id: text,
    event_type: column<EventName>('text not null'),
    /** Null for an example, which is no event. */
    event_seq: orNull(integer),
    /** Of an example alone: that of an event is the event's. */
    body: orNull(text),
    state: words(DELIVERY_STATES),
    /** Attempts begun so far. */
    attempt: integer,
    created_at: integer,
    due_at: integer,
    lease_owner: orNull(text),
    lease_token: orNull(text),
    lease_until: orNull(integer),
    /** 1 once the faults were asked about it. */
    faults_asked: flag,
    /** How many later ones of its subscription go first. */
    behind: checked(integer, '>= 0'),
    /** Real time, ms UTC, at which it no longer waits for those. */
    held_until: orNull(integer),
    /** 1 for a body that was written by hand. */
    edited: orNull(integer),
    /** What it is signed with; null for the secret of the subscription. */
    sign: orNull(column<Exclude<SignedWith, 'right'>>('text not null')),
  },
  ['check ((event_seq is null) = (body is not null))', "check ((state = 'sending') = (lease_token is not null))"],
);

const ATTEMPTS = table(
  'attempts',
  {
    delivery_id: text,
    number: integer,
    at: integer,
    /** JSON text. */
    request_headers: text,
    address: orNull(text),
    status: orNull(integer),
    /** JSON text. */
    answer_headers: orNull(text),
    answer_body: orNull(text),
    /** Real ms. */
    duration: orNull(integer),
    error: orNull(text),
  },
  ['primary key (delivery_id, number)'],
);

/** Rules of faults; `seen` and `struck` count in the transaction of what they met. */
const FAULTS = table('faults', {
  id: key,
  position: integer,
  meets: words(['requests', 'deliveries']),
  /** The rule as it was given, JSON. */
  rule: text,
  times: orNull(checked(integer, '> 0')),
  seen: integer,
  struck: checked(integer, '<= seen'),
  expires_at: orNull(integer),
  created_at: integer,
});

/** What was asked of the service, without secrets; the newest of it is kept. `took` and the key are no part of a snapshot. */
const REQUESTS = table('requests', {
  position: numbered,
  request_id: text,
  at: integer,
  operation: text,
  method: text,
  path: text,
  status: integer,
  error: orNull(text),
  replayed: flag,
  fault: orNull(text),
  idempotency_key: orNull(text),
  card_id: orNull(text),
  /** JSON. */
  body: orNull(text),
  /** Text of the answer, perhaps its beginning alone. */
  answer: orNull(text),
  /** JSON of some of those that were sent. */
  request_headers: text,
  key_last4: orNull(text),
  /** Real ms. */
  took: orNull(integer),
  query: orNull(text),
  body_bytes: orNull(integer),
  /** JSON: names of the parts that are not as they were sent. */
  not_kept: text,
});

/** Settlements that wait until their card is unfrozen (dialect strict-freeze). */
const WAITING_SETTLEMENTS = table('waiting_settlements', {
  position: numbered,
  authorization_id: text,
  card_id: text,
  amount: checked(cents, '> 0'),
  final: flag,
});

const COUNTERS = table('counters', { name: key, value: integer }, [], ', without rowid');

const RATE_HITS = table(
  'rate_hits',
  { bucket: text, real_at: integer, hits: integer },
  ['primary key (bucket, real_at)'],
  ', without rowid',
);

/** What a decline was judged by, JSON text: what was asked and how the card stood. */
const DECLINE_FACTS = table('decline_facts', { transaction_id: key, facts: text }, [], ', without rowid');

const SYSTEM = [
  ...[META, CLOCK, ADVANCES, COUNTERS, TIMERS, PARKED_TIMERS, IDEMPOTENCY, EVENTS, DELIVERIES, ATTEMPTS],
  ...[RATE_HITS, FAULTS, REQUESTS, WAITING_SETTLEMENTS, DECLINE_FACTS],
] as const;

type AnyTable = (typeof DOMAIN)[number] | (typeof SYSTEM)[number];
export type TableName = AnyTable['name'];
type ColumnsOf<Name extends TableName> = Extract<AnyTable, { name: Name }>['columns'];

/** A row of a table as it is read. */
export type RowOf<Name extends TableName> = {
  readonly [Each in keyof ColumnsOf<Name>]: ColumnsOf<Name>[Each] extends Column<infer Value> ? Value : never;
};

const INDEXES: readonly string[] = [
  'create index timers_due on timers (due_at, kind, ref)',
  'create index idempotency_expiry on idempotency (state, expires_at)',
  'create index deliveries_due on deliveries (state, due_at)',
  'create index deliveries_next on deliveries (webhook_id, state, due_at, position)',
  'create index deliveries_by_event on deliveries (event_id, webhook_id)',
  'create index faults_active on faults (meets, position)',
  'create index cards_by_age on cards (created_at, id, label, substr(number, 13), metadata, status, bin_id)',
  'create index cards_by_balance on cards (balance, hold, status)',
  ...LATE_INDEXES,
  'create index challenges_by_status on challenges (status, created_at)',
  'create index deposits_by_status on deposits (status)',
];

/** Statements that make all of it, in their order. */
export const MAKING: readonly string[] = [...SYSTEM, ...DOMAIN].map(({ sql }) => sql).concat(INDEXES);

/**
 * Tables that a reset empties and a snapshot puts back, parents first. Rate counters stay: a reset is no way around a limit. Who moves
 * the clock belongs to this store.
 */
export const ARCHIVED: readonly string[] = [...DOMAIN, ...SYSTEM]
  .map(({ name }) => name)
  .filter(name => !['meta', 'rate_hits', 'advances'].includes(name));
