/** Roles and tables of a shared journal. Nobody is granted a table: everything is done by functions. */
import { SCHEMA_NUMBER } from './number.ts';

/** Groups; who belongs to one may execute its functions. The first owns everything, and nobody logs in as one of them. */
export const OWNER = 'cardwright_owner';
export const GROUPS = ['cardwright_operator', 'cardwright_approver', 'cardwright_auditor', 'cardwright_admin'] as const;

export const ROLES_SQL = `
do $roles$
declare
  wanted text;
begin
  if current_setting('server_version_num')::int < 150000 then
    raise exception 'PostgreSQL 15 or newer is needed; this is %', current_setting('server_version');
  end if;
  if current_setting('server_encoding') <> 'UTF8' then
    raise exception 'the database must be encoded in UTF8; this one is %', current_setting('server_encoding');
  end if;
  foreach wanted in array array['${OWNER}', '${GROUPS.join("', '")}'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      execute format('create role %I nologin', wanted);
    end if;
    if exists (select from pg_roles where rolname = wanted and (rolsuper or rolbypassrls or rolcanlogin)) then
      raise exception 'the role % must have no login and no rights of its own', wanted;
    end if;
  end loop;
  if not (select rolsuper from pg_roles where rolname = current_user) then
    execute format('grant ${OWNER} to %I', current_user);
  end if;
end $roles$;

create schema cardwright authorization ${OWNER};
set local role ${OWNER};
set local search_path = cardwright;
`;

/** Tables with a column account, whose rows are seen of one account only. */
const GUARDED = ['account_key', 'cap', 'cap_bin', 'spend_day', 'op', 'intent', 'given_key', 'segment', 'audit', 'push'];

/** Shows rows of these tables to whoever has entered their account, also to their owner. */
export function guarding(tables: readonly string[]): string {
  return `do $guard$
declare
  guarded text;
begin
  foreach guarded in array array['${tables.join("', '")}'] loop
    execute format('alter table %I enable row level security', guarded);
    execute format('alter table %I force row level security', guarded);
    execute format('create policy own_account on %I using (account = nullif(current_setting(%L, true), %L)::int)',
      guarded, 'cardwright.account', '');
  end loop;
end $guard$;`;
}

export const TABLES_SQL = `
create table meta (
  one boolean primary key default true check (one),
  journal_id text not null,
  schema_number int not null
);
insert into meta (journal_id, schema_number)
  values ('jrn_' || replace(gen_random_uuid()::text, '-', ''), ${SCHEMA_NUMBER});

create table account (
  id int generated always as identity primary key,
  name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  origin text not null,
  mode text not null check (mode in ('test', 'live')),
  audit_seq bigint not null default 0,
  audit_hash text not null default repeat('0', 64),
  system_identifier text not null,
  timeline text not null,
  frozen_why text
);

create table account_key (
  account int not null references account,
  print text not null check (print ~ '^[0-9a-f]{16}$'),
  added_by text not null,
  added_at timestamptz not null default clock_timestamp(),
  primary key (account, print)
);

create table member (
  account int not null references account,
  role text not null,
  can text[] not null check (can <@ array['read', 'operate', 'approve', 'admin'] and cardinality(can) > 0),
  primary key (account, role)
);

create table cap (
  account int not null references account,
  name text not null check (name in ('max_per_call', 'max_per_run', 'max_per_day', 'max_cards')),
  value bigint not null check (value >= 0),
  primary key (account, name)
);
create table cap_bin (
  account int not null references account,
  bin text not null,
  primary key (account, bin)
);
create table spend_day (
  account int not null references account,
  day date not null,
  held bigint not null check (held >= 0),
  spent bigint not null check (spent >= 0),
  primary key (account, day)
);

create table op (
  op text primary key check (op ~ '^op_[0-9a-hjkmnp-tv-z]{26}$'),
  account int not null references account,
  nonce text not null,
  command text not null,
  digest text not null,
  bulk boolean not null,
  moves boolean not null,
  freely boolean not null,
  rows int not null check (rows > 0),
  cents bigint not null,
  state text not null check (state in ('pending', 'running', 'finished')),
  unknown int not null check (unknown >= 0),
  open int not null check (open >= 0),
  epoch int not null,
  holder text not null,
  host text not null,
  writer text not null check (writer ~ '^[0-9a-f]{8}$'),
  ttl_ms int not null check (ttl_ms between 1000 and 86400000),
  lease_until timestamptz,
  lease_before timestamptz,
  day date not null,
  reserved bigint not null check (reserved >= 0),
  spent bigint not null default 0 check (spent between 0 and reserved),
  claimed_seq bigint not null,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  written_at timestamptz not null default clock_timestamp(),
  n int not null,
  size bigint not null
);
create index op_unfinished on op (account, digest) where state <> 'finished';
create index op_ended on op (account, ended_at);

create table intent (
  account int not null references account,
  name text not null check (name ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$'),
  digest text not null,
  op text not null references op,
  row int not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (account, name)
);
create index intent_op on intent (op);
create table given_key (
  account int not null references account,
  key text not null,
  digest text not null,
  op text not null references op,
  primary key (account, key)
);
create index given_key_op on given_key (op);

-- What one sync writes to a file. Below zero stand outcomes that a former holder brought later.
create table segment (
  op text not null references op,
  n int not null check (n <> 0),
  account int not null references account,
  epoch int not null,
  writer text not null,
  bytes bytea not null check (octet_length(bytes) > 0),
  primary key (op, n)
);

create table audit (
  account int not null references account,
  seq bigint not null,
  line text not null,
  hash text not null,
  role text not null,
  at timestamptz not null,
  nonce text,
  primary key (account, seq)
);
create unique index audit_nonce on audit (account, nonce) where nonce is not null;

create table push (
  account int not null references account,
  role text not null,
  timeline text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (account, role, timeline)
);

${guarding(GUARDED)}

-- An account is found by the name that was asked for, and a membership by who asks.
alter table account enable row level security;
alter table account force row level security;
create policy asked_for on account using (name = current_setting('cardwright.account_name', true));
alter table member enable row level security;
alter table member force row level security;
create policy own_account on member
  using (account = nullif(current_setting('cardwright.account', true), '')::int);
create policy own_membership on member for select using (role = session_user);
`;
