/**
 * Every table of the store. Money is cents, times are ms UTC on the clock of the sandbox (`real_*` and leases: real time), flags
 * 0 or 1, lists and maps JSON text that SQL never looks into. A cached balance stands beside what it belongs to; postings are the
 * truth (I2). A table of one row has the key `one`.
 */
const WALLETS = `create table wallets (
  one integer primary key check (one = 1),
  data_set text not null,
  balance integer not null,
  deposited integer not null,
  spent integer not null,
  entries integer not null check (entries >= 0)
) strict`;

const BINS = `create table bins (
  id text not null,
  position integer not null,
  network text not null check (network in ('visa', 'mastercard')),
  type text not null check (type in ('prepaid', 'debit', 'credit')),
  three_ds integer not null check (three_ds in (0, 1)),
  apple_pay integer not null check (apple_pay in (0, 1)),
  google_pay integer not null check (google_pay in (0, 1)),
  max_transaction integer not null check (max_transaction > 0),
  max_monthly integer not null check (max_monthly > 0),
  acceptance_tenths integer not null check (acceptance_tenths between 0 and 1000),
  best_for text not null,
  primary key (id)
) strict`;

/** `document` is the card as it is sent. A CVV is there if and only if the card is not terminated. Only a hold is never below 0; see I5 for balances. */
const CARDS = `create table cards (
  id text not null,
  bin_id text not null,
  network text not null,
  number text not null check (length(number) = 16),
  cvv text,
  status text not null check (status in ('active', 'frozen', 'terminated')),
  balance integer not null,
  hold integer not null check (hold >= 0),
  spending_limit integer not null check (spending_limit > 0),
  label text not null,
  allowed_categories text not null,
  auto_freeze_at integer check (auto_freeze_at >= 0),
  metadata text not null,
  created_at integer not null,
  expires_at integer not null,
  document text not null,
  primary key (id),
  unique (number),
  foreign key (bin_id) references bins (id),
  check (status <> 'terminated' or (balance = 0 and cvv is null))
) strict`;

/**
 * One record a message. Its key is an index apart: ids come in no order, and to sort a million of them once is
 * less work than to find the place of each. An authorization carries its sums: `held` is reserved still, `settled`
 * includes `excess` (what went above the hold or came after it), `released` went back (I7). A settlement or refund
 * without an authorization is one that nobody authorized: a force post, or a refund of nothing.
 */
const TRANSACTIONS = `create table transactions (
  id text not null,
  card_id text not null,
  type text not null check (type in ('authorization', 'settlement', 'refund', 'decline')),
  status text not null check (status in ('pending', 'settled', 'reversed', 'expired', 'completed', 'declined')),
  amount integer not null check (amount > 0),
  merchant text not null,
  mcc text not null,
  merchant_country text not null,
  authorization_id text,
  decline_reason text,
  created_at integer not null,
  held integer not null check (held >= 0),
  settled integer not null check (settled >= 0),
  excess integer not null check (excess >= 0 and excess <= settled),
  released integer not null check (released >= 0),
  refunded integer not null check (refunded >= 0 and refunded <= settled),
  foreign key (card_id) references cards (id),
  check ((type = 'decline') = (decline_reason is not null)),
  check (type in ('settlement', 'refund') or authorization_id is null),
  check (status = 'pending' or held = 0)
) strict`;

/** `purchase` is the attached authorization as JSON text, run when the right code comes; null without one. */
const CHALLENGES = `create table challenges (
  id text not null,
  card_id text not null,
  merchant text not null,
  amount integer not null check (amount > 0),
  otp text not null,
  status text not null check (status in ('pending', 'approved', 'failed', 'expired', 'cancelled')),
  attempts integer not null check (attempts between 0 and 3),
  purchase text,
  created_at integer not null,
  expires_at integer not null,
  primary key (id),
  foreign key (card_id) references cards (id)
) strict`;

const DEPOSITS = `create table deposits (
  id text not null,
  currency text not null check (currency in ('btc', 'eth', 'sol', 'usdt')),
  network text not null,
  crypto_amount text not null,
  amount integer not null check (amount > 0),
  status text not null check (status in ('pending', 'confirmed', 'failed')),
  tx_hash text not null,
  confirmations integer not null check (confirmations between 0 and required_confirmations),
  required_confirmations integer not null,
  created_at integer not null,
  confirmed_at integer,
  primary key (id),
  unique (tx_hash),
  check ((status = 'confirmed') = (confirmed_at is not null))
) strict`;

/** `former_secret` signs as well until `former_until`; `failing_since` is the first failure after the last success. */
const WEBHOOKS = `create table webhooks (
  id text not null,
  url text not null,
  events text not null,
  secret text not null,
  status text not null check (status in ('active', 'disabled')),
  created_at integer not null,
  updated_at integer not null,
  former_secret text,
  former_until integer,
  failing_since integer,
  primary key (id),
  check ((former_secret is null) = (former_until is null))
) strict`;

/** `ref` names what the entry is about: a transaction, a deposit or a card. Written once, never changed (I1). */
const ENTRIES = `create table entries (
  id integer primary key,
  kind text not null,
  ref text not null,
  created_at integer not null
) strict`;

const POSTINGS = `create table postings (
  entry_id integer not null,
  ledger text not null,
  amount integer not null check (amount <> 0),
  primary key (entry_id, ledger),
  foreign key (entry_id) references entries (id)
) strict, without rowid`;

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
export const TABLES: readonly string[] = [
  WALLETS,
  BINS,
  CARDS,
  TRANSACTIONS,
  CHALLENGES,
  DEPOSITS,
  WEBHOOKS,
  ENTRIES,
  POSTINGS,
  'create index cards_by_age on cards (created_at, id, label, substr(number, 13), metadata, status, bin_id)',
  ...LATE_INDEXES,
  'create index challenges_by_status on challenges (status, created_at)',
  'create index deposits_by_status on deposits (status)',
];

/** Names of the tables that statements make, in their order. */
const namesIn = (statements: readonly string[]) =>
  statements.flatMap(statement => /^create table (\w+)/.exec(statement)?.[1] ?? []);

/** In the order in which they can be emptied: children first. */
export const DOMAIN_TABLES: readonly string[] = namesIn(TABLES).toReversed();

/** Number of the schema. A store with another one is refused. */
export const SCHEMA = 2;

/** Timers whose action threw: out of the way, with what it said, until they are set anew or the sandbox starts over. */
const PARKED_TIMERS = `create table parked_timers (
    kind text not null,
    ref text not null,
    due_at integer not null,
    error text not null,
    primary key (kind, ref)
  ) strict`;

/** Keys beside the one of the server; an unknown digest is an unknown key. */
const API_KEYS = `create table api_keys (
    id text not null,
    digest text not null,
    last4 text not null,
    access text not null check (access in ('full', 'read_only', 'revoked')),
    created_at integer not null,
    primary key (id),
    unique (digest)
  ) strict`;

/** Answers kept to be repeated; what is expired keeps its generation alone. */
const IDEMPOTENCY = `create table idempotency (
    scope text not null,
    fingerprint text not null,
    state text not null check (state in ('done', 'expired')),
    generation integer not null,
    status integer,
    headers text,
    body text,
    expires_at integer,
    primary key (scope)
  ) strict`;
const IDEMPOTENCY_EXPIRY = 'create index idempotency_expiry on idempotency (state, expires_at)';

/** Written one after the other and found by number, so the key is where the rows are. */
const EVENTS = `create table events (
    seq integer primary key,
    id text not null,
    type text not null,
    created_at integer not null,
    body text not null
  ) strict`;

/** `request_headers` is a JSON object of some of those that were sent; `took` is in real ms. It and the key are no part of a snapshot. */
const REQUESTS = `create table requests (
    position integer primary key,
    request_id text not null,
    at integer not null,
    operation text not null,
    method text not null,
    path text not null,
    status integer not null,
    error text,
    replayed integer not null check (replayed in (0, 1)),
    fault text,
    idempotency_key text,
    card_id text,
    body text,
    answer text,
    request_headers text,
    key_last4 text,
    took integer,
    query text,
    body_bytes integer,
    not_kept text
  ) strict`;

/** What a decline was judged by, JSON text: what was asked and how the card stood. */
const DECLINE_FACTS = `create table decline_facts (
    transaction_id text primary key,
    facts text not null
  ) strict, without rowid`;

/** When the books were last looked through; `faults` is a JSON list of lines. */
const LEDGER_CHECKS = `create table ledger_checks (
    one integer primary key check (one = 1),
    at integer not null,
    faults text not null
  ) strict`;

export const SYSTEM_TABLES: readonly string[] = [
  `create table meta (
    one integer primary key check (one = 1),
    application text not null,
    schema_number integer not null,
    instance text not null,
    seed integer not null,
    ids text not null check (ids in ('derived', 'counted')),
    created_at integer not null
  ) strict, without rowid`,
  `create table clock (
    one integer primary key check (one = 1),
    mode text not null check (mode in ('real', 'offset', 'frozen', 'scaled')),
    at integer not null,
    real_since integer not null,
    rate_milli integer not null
  ) strict`,
  // Who moves the clock forward now, and where to; one at a time.
  `create table advances (
    one integer primary key check (one = 1),
    owner text not null,
    token text not null,
    moves_to integer not null
  ) strict`,
  `create table counters (
    name text primary key,
    value integer not null
  ) strict, without rowid`,
  `create table timers (
    kind text not null,
    ref text not null,
    due_at integer not null,
    primary key (kind, ref)
  ) strict, without rowid`,
  'create index timers_due on timers (due_at, kind, ref)',
  PARKED_TIMERS,
  API_KEYS,
  IDEMPOTENCY,
  IDEMPOTENCY_EXPIRY,
  EVENTS,
  // `body` of an example only: that of an event is the event's. `behind`: how many later ones go first (a fault).
  `create table deliveries (
    id text not null,
    position integer not null,
    webhook_id text not null,
    event_id text not null,
    event_type text not null,
    event_seq integer,
    body text,
    state text not null check (state in ('queued', 'sending', 'delivered', 'failed', 'cancelled')),
    attempt integer not null,
    created_at integer not null,
    due_at integer not null,
    lease_owner text,
    lease_token text,
    lease_until integer,
    faults_asked integer not null check (faults_asked in (0, 1)),
    behind integer not null check (behind >= 0),
    held_until integer,
    edited integer,
    sign text,
    primary key (id),
    check ((event_seq is null) = (body is not null)),
    check ((state = 'sending') = (lease_token is not null))
  ) strict`,
  'create index deliveries_due on deliveries (state, due_at)',
  'create index deliveries_next on deliveries (webhook_id, state, due_at, position)',
  'create index deliveries_by_event on deliveries (event_id, webhook_id)',
  `create table attempts (
    delivery_id text not null,
    number integer not null,
    at integer not null,
    request_headers text not null,
    address text,
    status integer,
    answer_headers text,
    answer_body text,
    duration integer,
    error text,
    primary key (delivery_id, number)
  ) strict`,
  `create table rate_hits (
    bucket text not null,
    real_at integer not null,
    hits integer not null,
    primary key (bucket, real_at)
  ) strict, without rowid`,
  // Rules of faults; `seen` and `struck` count in the transaction of what they met.
  `create table faults (
    id text not null,
    position integer not null,
    meets text not null check (meets in ('requests', 'deliveries')),
    rule text not null,
    times integer check (times > 0),
    seen integer not null,
    struck integer not null check (struck <= seen),
    expires_at integer,
    created_at integer not null,
    primary key (id)
  ) strict`,
  'create index faults_active on faults (meets, position)',
  // The newest requests to the service, without secrets.
  REQUESTS,
  LEDGER_CHECKS,
  // Settlements that wait until their card is unfrozen (dialect strict-freeze).
  `create table waiting_settlements (
    position integer primary key,
    authorization_id text not null,
    card_id text not null,
    amount integer not null check (amount > 0),
    final integer not null check (final in (0, 1))
  ) strict`,
  DECLINE_FACTS,
];

/** Emptied when a sandbox starts over. Rate counters stay: a reset is no way around a limit. */
export const CLEARED_TABLES: readonly string[] = namesIn(SYSTEM_TABLES).filter(
  name => name !== 'meta' && name !== 'rate_hits',
);

/** Tables that a snapshot puts back, parents first: who moves the clock, and what was found in the books, belongs to this store. */
export const ARCHIVED: readonly string[] = [...namesIn(TABLES), ...CLEARED_TABLES].filter(
  name => name !== 'advances' && name !== 'ledger_checks',
);
