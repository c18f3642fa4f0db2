/**
 * Tables the sandbox itself needs, beside those of the domain. `account_id` leads every key. Times
 * are ms: on the clock of the sandbox, except `real_*` and leases, which are real time.
 */
/** Number of the schema, domain tables included. A store with another one is refused. */
export const SCHEMA = 1;

/** Timers whose action threw: out of the way, with what it said, until they are set anew or the sandbox starts over. */
const PARKED_TIMERS = `create table parked_timers (
    account_id text not null,
    kind text not null,
    ref text not null,
    due_at integer not null,
    error text not null,
    primary key (account_id, kind, ref)
  ) strict`;

/** Keys beside the one of the server; an unknown digest is an unknown key. */
const API_KEYS = `create table api_keys (
    account_id text not null,
    id text not null,
    digest text not null,
    last4 text not null,
    access text not null check (access in ('full', 'read_only', 'revoked')),
    created_at integer not null,
    primary key (account_id, id),
    unique (account_id, digest)
  ) strict`;

/** Answers kept to be repeated; what is expired keeps its generation alone. */
const IDEMPOTENCY = `create table idempotency (
    account_id text not null,
    scope text not null,
    fingerprint text not null,
    state text not null check (state in ('done', 'expired')),
    generation integer not null,
    status integer,
    headers text,
    body text,
    expires_at integer,
    primary key (account_id, scope)
  ) strict`;
const IDEMPOTENCY_EXPIRY = 'create index idempotency_expiry on idempotency (account_id, state, expires_at)';

/** Written one after the other and found by number, so the key is where the rows are. */
const EVENTS = `create table events (
    account_id text not null,
    seq integer not null,
    id text not null,
    type text not null,
    created_at integer not null,
    body text not null,
    primary key (account_id, seq)
  ) strict, without rowid`;

/** `request_headers` is a JSON object of some of those that were sent; `took` is in real ms. It and the key are no part of an archive. */
const REQUESTS = `create table requests (
    account_id text not null,
    position integer not null,
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
    not_kept text,
    primary key (account_id, position)
  ) strict, without rowid`;

/** What a decline was judged by, JSON text: what was asked and how the card stood. */
const DECLINE_FACTS = `create table decline_facts (
    account_id text not null,
    transaction_id text not null,
    facts text not null,
    primary key (account_id, transaction_id)
  ) strict, without rowid`;

/** When the books were last looked through; `faults` is a JSON list of lines. */
const LEDGER_CHECKS = `create table ledger_checks (
    account_id text primary key,
    at integer not null,
    faults text not null
  ) strict`;

/** Names of the columns a statement gives a table. */
export function columnsOf(create: string): readonly string[] {
  return [...create.matchAll(/^\s+(\w+) (?:text|integer)\b/gm)].map(([, column = '']) => column);
}

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
    account_id text primary key,
    mode text not null check (mode in ('real', 'offset', 'frozen', 'scaled')),
    at integer not null,
    real_since integer not null,
    rate_milli integer not null
  ) strict, without rowid`,
  // Who moves the clock forward now, and where to; one at a time.
  `create table advances (
    account_id text not null,
    owner text not null,
    token text not null,
    moves_to integer not null,
    primary key (account_id)
  ) strict`,
  `create table counters (
    account_id text not null,
    name text not null,
    value integer not null,
    primary key (account_id, name)
  ) strict, without rowid`,
  `create table timers (
    account_id text not null,
    kind text not null,
    ref text not null,
    due_at integer not null,
    primary key (account_id, kind, ref)
  ) strict, without rowid`,
  'create index timers_due on timers (account_id, due_at, kind, ref)',
  PARKED_TIMERS,
  API_KEYS,
  IDEMPOTENCY,
  IDEMPOTENCY_EXPIRY,
  EVENTS,
  // `body` of an example only: that of an event is the event's. `behind`: how many later ones go first (a fault).
  `create table deliveries (
    account_id text not null,
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
    primary key (account_id, id),
    check ((event_seq is null) = (body is not null)),
    check ((state = 'sending') = (lease_token is not null))
  ) strict`,
  'create index deliveries_due on deliveries (account_id, state, due_at)',
  'create index deliveries_next on deliveries (account_id, webhook_id, state, due_at, position)',
  'create index deliveries_by_event on deliveries (account_id, event_id, webhook_id)',
  `create table attempts (
    account_id text not null,
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
    primary key (account_id, delivery_id, number)
  ) strict`,
  `create table rate_hits (
    account_id text not null,
    bucket text not null,
    real_at integer not null,
    hits integer not null,
    primary key (account_id, bucket, real_at)
  ) strict, without rowid`,
  // Rules of faults; `seen` and `struck` count in the transaction of what they met.
  `create table faults (
    account_id text not null,
    id text not null,
    position integer not null,
    meets text not null check (meets in ('requests', 'deliveries')),
    rule text not null,
    times integer check (times > 0),
    seen integer not null,
    struck integer not null check (struck <= seen),
    expires_at integer,
    created_at integer not null,
    primary key (account_id, id)
  ) strict`,
  'create index faults_active on faults (account_id, meets, position)',
  // The newest requests to the service, without secrets.
  REQUESTS,
  LEDGER_CHECKS,
  DECLINE_FACTS,
  // Settlements that wait until their card is unfrozen (dialect strict-freeze).
  `create table waiting_settlements (
    account_id text not null,
    position integer not null,
    authorization_id text not null,
    card_id text not null,
    amount integer not null check (amount > 0),
    final integer not null check (final in (0, 1)),
    primary key (account_id, position)
  ) strict`,
];

/** Emptied when a sandbox starts over. Rate counters stay: a reset is no way around a limit. */
export const CLEARED_TABLES = [
  'clock',
  'advances',
  'counters',
  'timers',
  'parked_timers',
  'api_keys',
  'idempotency',
  'events',
  'deliveries',
  'attempts',
  'faults',
  'requests',
  'ledger_checks',
  'waiting_settlements',
  'decline_facts',
] as const;
