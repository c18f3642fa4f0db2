/**
 * The tables of a journal, version 2, for SQLite and PostgreSQL alike. Money is integer cents, times are ms UTC, JSON is text,
 * flags are 0 or 1. Who may do what in a shared journal is a matter of `postgres.ts`.
 */
import { CliError } from '../core/errors.ts';

/** A journal of another number is refused, and not guessed at. */
export const SCHEMA_VERSION = 2;

/** The refusal of a journal that another build has made. */
export function otherSchema(shown: string, version: number | undefined): CliError {
  return new CliError('check_failed', {
    message: `the journal ${shown} has schema ${version ?? 'none'}, and this build knows ${SCHEMA_VERSION}: another build has made it`,
    hint: 'cardwright --version',
    outcome: 'not_sent',
  });
}

export const TABLES: readonly string[] = [
  `create table meta (
    journal text primary key,              -- random, made once; salt of the prints of keys on one machine
    version integer not null,
    created bigint not null,
    place text not null default ''         -- of a file: which file it was made as, so that a copy is noticed
  )`,
  `create table account (
    id text primary key,                   -- of one machine: origin and mode; of a shared journal: its name
    origin text not null,
    mode text not null,
    audit_seq bigint not null default 0,   -- number of the last audit line; a claim locks this row
    audit_hash text not null default ''
  )`,
  `create table account_key (              -- API keys that an account was used with
    account text not null references account,
    print text not null,
    origin text not null,
    listed bigint not null,
    listed_by text not null,
    capability text,                       -- JSON: what a probe has found idempotency keys to be worth, by operation
    primary key (account, print, origin)
  )`,
  `create table op (
    id text primary key,
    account text not null references account,
    origin text not null,
    mode text not null,
    key_print text not null,
    profile text not null,
    command text not null,
    digest text not null,                  -- of all wanted changes, whatever their order
    bulk integer not null,
    moves_money integer not null,
    plan text not null,                    -- JSON: what else was planned (markerPrefix, phased, wallet)
    given_key text,                        -- name or key of the caller under which it is begun once
    state text not null check (state in ('pending', 'open', 'finished')),
    total bigint not null,                 -- cents that it may take from the wallet
    day text not null,                     -- UTC day whose caps it is counted in
    holder text not null,                  -- user@host
    process text not null,                 -- pid:start:boot:set of pids; who is alive on the same machine is asked by it
    epoch integer not null,
    lease bigint not null,                 -- until when, by the clock of the store; 0: nobody works on it
    created bigint not null,
    touched bigint not null,               -- the latest event
    finished bigint,
    acknowledged bigint,                   -- when the answer was written
    objections text                        -- JSON: what its verification objected to
  )`,
  'create index op_unacknowledged on op (account) where acknowledged is null',
  'create index op_touched on op (touched)',
  'create unique index op_given_key on op (account, given_key) where given_key is not null',
  `create table change (
    op text not null references op on delete cascade,
    n integer not null,
    operation text not null,
    input text not null,                   -- JSON: what the caller asked for, money as cents
    request text not null,                 -- JSON: {method, path, body}
    facts text not null,                   -- JSON: label, aim, phase, needs, asked, chain, purpose
    idempotency_key text,
    marker text,
    intent text,                           -- the caller's name for this one change
    digest text not null,                  -- of operation, target and body: what "the same change" means
    card text,                             -- the card it is about; of a create the one that was made
    last4 text,
    amount bigint not null default 0,      -- cents it moves
    state text not null check (state in ('planned', 'sent', 'done', 'refused', 'not_sent', 'unknown')),
    attempts integer not null default 0,
    sent_at bigint,                        -- the first time bytes may have left
    last_sent_at bigint,
    before text,                           -- JSON: {card, wallet, status} read just before it was sent
    evidence text,                         -- JSON: what showed it (via, status, request id), or what the last look saw
    error text,                            -- JSON: kind and message of what is not done
    decided_at bigint,
    decided_by text,                       -- process, or the person who resolved it
    primary key (op, n)
  )`,
  'create index change_digest on change (digest)',
  'create index change_card on change (card)',
  'create index change_intent on change (intent) where intent is not null',
  'create index change_decided on change (decided_at)',
  "create index change_sent on change (op) where state = 'sent'",
  `create table event (                    -- what happened, in order: for ops show
    op text not null references op on delete cascade,
    seq integer not null,
    n integer,
    at bigint not null,
    kind text not null,
    facts text not null,
    primary key (op, seq)
  )`,
  `create table card_hold (                -- transfers of one card come one after the other: its balance is their evidence
    account text not null,
    card text not null,
    op text not null,
    n integer not null,
    primary key (account, card)
  )`,
  'create index card_hold_op on card_hold (op)',
  `create table spent (                    -- cents of a day: held by open ops, and spent by finished ones
    account text not null,
    scope text not null,                   -- 'account' or 'profile:NAME'
    day text not null,
    held bigint not null,
    spent bigint not null,
    primary key (account, scope, day)
  )`,
  `create table audit (                    -- the hash chain of an account
    account text not null,
    seq bigint not null,
    line text not null,
    hash text not null,
    by_role text not null default '',      -- of a shared journal: who inserted it, written by the database
    primary key (account, seq)
  )`,
  `create table approval_rule (            -- limits for everybody who uses the journal, by their names in profiles
    account text not null,
    name text not null,
    value text not null,                   -- as a person types it: 250.00, true, bin_1,bin_2
    primary key (account, name)
  )`,
  `create table approver (
    account text not null,
    keyid text not null,
    person text not null,                  -- of a shared journal: the login role
    key text not null,                     -- base64 of 32 bytes, ed25519
    added bigint not null,
    removed bigint,
    primary key (account, keyid)
  )`,
  `create table approval_request (         -- inserts alone
    op text primary key,
    request text not null,                 -- the very text that is signed
    at bigint not null,
    by_role text not null default ''       -- of a shared journal: who inserted it, written by the database
  )`,
  `create table approval (                 -- inserts alone
    op text not null,
    keyid text not null,
    signature text not null,
    at bigint not null,
    primary key (op, keyid)
  )`,
];
