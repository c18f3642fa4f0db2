/**
 * Tables the sandbox itself needs, beside those of the domain. Portable SQL; `account_id` leads every key. Times
 * are ms: on the clock of the sandbox, except `real_*` and leases, which are real time.
 */

/** Number of the schema, domain tables included. A store with a higher one is refused. */
export const SCHEMA = 1;

export const SYSTEM_TABLES: readonly string[] = [
  `create table meta (
    one integer primary key check (one = 1),
    application text not null,
    schema_number integer not null,
    instance text not null,
    seed integer not null,
    ids text not null check (ids in ('derived', 'counted')),
    created_at integer not null
  ) strict`,
  `create table clock (
    account_id text primary key,
    mode text not null check (mode in ('real', 'offset', 'frozen', 'scaled')),
    at integer not null,
    real_since integer not null,
    rate_milli integer not null
  ) strict`,
  `create table counters (
    account_id text not null,
    name text not null,
    value integer not null,
    primary key (account_id, name)
  ) strict`,
  `create table timers (
    account_id text not null,
    kind text not null,
    ref text not null,
    due_at integer not null,
    primary key (account_id, kind, ref)
  ) strict`,
  'create index timers_due on timers (account_id, due_at, kind, ref)',
  `create table idempotency (
    account_id text not null,
    scope text not null,
    fingerprint text not null,
    state text not null check (state in ('running', 'done', 'expired')),
    generation integer not null,
    owner text not null,
    lease_token text not null,
    lease_until integer not null,
    status integer,
    headers text,
    body text,
    expires_at integer,
    primary key (account_id, scope)
  ) strict`,
  'create index idempotency_expiry on idempotency (account_id, state, expires_at)',
  `create table events (
    account_id text not null,
    seq integer not null,
    id text not null,
    type text not null,
    created_at integer not null,
    body text not null,
    primary key (account_id, seq),
    unique (account_id, id)
  ) strict`,
  `create table deliveries (
    account_id text not null,
    event_seq integer not null,
    webhook_id text not null,
    number integer not null,
    state text not null check (state in ('queued', 'sending', 'delivered', 'failed', 'cancelled')),
    attempt integer not null,
    due_at integer not null,
    lease_until integer,
    primary key (account_id, event_seq, webhook_id, number)
  ) strict`,
  'create index deliveries_due on deliveries (account_id, state, due_at)',
  `create table rate_hits (
    account_id text not null,
    bucket text not null,
    real_at integer not null,
    hits integer not null,
    primary key (account_id, bucket, real_at)
  ) strict`,
];

/** Emptied when a sandbox starts over. Rate counters stay: a reset is no way around a limit. */
export const CLEARED_TABLES = ['clock', 'counters', 'timers', 'idempotency', 'events', 'deliveries'] as const;
