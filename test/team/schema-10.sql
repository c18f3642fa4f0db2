begin;

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
  foreach wanted in array array['cardwright_owner', 'cardwright_operator', 'cardwright_approver', 'cardwright_auditor', 'cardwright_admin'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      execute format('create role %I nologin', wanted);
    end if;
    if exists (select from pg_roles where rolname = wanted and (rolsuper or rolbypassrls or rolcanlogin)) then
      raise exception 'the role % must have no login and no rights of its own', wanted;
    end if;
  end loop;
  if not (select rolsuper from pg_roles where rolname = current_user) then
    execute format('grant cardwright_owner to %I', current_user);
  end if;
end $roles$;

create schema cardwright authorization cardwright_owner;
set local role cardwright_owner;
set local search_path = cardwright;

create table meta (
  one boolean primary key default true check (one),
  journal_id text not null,
  schema_number int not null
);
insert into meta (journal_id, schema_number)
  values ('jrn_' || replace(gen_random_uuid()::text, '-', ''), 10);

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

do $guard$
declare
  guarded text;
begin
  foreach guarded in array array['account_key', 'cap', 'cap_bin', 'spend_day', 'op', 'intent', 'given_key', 'segment', 'audit', 'push'] loop
    execute format('alter table %I enable row level security', guarded);
    execute format('alter table %I force row level security', guarded);
    execute format('create policy own_account on %I using (account = nullif(current_setting(%L, true), %L)::int)',
      guarded, 'cardwright.account', '');
  end loop;
end $guard$;

-- An account is found by the name that was asked for, and a membership by who asks.
alter table account enable row level security;
alter table account force row level security;
create policy asked_for on account using (name = current_setting('cardwright.account_name', true));
alter table member enable row level security;
alter table member force row level security;
create policy own_account on member
  using (account = nullif(current_setting('cardwright.account', true), '')::int);
create policy own_membership on member for select using (role = session_user);

-- Print of the API key of an operation that was brought from the files of a machine; its plan has that of the machine.
alter table op add column key_print text check (key_print ~ '^[0-9a-f]{16}$');
-- Its records were removed; that it was there stays.
alter table op add column pruned_at timestamptz;
-- Of a row whose operation was pruned: what came of it, {card}.
alter table intent add column done jsonb;

-- Names of callers that one process holds: the fleet that it changes.
create table name_hold (
  account int not null references account,
  name text not null check (length(name) between 1 and 200),
  writer text not null check (writer ~ '^[0-9a-f]{8}$'),
  holder text not null,
  host text not null,
  lease_until timestamptz not null,
  primary key (account, name)
);
do $guard$
declare
  guarded text;
begin
  foreach guarded in array array['name_hold'] loop
    execute format('alter table %I enable row level security', guarded);
    execute format('alter table %I force row level security', guarded);
    execute format('create policy own_account on %I using (account = nullif(current_setting(%L, true), %L)::int)',
      guarded, 'cardwright.account', '');
  end loop;
end $guard$;

-- Who began it, whoever has it now.
alter table op add column begun_by text;

create table approval_rule (
  account int not null references account,
  name text not null check (name in
    ('approve_above', 'approve_day', 'approve_irreversible', 'approve_rows', 'approvals_needed', 'approve_within_hours')),
  value bigint not null check (value >= 0),
  primary key (account, name),
  check (name <> 'approvals_needed' or value between 1 and 9),
  check (name <> 'approve_within_hours' or value between 1 and 168)
);
-- A removed key stays: what it approved before that was approved.
create table approver (
  account int not null references account,
  keyid text not null check (keyid ~ '^[0-9a-f]{16}$'),
  person text not null,
  roles text[] not null,
  key text not null,
  added_by text not null,
  added_at timestamptz not null default clock_timestamp(),
  removed_at timestamptz,
  primary key (account, keyid)
);
-- What was asked of other persons, an operation each.
create table approval_request (
  op text primary key references op,
  account int not null references account,
  payload text not null,
  needed int not null check (needed between 1 and 9),
  requester text not null,
  requester_key text,
  spending jsonb not null,
  expires_at timestamptz not null,
  asked_at timestamptz not null default clock_timestamp(),
  state text not null default 'open' check (state in ('open', 'used', 'rejected', 'expired', 'stale')),
  used_at timestamptz
);
create table approval (
  op text not null references approval_request,
  account int not null references account,
  keyid text not null,
  person text not null,
  role text not null,
  envelope text not null check (octet_length(envelope) <= 65536),
  at timestamptz not null default clock_timestamp(),
  primary key (op, keyid)
);
do $guard$
declare
  guarded text;
begin
  foreach guarded in array array['approval_rule', 'approver', 'approval_request', 'approval'] loop
    execute format('alter table %I enable row level security', guarded);
    execute format('alter table %I force row level security', guarded);
    execute format('create policy own_account on %I using (account = nullif(current_setting(%L, true), %L)::int)',
      guarded, 'cardwright.account', '');
  end loop;
end $guard$;

-- What was claimed since somebody looked.
create index op_claimed on op (account, claimed_seq);

-- What a list shows of its rows, as the last who wrote has counted it; null where its records say more.
alter table op add column shown jsonb;
-- The database that the account knows, of those of the server: the one where it is now.
create function own_database() returns text language sql as $f$
  select format('%s %s', d.oid, d.datname) from pg_database d where d.datname = current_database();
$f$;
alter table account add column database text not null default own_database();
alter table account alter column database drop default;
drop function own_database();

-- Who knows of lines that the database has lost, until an admin accepts it; and how often one has been accepted.
alter table account add column lost_why text;
alter table account add column accepted int not null default 0;

-- An operation with a name that belongs to another one, and who has said that both are right.
create table accepted_clash (
  account int not null references account,
  op text not null references op,
  belongs_to text not null references op,
  role text not null,
  why text not null check (length(why) between 1 and 200),
  at timestamptz not null default clock_timestamp(),
  primary key (account, op, belongs_to)
);
-- State folders that operators have worked from, by an identifier that each keeps.
create table machine (
  account int not null references account,
  role text not null,
  host text not null,
  id text not null check (id ~ '^[0-9a-f]{16}$'),
  seen_at timestamptz not null default clock_timestamp(),
  primary key (account, role, host, id)
);
-- The machine that has pushed; empty where an older release has.
alter table push add column host text not null default '';
alter table push add column machine text not null default '';
alter table push drop constraint push_pkey;
alter table push add primary key (account, role, timeline, host, machine);
do $guard$
declare
  guarded text;
begin
  foreach guarded in array array['accepted_clash', 'machine'] loop
    execute format('alter table %I enable row level security', guarded);
    execute format('alter table %I force row level security', guarded);
    execute format('create policy own_account on %I using (account = nullif(current_setting(%L, true), %L)::int)',
      guarded, 'cardwright.account', '');
  end loop;
end $guard$;

-- Names and keys of operations that were brought from elsewhere and belong to others here: the first gets one that gets free.
create table waiting_name (
  account int not null references account,
  op text not null references op,
  is_key boolean not null,
  name text not null,
  digest text not null,
  row int not null,
  done jsonb,
  made_at timestamptz not null default clock_timestamp(),
  primary key (op, is_key, name)
);
create index waiting_for on waiting_name (account, name);
do $guard$
declare
  guarded text;
begin
  foreach guarded in array array['waiting_name'] loop
    execute format('alter table %I enable row level security', guarded);
    execute format('alter table %I force row level security', guarded);
    execute format('create policy own_account on %I using (account = nullif(current_setting(%L, true), %L)::int)',
      guarded, 'cardwright.account', '');
  end loop;
end $guard$;

-- Who began it and has not been told its end: another operator has ended it, or the command was killed before it told.
alter table op add column not_told text;

-- Records that nobody can read, as they were, of operations that an admin has set aside.
create table damaged_segment (
  op text not null references op,
  n int not null,
  account int not null references account,
  epoch int not null,
  writer text not null,
  bytes bytea not null,
  set_aside_at timestamptz not null default clock_timestamp(),
  primary key (op, n)
);
do $guard$
declare
  guarded text;
begin
  foreach guarded in array array['damaged_segment'] loop
    execute format('alter table %I enable row level security', guarded);
    execute format('alter table %I force row level security', guarded);
    execute format('create policy own_account on %I using (account = nullif(current_setting(%L, true), %L)::int)',
      guarded, 'cardwright.account', '');
  end loop;
end $guard$;
-- The machine, role@host, that its only operator has taken it to: it waits here until that machine brings it back.
alter table op add column left_to text;

-- Whether the database is still the one that the account knows: a promoted standby or a restored copy has lost commits.
create function place_now(out system_identifier text, out timeline text, out database text) language sql as $f$
  select (select s.system_identifier::text from pg_control_system() s), left(pg_walfile_name(pg_current_wal_lsn()), 8),
    (select format('%s %s', d.oid, d.datname) from pg_database d where d.datname = current_database());
$f$;

create function is_elsewhere(a account) returns boolean language sql as $f$
  select (a.system_identifier, a.timeline, a.database) is distinct from (p.system_identifier, p.timeline, p.database)
    from place_now() p;
$f$;

create function refuse_elsewhere(a account) returns void language plpgsql as $f$
begin
  if is_elsewhere(a) then
    raise exception using errcode = 'CW005',
      message = 'the database was restored, copied or failed over, and may have lost what was written last';
  end if;
end $f$;

create function refuse_lost(a account) returns void language plpgsql as $f$
begin
  if a.lost_why is not null then
    raise exception using errcode = 'CW006', message = 'the database has lost what was written last: ' || a.lost_why;
  end if;
end $f$;

create function place_name() returns text language sql as $f$
  select concat_ws('/', p.system_identifier, p.timeline, p.database) from place_now() p;
$f$;

create function not_a_member(account_name text) returns void language plpgsql as $f$
begin
  raise exception using errcode = 'CW004',
    message = format('no account %s that %s may use this way', account_name, session_user);
end $f$;

-- Who asks, checked before a row of the account is locked; its id. Sets whose rows are seen from here on.
create function membership(account_name text, wants text[]) returns int language plpgsql as $f$
declare
  found_id int;
begin
  perform set_config('cardwright.account', '', true), set_config('cardwright.account_name', account_name, true);
  select a.id into found_id from account a join member m on m.account = a.id
    where a.name = account_name and m.role = session_user and m.can && wants;
  if found_id is null then perform not_a_member(account_name); end if;
  perform set_config('cardwright.account', found_id::text, true);
  return found_id;
end $f$;

-- First line of all that reads; also on a standby.
create function enter_reading(account_name text) returns int language sql as $f$
  select membership(account_name, array['read', 'operate', 'approve', 'admin']);
$f$;

-- Who has frozen the account, and when; null where no line of the chain says so.
create function frozen_by(a account) returns jsonb language sql as $f$
  select jsonb_build_object('by', l.role, 'at', to_char(l.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
    from (select u.role, u.at, u.line::json ->> 'operation' as operation from audit u where u.account = a.id
        and u.line::json ->> 'operation' in ('journal.freeze_account', 'journal.leave_account', 'journal.accept_failover')
      order by u.seq desc limit 1) l
    where a.frozen_why is not null and l.operation <> 'journal.accept_failover';
$f$;

create function refuse_frozen(a account) returns void language plpgsql as $f$
declare
  who jsonb := frozen_by(a);
begin
  raise exception using errcode = 'CW010', detail = jsonb_build_object('account', a.name)::text,
    message = format('the account %s was frozen%s: %s', a.name,
      coalesce(format(' by %s at %s', who ->> 'by', who ->> 'at'), ''), a.frozen_why);
end $f$;

-- Of an operation whose rows are all settled nothing can be sent any more: it may be shown and let go while the account is frozen.
create function is_about_settled(a account, call jsonb) returns boolean language sql as $f$
  select coalesce((call #>> '{counts,unknown}')::int, 0) = 0 and coalesce((call #>> '{counts,open}')::int, 0) = 0
    and exists (select from op o where o.account = a.id and o.op = call ->> 'op' and o.unknown = 0 and o.open = 0);
$f$;

-- A machine that works here, noted once an hour; the account is locked. Those of a month ago are forgotten.
create function note_machine(a account, of_host text, machine_id text) returns void language plpgsql as $f$
begin
  if (machine_id ~ '^[0-9a-f]{16}$') is not true or of_host is null then perform bad_call('machine'); end if;
  insert into machine (account, role, host, id) values (a.id, session_user, left(of_host, 200), machine_id)
    on conflict (account, role, host, id) do update set seen_at = clock_timestamp()
      where machine.seen_at < clock_timestamp() - interval '1 hour';
  if found then delete from machine k where k.account = a.id and k.seen_at < clock_timestamp() - interval '30 days'; end if;
end $f$;

-- First line of all that writes. call: account, known {seq, hash}, machine. wants: what the role may do, one word of several.
-- moves_nothing: the call lets somebody else go on, and nothing more; that is done while the account is frozen, too.
create function enter(call jsonb, wants text, lock boolean, frozen_too boolean default false, settled_too boolean default false,
  moves_nothing boolean default false) returns account language plpgsql as $f$
declare
  a account;
  known_seq bigint := coalesce((call #>> '{known,seq}')::bigint, 0);
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'CW001',
      message = 'transactions must be read committed; this one is ' || current_setting('transaction_isolation');
  end if;
  if pg_is_in_recovery() or current_setting('transaction_read_only')::boolean then
    raise exception using errcode = 'CW002', message = 'this server only reads; use the address of the primary';
  end if;
  if not (current_setting('fsync')::boolean and current_setting('full_page_writes')::boolean) then
    raise exception using errcode = 'CW003',
      message = 'fsync or full_page_writes is off: what is written would not outlive a crash';
  end if;
  if current_setting('synchronous_commit') in ('off', 'local') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform set_config('lock_timeout', '10s', true);
  perform membership(call ->> 'account', string_to_array(wants, ' '));
  if lock then
    select * into a from account where name = call ->> 'account' for no key update;
  else
    select * into a from account where name = call ->> 'account';
  end if;
  if not frozen_too then
    perform refuse_elsewhere(a);
    if a.frozen_why is not null and not moves_nothing and not (settled_too and is_about_settled(a, call)) then perform refuse_frozen(a); end if;
    perform refuse_lost(a);
  end if;
  if known_seq > 0 and not exists
    (select from audit u where u.account = a.id and u.seq = known_seq and u.hash = call #>> '{known,hash}') then
    raise exception using errcode = 'CW006',
      message = 'the database does not hold what this machine knows to be written',
      detail = jsonb_build_object('known', known_seq, 'here', a.audit_seq,
        'lost', greatest(known_seq - a.audit_seq, 1))::text;
  end if;
  if lock and not frozen_too and call ? 'machine' then
    perform note_machine(a, call ->> 'host', call ->> 'machine');
  end if;
  return a;
end $f$;

create function bad_call(why text) returns void language plpgsql as $f$
begin
  raise exception using errcode = 'CW007', message = 'a call that no cardwright makes: ' || why;
end $f$;

create function fenced(o op) returns void language plpgsql as $f$
begin
  raise exception using errcode = 'CW008',
    message = case when o.op is null then 'there is no such operation in this account'
      when o.left_to is not null then format('the operation was moved to %s', o.left_to)
      when o.state = 'finished' then 'the operation is finished'
      else format('the operation was taken over by %s on %s', o.holder, o.host) end,
    detail = jsonb_build_object('op', o.op, 'state', o.state, 'epoch', o.epoch, 'holder', o.holder, 'host', o.host)::text;
end $f$;

-- Members of a JSON object, for a line that a person and a program read. Checked before they are put into one.
create function check_facts(facts text) returns void language plpgsql as $f$
declare
  members json;
begin
  if facts is null or facts !~ '\S' or octet_length(facts) > 4096 or facts ~ '[[:cntrl:]\u2028\u2029]' then
    perform bad_call('facts of an audit line');
  end if;
  begin
    members := ('{' || facts || '}')::json;
  exception when others then
    perform bad_call('facts of an audit line');
  end;
  if (select count(*) <> count(distinct k) or bool_or(k in ('seq', 'at', 'who', 'prev', 'hash', 'batch'))
      from json_object_keys(members) k) then
    perform bad_call('facts of an audit line');
  end if;
end $f$;

-- The next line of the chain. The account is locked.
create function write_audit(inout a account, facts text, host text, of_nonce text default null)
language plpgsql as $f$
declare
  now_at timestamptz := clock_timestamp();
  body text;
begin
  perform check_facts(facts);
  if host is null or host ~ '[[:cntrl:]\u2028\u2029]' then perform bad_call('host'); end if;
  a.audit_seq := a.audit_seq + 1;
  body := format('{"seq":%s,"at":"%s","who":%s,%s,"prev":"%s"', a.audit_seq,
    to_char(now_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    to_json(left(session_user || '@' || host, 200)), facts, a.audit_hash);
  a.audit_hash := encode(sha256(convert_to(body, 'UTF8')), 'hex');
  insert into audit (account, seq, line, hash, role, at, nonce)
    values (a.id, a.audit_seq, format('%s,"hash":"%s"}', body, a.audit_hash), a.audit_hash, session_user, now_at, of_nonce);
  update account set audit_seq = a.audit_seq, audit_hash = a.audit_hash where id = a.id;
end $f$;

create function head_of(a account) returns jsonb language sql immutable as $f$
  select jsonb_build_object('seq', a.audit_seq, 'hash', a.audit_hash);
$f$;

create function ms_until(t timestamptz) returns bigint language sql as $f$
  select ceil(extract(epoch from t - clock_timestamp()) * 1000)::bigint;
$f$;

-- Names of an operation that came to nothing. One that another operation has too, brought from elsewhere, passes to that one: it
-- may have been carried out, and a third must not use the name.
create function free_names(o op, freed text[]) returns void language plpgsql as $f$
begin
  if cardinality(freed) = 0 then return; end if;
  delete from waiting_name w where w.op = o.op and not w.is_key and w.name = any(freed);
  delete from intent i where i.op = o.op and i.account = o.account and i.name = any(freed);
  with heir as (
    select distinct on (w.name) w.* from waiting_name w
      where w.account = o.account and not w.is_key and w.name = any(freed)
        and not exists (select from intent i where i.account = w.account and i.name = w.name)
      order by w.name, w.made_at, w.op
  ), gone as (
    delete from waiting_name w using heir h where w.op = h.op and not w.is_key and w.name = h.name
  )
  insert into intent (account, name, digest, op, row, done, made_at)
    select h.account, h.name, h.digest, h.op, h.row, h.done, h.made_at from heir h;
end $f$;

-- The same for its key of the caller's.
create function free_key(o op) returns void language plpgsql as $f$
declare
  freed text;
  heir waiting_name;
begin
  delete from waiting_name w where w.op = o.op and w.is_key;
  delete from given_key g where g.op = o.op and g.account = o.account returning g.key into freed;
  if freed is null then return; end if;
  select * into heir from waiting_name w where w.account = o.account and w.is_key and w.name = freed
    order by w.made_at, w.op limit 1;
  if heir.op is null then return; end if;
  delete from waiting_name w where w.op = heir.op and w.is_key;
  insert into given_key (account, key, digest, op) values (heir.account, heir.name, heir.digest, heir.op);
end $f$;

create function free_all(o op) returns void language plpgsql as $f$
begin
  perform free_names(o, array(select i.name from intent i where i.op = o.op));
  perform free_key(o);
  delete from waiting_name w where w.op = o.op;
end $f$;

-- Names and key of an operation that is brought from elsewhere; those that belong to another one wait for it.
-- call: intents [{row, name, digest}], key {value, digest}.
create function give_names(o op, call jsonb) returns void language plpgsql as $f$
begin
  insert into intent (account, name, digest, op, row)
    select o.account, w.name, w.digest, o.op, w.row
      from jsonb_to_recordset(coalesce(call -> 'intents', '[]')) as w(row int, name text, digest text)
    on conflict do nothing;
  insert into waiting_name (account, op, is_key, name, digest, row)
    select o.account, o.op, false, w.name, w.digest, w.row
      from jsonb_to_recordset(coalesce(call -> 'intents', '[]')) as w(row int, name text, digest text)
      join intent i on i.account = o.account and i.name = w.name and i.op <> o.op;
  if not call ? 'key' then return; end if;
  insert into given_key (account, key, digest, op)
    values (o.account, call #>> '{key,value}', call #>> '{key,digest}', o.op) on conflict do nothing;
  insert into waiting_name (account, op, is_key, name, digest, row)
    select o.account, o.op, true, g.key, call #>> '{key,digest}', 0 from given_key g
      where g.account = o.account and g.key = call #>> '{key,value}' and g.op <> o.op;
end $f$;

-- What a claim was first answered; the same again when its answer was lost.
create function claimed_answer(o op) returns jsonb language sql as $f$
  select jsonb_build_object('verdict', 'claimed', 'op', o.op, 'epoch', 1, 'n', 1, 'day', o.day, 'lease_ms', o.ttl_ms,
    'head', jsonb_build_object('seq', o.claimed_seq,
      'hash', (select u.hash from audit u where u.account = o.account and u.seq = o.claimed_seq)));
$f$;

-- Where another operation stands, for whoever is refused because of it.
create function standing(o op) returns jsonb language sql as $f$
  select jsonb_build_object('op', o.op, 'state', o.state, 'bulk', o.bulk, 'unknown', o.unknown, 'open', o.open,
    'holder', o.holder, 'host', o.host, 'epoch', o.epoch, 'lease_ms', greatest(coalesce(ms_until(o.lease_until), 0), 0));
$f$;

-- Names that were used before. One that was given with the operation it belongs to is known to the caller.
create function intent_verdict(a account, wanted jsonb) returns jsonb language plpgsql as $f$
declare
  clash jsonb;
  earlier jsonb;
begin
  select jsonb_build_object('verdict', 'conflict', 'intent', i.name, 'op', i.op, 'row', w.row, 'earlier_row', i.row)
    into clash
    from jsonb_to_recordset(coalesce(wanted -> 'intents', '[]')) as w(row int, name text, digest text, op text)
    join intent i on i.account = a.id and i.name = w.name
    where i.digest <> w.digest order by w.row limit 1;
  if clash is not null then return clash; end if;
  select jsonb_agg(jsonb_build_object('intent', w.name, 'row', w.row, 'earlier_row', i.row,
      'standing', (select standing(o) from op o where o.op = i.op)) order by w.row)
    into earlier
    from jsonb_to_recordset(coalesce(wanted -> 'intents', '[]')) as w(row int, name text, digest text, op text)
    left join intent i on i.account = a.id and i.name = w.name
    where i.op is distinct from w.op;
  if earlier is null then return null; end if;
  return jsonb_build_object('verdict', 'earlier', 'intents', earlier);
end $f$;

create function given_key_verdict(a account, wanted jsonb) returns jsonb language sql as $f$
  select case when g.digest = wanted #>> '{key,digest}'
    then jsonb_build_object('verdict', 'earlier', 'key', g.key, 'standing', (select standing(o) from op o where o.op = g.op))
    else jsonb_build_object('verdict', 'conflict', 'key', g.key, 'op', g.op) end
  from given_key g where g.account = a.id and g.key = wanted #>> '{key,value}';
$f$;

-- Whether each of its rows has a name of the caller's.
create function is_all_named(o op) returns boolean language sql as $f$
  select count(*) >= o.rows from intent i where i.account = o.account and i.op = o.op;
$f$;

-- The same changes, by an operation that is not finished, or many rows that were finished within a day.
create function twin_verdict(a account, wanted jsonb) returns jsonb language plpgsql as $f$
declare
  digests text[] := array[wanted ->> 'digest', wanted ->> 'digest_in_order'];
  is_bulk boolean := (wanted ->> 'bulk')::boolean;
  is_named boolean := jsonb_array_length(coalesce(wanted -> 'intents', '[]')) >= (wanted ->> 'rows')::int;
  o op;
  is_alive boolean;
begin
  for o in select * from op x where x.account = a.id and x.digest = any(digests) and x.state <> 'finished'
      order by x.started_at loop
    is_alive := coalesce(o.lease_until > clock_timestamp(), false);
    if (is_bulk and o.bulk) or o.state = 'pending'
      -- What may be done twice freely is in nobody's way. Without an end nobody was told, and a living lease proves nothing.
      -- Other names for every row say that both are meant; beside a resume the second is not.
      or (not o.freely and (not is_alive or o.moves or o.epoch > 1 or not (is_named and is_all_named(o)))) then
      return jsonb_build_object('verdict', 'twin', 'standing', standing(o));
    end if;
  end loop;
  if is_bulk and not is_named and not coalesce((wanted ->> 'again')::boolean, false) then
    select * into o from op x where x.account = a.id and x.bulk and x.digest = any(digests)
      and x.ended_at > clock_timestamp() - interval '24 hours'
      and not exists (select from approval_request r where r.op = x.op and r.state <> 'used') order by x.ended_at desc limit 1;
    if o.op is not null then
      return jsonb_build_object('verdict', 'repeated', 'op', o.op, 'holder', o.holder, 'host', o.host);
    end if;
  end if;
  return null;
end $f$;

-- Caps that need no memory. spending: largest, total, cards, bins, untold.
create function cap_verdict(a account, spending jsonb) returns jsonb language plpgsql as $f$
declare
  c record;
  foreign_bins jsonb;
begin
  for c in
    select k.name, k.value, case k.name when 'max_per_call' then (spending ->> 'largest')::bigint
        when 'max_per_run' then (spending ->> 'total')::bigint
        when 'max_cards' then (spending ->> 'cards')::bigint else 0 end as asked
      from cap k where k.account = a.id order by k.name loop
    if coalesce((spending ->> 'untold')::boolean, false) then
      return jsonb_build_object('verdict', 'cap', 'cap', c.name, 'limit', c.value, 'untold', true);
    elsif c.asked > c.value then
      return jsonb_build_object('verdict', 'cap', 'cap', c.name, 'limit', c.value, 'used', 0, 'asked', c.asked);
    end if;
  end loop;
  if not exists (select from cap_bin b where b.account = a.id) then return null; end if;
  if coalesce((spending ->> 'untold')::boolean, false) then
    return jsonb_build_object('verdict', 'cap', 'cap', 'bins', 'untold', true);
  end if;
  select jsonb_agg(w.bin order by w.bin) into foreign_bins
    from jsonb_array_elements_text(coalesce(spending -> 'bins', '[]')) w(bin)
    where not exists (select from cap_bin b where b.account = a.id and b.bin = w.bin);
  if foreign_bins is null then return null; end if;
  return jsonb_build_object('verdict', 'cap', 'cap', 'bins', 'asked', foreign_bins,
    'limit', (select jsonb_agg(b.bin order by b.bin) from cap_bin b where b.account = a.id));
end $f$;

-- Never before a day that something was held for: a clock that is set back must not open a day anew.
create function day_now(a account) returns date language sql as $f$
  select greatest((clock_timestamp() at time zone 'UTC')::date, (select max(d.day) from spend_day d where d.account = a.id));
$f$;

-- Whether the cap of the day leaves room.
create function day_verdict(a account, today date, amount bigint) returns jsonb language plpgsql as $f$
declare
  limit_cents bigint;
  used bigint;
begin
  if amount = 0 then return null; end if;
  select k.value into limit_cents from cap k where k.account = a.id and k.name = 'max_per_day';
  select d.held + d.spent into used from spend_day d where d.account = a.id and d.day = today;
  used := coalesce(used, 0);
  if used + amount > limit_cents then
    return jsonb_build_object('verdict', 'cap', 'cap', 'max_per_day', 'limit', limit_cents, 'used', used, 'asked', amount);
  end if;
  return null;
end $f$;

-- Holds the whole amount for the day, or says what is left of it.
create function reserve(a account, today date, amount bigint) returns jsonb language plpgsql as $f$
declare
  verdict jsonb := day_verdict(a, today, amount);
begin
  if amount = 0 or verdict is not null then return verdict; end if;
  insert into spend_day (account, day, held, spent) values (a.id, today, amount, 0)
    on conflict (account, day) do update set held = spend_day.held + amount;
  return null;
end $f$;

-- Whether somebody has claimed behind the line that the caller had seen when it asked its rules, which compare rows. Where
-- SENT goes with the claim, its facts were read before: the same change, and many rows, may be over since.
create function changed_verdict(a account, wanted jsonb) returns jsonb language sql as $f$
  select jsonb_build_object('verdict', 'changed') where exists
    (select from op o where o.account = a.id and o.claimed_seq > (wanted ->> 'looked')::bigint
      and (o.state <> 'finished' or ((wanted ->> 'sent')::boolean and (o.bulk or o.digest = wanted ->> 'digest'))));
$f$;

create function check_wanted(wanted jsonb, bytes bytea) returns void language plpgsql as $f$
begin
  if (wanted ->> 'op') is null or coalesce(wanted ->> 'nonce', '') = '' or coalesce(wanted ->> 'digest', '') = ''
    or (wanted ->> 'rows')::int < 1 or (wanted #>> '{spending,total}')::bigint < 0
    or (wanted #>> '{spending,largest}')::bigint > (wanted #>> '{spending,total}')::bigint
    or coalesce(octet_length(bytes), 0) = 0 then
    perform bad_call('claim');
  end if;
end $f$;

create function insert_op(a account, wanted jsonb, bytes bytea, today date, amount bigint) returns op
language plpgsql as $f$
declare
  o op;
begin
  insert into op (op, account, nonce, command, digest, bulk, moves, freely, rows, cents, state, unknown, open, epoch,
      holder, host, writer, ttl_ms, lease_until, day, reserved, claimed_seq, n, size, begun_by, shown)
    values (wanted ->> 'op', a.id, wanted ->> 'nonce', wanted ->> 'command', wanted ->> 'digest',
      (wanted ->> 'bulk')::boolean, (wanted ->> 'moves')::boolean, (wanted ->> 'freely')::boolean,
      (wanted ->> 'rows')::int, (wanted ->> 'cents')::bigint, 'running',
      (wanted #>> '{counts,unknown}')::int, (wanted #>> '{counts,open}')::int, 1,
      session_user, wanted ->> 'host', wanted ->> 'by', (wanted ->> 'ttl_ms')::int,
      clock_timestamp() + (wanted ->> 'ttl_ms')::int * interval '1 millisecond', today,
      amount, a.audit_seq + 1, 1, octet_length(bytes), session_user, wanted -> 'shown')
    returning * into o;
  insert into segment (op, n, account, epoch, writer, bytes) values (o.op, 1, a.id, 1, o.writer, bytes);
  insert into intent (account, name, digest, op, row)
    select a.id, w.name, w.digest, o.op, w.row
      from jsonb_to_recordset(coalesce(wanted -> 'intents', '[]')) as w(row int, name text, digest text, op text)
      where w.op is null;
  if wanted ? 'key' then
    insert into given_key (account, key, digest, op)
      values (a.id, wanted #>> '{key,value}', wanted #>> '{key,digest}', o.op);
  end if;
  return o;
exception
  -- An id of another account, or one name for two rows; what does not fit a column.
  when unique_violation or check_violation or not_null_violation then
    perform bad_call('claim');
end $f$;

-- With a request for approval in its plan nothing is held for it, and it waits from its let_go on until other persons have
-- agreed. Without one the rules of the account hold it: pending.
-- wanted: account, known, looked, sent, op, nonce, by, host, command, digest, digest_in_order, bulk, moves, freely, rows, cents,
-- spending, irreversible, judged_rows, counts {unknown, open}, shown, ttl_ms, key_print, again, intents [{row, name, digest, op}], key {value, digest}.
create function claim(wanted jsonb, bytes bytea, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(wanted, 'operate', true);
  o op;
  verdict jsonb;
  today date;
  asked text := asked_in(bytes);
  amount bigint := (wanted #>> '{spending,total}')::bigint;
begin
  perform check_wanted(wanted, bytes);
  select * into o from op x where x.op = wanted ->> 'op';
  if o.nonce = wanted ->> 'nonce' and o.digest = wanted ->> 'digest' then return claimed_answer(o); end if;
  if o.op is not null then perform bad_call('the id of an operation with another nonce'); end if;
  if not exists (select from account_key k where k.account = a.id and k.print = wanted ->> 'key_print') then
    return jsonb_build_object('verdict', 'key', 'head', head_of(a));
  end if;
  verdict := coalesce(intent_verdict(a, wanted), given_key_verdict(a, wanted), twin_verdict(a, wanted),
    cap_verdict(a, wanted -> 'spending'), changed_verdict(a, wanted),
    case when asked is null then rule_verdict(a, wanted) else request_verdict(a, wanted, asked) end);
  if verdict is null then
    today := day_now(a);
    verdict := case when asked is null then reserve(a, today, amount) else day_verdict(a, today, amount) end;
  end if;
  if verdict is not null then return verdict || jsonb_build_object('head', head_of(a)); end if;
  o := insert_op(a, wanted, bytes, today, case when asked is null then amount else 0 end);
  if asked is not null then perform insert_request(o, wanted, asked); end if;
  perform write_audit(a, facts, o.host);
  return claimed_answer(o);
end $f$;

-- What an outcome leaves: the reservation becomes what was spent, and names that were not used up are free again.
-- ending: finished, spent, free [names of intents], free_key. Not finished: the lease is let go, and nothing else.
create function end_op(o op, ending jsonb) returns void language plpgsql as $f$
declare
  spent_cents bigint := coalesce((ending ->> 'spent')::bigint, 0);
begin
  if not coalesce((ending ->> 'finished')::boolean, false) then
    update op set lease_until = clock_timestamp(), written_at = clock_timestamp() where op.op = o.op;
    return;
  end if;
  -- Cents of an unknown outcome may have left: they stay held.
  if o.unknown > 0 or o.open > 0 then perform bad_call('the end of an operation with rows that are not settled'); end if;
  if spent_cents < 0 or spent_cents > o.reserved then perform bad_call('more was spent than reserved'); end if;
  update spend_day d set held = d.held - o.reserved, spent = d.spent + spent_cents
    where d.account = o.account and d.day = o.day and o.reserved > 0;
  update op set state = 'finished', spent = spent_cents, ended_at = clock_timestamp(), lease_until = null,
      written_at = clock_timestamp(),
      not_told = case when o.state = 'running' and not o.freely and o.begun_by <> session_user then o.begun_by end
    where op.op = o.op;
  perform free_names(o, array(select jsonb_array_elements_text(coalesce(ending -> 'free', '[]'))));
  if coalesce((ending ->> 'free_key')::boolean, false) then perform free_key(o); end if;
end $f$;

-- Digest over the records of an operation, a segment at a time: with it the chain covers them.
create function records_digest(wanted text) returns text language sql as $f$
  select encode(sha256(convert_to(string_agg(encode(sha256(s.bytes), 'hex'), '' order by s.n), 'UTF8')), 'hex')
    from segment s where s.op = wanted and s.n > 0;
$f$;

create function ending_facts(wanted text, ending jsonb, facts text) returns text language sql as $f$
  select case when coalesce((ending ->> 'finished')::boolean, false)
    then facts || format(',"records_sha256":"%s"', records_digest(wanted)) else facts end;
$f$;

create function insert_segment(o op, new_n int, by_whom text, bytes bytea) returns void language plpgsql as $f$
begin
  if by_whom !~ '^[0-9a-f]{8}$' or coalesce(octet_length(bytes), 0) = 0 then perform bad_call('records'); end if;
  insert into segment (op, n, account, epoch, writer, bytes) values (o.op, new_n, o.account, o.epoch, by_whom, bytes);
end $f$;

create function counted(o op, call jsonb, bytes bytea) returns op language plpgsql as $f$
declare
  counts jsonb := call -> 'counts';
begin
  if (counts ->> 'unknown')::int is null or (counts ->> 'open')::int is null
    or (counts ->> 'unknown')::int < 0 or (counts ->> 'open')::int < 0 then
    perform bad_call('counts');
  end if;
  update op set n = op.n + 1, size = op.size + octet_length(bytes), unknown = (counts ->> 'unknown')::int,
      open = (counts ->> 'open')::int, lease_until = clock_timestamp() + op.ttl_ms * interval '1 millisecond',
      written_at = clock_timestamp(),
      -- Who holds it has perhaps not read what came late.
      shown = case when exists (select from segment s where s.op = o.op and s.n < 0) then null else call -> 'shown' end
    where op.op = o.op returning * into o;
  return o;
end $f$;

-- call: account, known, op, epoch, n, by, counts, shown, ending. With an ending the account is locked before the operation.
create function append(call jsonb, bytes bytea, facts text default null) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  ending jsonb := nullif(call -> 'ending', 'null');
  a account := enter(call, 'operate', ending is not null, false, true);
  o op;
  there segment;
begin
  select * into o from op x where x.op = call ->> 'op' for update;
  select * into there from segment s where s.op = o.op and s.n = (call ->> 'n')::int;
  if there.op is not null and there.bytes = bytes and there.writer = call ->> 'by' and there.epoch = (call ->> 'epoch')::int then
    return jsonb_build_object('verdict', 'appended', 'n', there.n, 'lease_ms', o.ttl_ms, 'head', head_of(a));
  end if;
  if o.op is null or o.state <> 'running' or o.epoch <> (call ->> 'epoch')::int or o.holder <> session_user
    or o.left_to is not null or there.op is not null or (call ->> 'n')::int is distinct from o.n + 1 then
    perform fenced(o);
  end if;
  perform insert_segment(o, o.n + 1, call ->> 'by', bytes);
  o := counted(o, call, bytes);
  if ending is not null then
    perform end_op(o, ending);
    a := write_audit(a, ending_facts(o.op, ending, facts), o.host);
  end if;
  return jsonb_build_object('verdict', 'appended', 'n', o.n, 'lease_ms', o.ttl_ms, 'head', head_of(a));
end $f$;

-- Nothing more is written: the operation is finished and somebody was told, or another process may take it.
-- call: account, known, op, epoch, ending.
create function let_go(call jsonb, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  is_end boolean := coalesce((call #>> '{ending,finished}')::boolean, false);
  a account := enter(call, 'operate', true, false, true, not is_end);
  o op;
begin
  select * into o from op x where x.op = call ->> 'op' for update;
  if o.op is null or o.epoch <> (call ->> 'epoch')::int or o.holder <> session_user or o.left_to is not null
    or (o.state <> 'running' and o.state <> case when is_end then 'finished' else 'pending' end) then
    perform fenced(o);
  end if;
  if o.state = 'running' then
    perform end_op(o, coalesce(nullif(call -> 'ending', 'null'), '{}'));
    -- What was asked of other persons is in nobody's hands now.
    update op set state = 'pending', lease_until = null where op.op = o.op and not is_end
      and exists (select from approval_request r where r.op = o.op and r.state = 'open');
    if is_end then a := write_audit(a, ending_facts(o.op, call -> 'ending', facts), o.host); end if;
  end if;
  return jsonb_build_object('verdict', 'let_go', 'head', head_of(a));
end $f$;

-- A claim is taken back of which nothing was sent: the operation is gone, and its names and cents are free.
-- call: account, known, op, epoch.
create function abandon(call jsonb, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true);
  o op;
begin
  select * into o from op x where x.op = call ->> 'op' for update;
  if o.op is not null then
    if o.epoch <> (call ->> 'epoch')::int or o.holder <> session_user or o.state <> 'running' or o.left_to is not null then
      perform fenced(o);
    end if;
    if exists (select from segment s cross join lateral records_in(s.bytes) r
        where s.op = o.op and r.record ->> 't' in ('SENT', 'DONE', 'ACK', 'AMBIG', 'RESOLVED')) then
      perform bad_call('an operation is taken back that was sent');
    end if;
    update spend_day d set held = d.held - o.reserved where d.account = o.account and d.day = o.day and o.reserved > 0;
    perform free_all(o);
    delete from segment s where s.op = o.op;
    delete from approval y where y.op = o.op;
    delete from approval_request r where r.op = o.op;
    delete from op x where x.op = o.op;
    a := write_audit(a, facts, o.host);
  end if;
  return jsonb_build_object('verdict', 'gone', 'head', head_of(a));
end $f$;

create function taken_answer(o op, a account) returns jsonb language sql as $f$
  select jsonb_build_object('verdict', 'taken', 'epoch', o.epoch, 'n', o.n, 'size', o.size, 'lease_ms', o.ttl_ms,
    'since_lease_ms', -ms_until(o.lease_before), 'head', head_of(a));
$f$;

-- Why an operation cannot change hands now; null when it can.
create function take_verdict(o op, call jsonb) returns jsonb language plpgsql as $f$
begin
  if o.op is null then return jsonb_build_object('verdict', 'absent'); end if;
  -- What was settled on that machine is not known here.
  if o.left_to is not null then return jsonb_build_object('verdict', 'moved', 'to', o.left_to); end if;
  if o.state <> 'running' then
    return jsonb_build_object('verdict', o.state, 'holder', o.holder, 'host', o.host);
  end if;
  if o.lease_until > clock_timestamp() then
    return jsonb_build_object('verdict', 'held', 'holder', o.holder, 'host', o.host, 'left_ms', ms_until(o.lease_until));
  end if;
  if coalesce((call ->> 'resume')::boolean, false) and o.holder <> session_user then
    return jsonb_build_object('verdict', 'other', 'holder', o.holder, 'host', o.host);
  end if;
  return null;
end $f$;

create function change_hands(o op, call jsonb, facts text) returns op language plpgsql as $f$
begin
  perform check_facts(facts);
  if o.holder <> session_user and not coalesce(length(('{' || facts || '}')::json ->> 'reason') between 1 and 200, false) then
    perform bad_call('an operation of somebody else is taken over without a reason');
  end if;
  if (call ->> 'by') is null or (call ->> 'by') !~ '^[0-9a-f]{8}$' or (call ->> 'by') = o.writer
    or (call ->> 'ttl_ms')::int is null or (call ->> 'ttl_ms')::int not between 1000 and 86400000 then
    perform bad_call('take');
  end if;
  update op set epoch = op.epoch + 1, holder = session_user, host = call ->> 'host', writer = call ->> 'by',
      ttl_ms = (call ->> 'ttl_ms')::int, lease_before = op.lease_until,
      lease_until = clock_timestamp() + (call ->> 'ttl_ms')::int * interval '1 millisecond'
    where op.op = o.op returning * into o;
  return o;
end $f$;

-- call: account, known, op, by, host, ttl_ms, resume (one's own only).
create function take(call jsonb, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true, false, true);
  o op;
  verdict jsonb;
begin
  select * into o from op x where x.op = call ->> 'op' for update;
  -- The answer of the same call was lost.
  if o.writer = call ->> 'by' and o.holder = session_user and o.lease_before is not null and o.lease_until > clock_timestamp() then
    return taken_answer(o, a);
  end if;
  verdict := take_verdict(o, call);
  if verdict is not null then return verdict || jsonb_build_object('head', head_of(a)); end if;
  o := change_hands(o, call, facts);
  a := write_audit(a, facts, o.host);
  return taken_answer(o, a);
end $f$;

-- call: account, known, op, epoch.
create function renew(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', false);
  o op;
begin
  select * into o from op x where x.op = call ->> 'op' for update;
  if o.op is null or o.state <> 'running' or o.epoch <> (call ->> 'epoch')::int or o.holder <> session_user
    or o.left_to is not null then
    perform fenced(o);
  end if;
  update op set lease_until = clock_timestamp() + op.ttl_ms * interval '1 millisecond' where op.op = o.op;
  return jsonb_build_object('verdict', 'renewed', 'lease_ms', o.ttl_ms, 'head', head_of(a));
end $f$;

-- Whether who began an operation that has ended was told what came of it. call: account, known, op, is_told, began (the
-- caller has begun it, and others have brought it back without knowing that; heard also while the database lacks something).
-- Said also while the account is frozen: it moves no money, and a journal is moved away when everybody knows.
create function told(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  has_begun boolean := coalesce((call ->> 'began')::boolean, false);
  a account := enter(case when has_begun then call - 'known' else call end, 'operate', false, has_begun, true);
begin
  if (call ->> 'is_told')::boolean then
    update op set not_told = null where op.op = call ->> 'op' and op.account = a.id and op.not_told = session_user;
  else
    update op set not_told = session_user where op.op = call ->> 'op' and op.account = a.id and op.state = 'finished'
      and not op.freely and op.begun_by = session_user and op.holder = session_user;
    if has_begun then
      update op set begun_by = session_user, not_told = case when op.state = 'finished' and not op.freely then session_user end
        where op.op = call ->> 'op' and op.account = a.id and op.begun_by is null;
    end if;
  end if;
  return jsonb_build_object('verdict', 'told', 'head', head_of(a));
end $f$;

-- A line of what has no operation. call: account, known, host, nonce.
create function note(call jsonb, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true);
  known_seq bigint;
begin
  if coalesce(call ->> 'nonce', '') = '' then perform bad_call('note'); end if;
  select u.seq into known_seq from audit u where u.account = a.id and u.nonce = call ->> 'nonce';
  if known_seq is null then
    a := write_audit(a, facts, call ->> 'host', call ->> 'nonce');
    known_seq := a.audit_seq;
  end if;
  return jsonb_build_object('verdict', 'noted', 'seq', known_seq, 'head', head_of(a));
end $f$;

-- The records in bytes of a journal, as crc, length, number and JSON.
create function records_in(bytes bytea) returns table (record jsonb) language plpgsql as $f$
begin
  return query select substr(line, position('{' in line))::jsonb
    from regexp_split_to_table(convert_from(bytes, 'UTF8'), '\n') line where line ~ '^[0-9a-f]{8} \d{1,9} \d{1,9} \{';
end $f$;

create function check_witness(o op, by_whom text, bytes bytea) returns void language plpgsql as $f$
declare
  lines int;
  good int;
begin
  select count(*) into lines from regexp_split_to_table(convert_from(bytes, 'UTF8'), '\n') line where line <> '';
  with sent as materialized (
    select distinct (r.record ->> 'row')::int as row
      from segment s cross join lateral records_in(s.bytes) r
      where s.op = o.op and s.writer = by_whom and s.n > 0 and r.record ->> 't' = 'SENT' and r.record ->> 'by' = by_whom
  )
  select count(*) into good from records_in(bytes) r
    where r.record ->> 't' in ('DONE', 'FAILED', 'ACK') and r.record ->> 'by' = by_whom
      and (r.record ->> 'row')::int in (select s.row from sent s);
  if lines = 0 or good <> lines then perform bad_call('an outcome of a row that this process did not send'); end if;
exception
  when character_not_in_repertoire or invalid_text_representation or untranslatable_character then
    perform bad_call('witness');
end $f$;

-- What a former holder saw after it had lost the operation. It never ends it and takes no lease.
-- An outcome is heard always, also while nothing else may be written. call: account, known, op, by.
create function witness(call jsonb, bytes bytea) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call - 'known', 'operate', false, true);
  o op;
  lowest int;
begin
  select * into o from op x where x.op = call ->> 'op' for update;
  if o.op is null then perform fenced(o); end if;
  if not exists (select from segment s where s.op = o.op and s.n < 0 and s.writer = call ->> 'by' and s.bytes = witness.bytes) then
    perform check_witness(o, call ->> 'by', bytes);
    select least(min(s.n), 0) into lowest from segment s where s.op = o.op and s.n < 0;
    perform insert_segment(o, coalesce(lowest, 0) - 1, call ->> 'by', bytes);
    update op set shown = null where op.op = o.op;
  end if;
  return jsonb_build_object('verdict', 'witnessed', 'head', head_of(a));
end $f$;

-- Rule of the account by its name; null where that holds nothing.
create function rule_value(a account, rule_name text) returns bigint language sql as $f$
  select r.value from approval_rule r where r.account = a.id and r.name = rule_name;
$f$;

create function approvals_needed(a account) returns int language sql as $f$
  select coalesce(rule_value(a, 'approvals_needed'), 1)::int;
$f$;

-- How long a request stands: 24 hours where no rule says otherwise.
create function request_life(a account) returns interval language sql as $f$
  select coalesce(rule_value(a, 'approve_within_hours'), 24) * interval '1 hour';
$f$;

-- Cents that a role has moved on this day without approval, with those that may still be.
create function left_today(a account, of_role text) returns bigint language sql as $f$
  select coalesce(sum(case when o.state = 'finished' then o.spent else o.reserved end), 0)::bigint
    from op o where o.account = a.id and o.day = day_now(a) and coalesce(o.begun_by, o.holder) = of_role
      and not exists (select from approval_request r where r.op = o.op);
$f$;

-- The rule that holds it; null where none does. judged: spending, irreversible, judged_rows (those that freeze aside).
create function rule_verdict(a account, judged jsonb) returns jsonb language plpgsql as $f$
declare
  total bigint := (judged #>> '{spending,total}')::bigint;
  held_by text;
begin
  select r.name into held_by from approval_rule r where r.account = a.id and case r.name
      when 'approve_above' then total > r.value
      when 'approve_irreversible' then r.value > 0 and coalesce((judged ->> 'irreversible')::boolean, false)
      when 'approve_rows' then coalesce((judged ->> 'judged_rows')::int, 0) > r.value
      when 'approve_day' then total > 0 and left_today(a, session_user) + total > r.value
      else false end
    or (coalesce((judged #>> '{spending,untold}')::boolean, false)
      and (r.name in ('approve_above', 'approve_day') or (r.name = 'approve_irreversible' and r.value > 0)))
    order by r.name limit 1;
  return case when held_by is null then null else jsonb_build_object('verdict', 'pending', 'rule', held_by) end;
end $f$;

-- The text to be signed in the first line of a plan; null where nothing is asked of anybody.
create function asked_in(bytes bytea) returns text language plpgsql as $f$
begin
  return (select r.record ->> 'approval'
    from records_in(substring(bytes from 1 for position('\x0a'::bytea in bytes))) r where r.record ->> 't' = 'PLAN');
end $f$;

-- Whether the text is a request for this very operation; one that the rule of now asks more for is judged anew.
create function request_verdict(a account, wanted jsonb, asked text) returns jsonb language plpgsql as $f$
declare
  p jsonb;
  expires timestamptz;
begin
  begin
    p := asked::jsonb;
    expires := (p ->> 'expires_at')::timestamptz;
  exception when others then
    perform bad_call('a request for approval');
  end;
  if (p ->> 'op') is distinct from (wanted ->> 'op') or (p ->> 'account') is distinct from a.name
    or (p ->> 'journal') is distinct from (select m.journal_id from meta m)
    or (p ->> 'mode') is distinct from a.mode or (p ->> 'command') is distinct from (wanted ->> 'command')
    or not coalesce(p ->> 'origin' = a.origin or starts_with(p ->> 'origin', a.origin || '/'), false)
    or (p ->> 'rows')::bigint is distinct from (wanted ->> 'rows')::bigint
    or (p ->> 'cents')::bigint is distinct from (wanted ->> 'cents')::bigint
    or (p ->> 'requested_by') is distinct from session_user || '@' || (wanted ->> 'host')
    or not coalesce(expires > clock_timestamp(), false) then
    perform bad_call('a request for approval');
  end if;
  if coalesce((p ->> 'needed')::int, 0) < approvals_needed(a) or expires > clock_timestamp() + request_life(a) then
    return jsonb_build_object('verdict', 'pending', 'rule', 'approvals_needed');
  end if;
  return null;
end $f$;

create function insert_request(o op, wanted jsonb, asked text) returns void language sql as $f$
  insert into approval_request (op, account, payload, needed, requester, requester_key, spending, expires_at)
    select o.op, o.account, asked, (p ->> 'needed')::int, session_user, p ->> 'requester_key', wanted -> 'spending',
      (p ->> 'expires_at')::timestamptz
    from (select asked::jsonb) x(p);
$f$;

-- Persons of keys that may approve now, without the requester: by role and by every key of the same person.
create function persons_of(r approval_request, keys text[]) returns text[] language sql as $f$
  select coalesce(array_agg(distinct p.person order by p.person), '{}') from approver p
    where p.account = r.account and p.keyid = any(keys) and p.removed_at is null
      and not exists (select from approver own where own.account = r.account and own.person = p.person
        and (r.requester = any(own.roles) or own.keyid = r.requester_key));
$f$;

create function expired(r approval_request) returns boolean language sql as $f$
  select r.expires_at <= clock_timestamp();
$f$;

-- Keeps a signature; who runs it is the person whose key has signed. That it fits is checked by whoever sends the
-- operation. call: account, known, op, host, keyid, envelope.
create function approve(call jsonb, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'approve', true);
  o op;
  r approval_request;
  p approver;
  signed bytea;
begin
  select * into o from op x where x.op = call ->> 'op' for update;
  select * into r from approval_request x where x.op = o.op;
  if r.op is null then return jsonb_build_object('verdict', 'absent', 'head', head_of(a)); end if;
  if exists (select from approval y where y.op = r.op and y.keyid = call ->> 'keyid' and y.role = session_user
      and y.envelope = call ->> 'envelope') then
    return jsonb_build_object('verdict', 'approved', 'head', head_of(a));
  end if;
  if r.state <> 'open' or o.lease_until > clock_timestamp() then
    return jsonb_build_object('verdict', 'over', 'head', head_of(a));
  end if;
  if expired(r) then return jsonb_build_object('verdict', 'expired', 'head', head_of(a)); end if;
  select * into p from approver x where x.keyid = call ->> 'keyid' and x.removed_at is null;
  if not coalesce(session_user = any(p.roles), false) then
    return jsonb_build_object('verdict', 'untrusted', 'head', head_of(a));
  end if;
  if r.requester = session_user or cardinality(persons_of(r, array[p.keyid])) = 0 then
    return jsonb_build_object('verdict', 'own', 'head', head_of(a));
  end if;
  begin
    signed := decode((call ->> 'envelope')::json ->> 'payload', 'base64');
  exception when others then
    perform bad_call('approve');
  end;
  if signed is distinct from convert_to(r.payload, 'UTF8') then
    return jsonb_build_object('verdict', 'other', 'head', head_of(a));
  end if;
  insert into approval (op, account, keyid, person, role, envelope)
    values (r.op, a.id, p.keyid, p.person, session_user, call ->> 'envelope')
    on conflict (op, keyid) do update set envelope = excluded.envelope, role = excluded.role;
  a := write_audit(a, facts, call ->> 'host');
  return jsonb_build_object('verdict', 'approved', 'head', head_of(a));
end $f$;

-- Whether these bytes are the records of these kinds, one of each, and no others.
create function are_records(bytes bytea, kinds text[]) returns boolean language plpgsql as $f$
begin
  return (select array_agg(r.record ->> 't') from records_in(bytes) r) is not distinct from kinds;
exception
  when character_not_in_repertoire or invalid_text_representation or untranslatable_character then return false;
end $f$;

create function may_deny(r approval_request, call jsonb) returns boolean language sql as $f$
  select case call ->> 'why'
    when 'rejected' then r.requester = session_user or exists
      (select from member m where m.account = r.account and m.role = session_user and 'approve' = any(m.can))
    when 'expired' then expired(r)
    when 'stale' then true end;
$f$;

-- Ends what is held: nothing of it is ever sent, and its names are free. call: account, known, op, by, host, n, shown, why.
create function deny(call jsonb, bytes bytea, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, case call ->> 'why' when 'rejected' then 'operate approve' else 'operate' end, true);
  o op;
  r approval_request;
begin
  select * into o from op x where x.op = call ->> 'op' for update;
  select * into r from approval_request x where x.op = o.op;
  if r.op is null then return jsonb_build_object('verdict', 'absent', 'head', head_of(a)); end if;
  if exists (select from segment s where s.op = o.op and s.n = (call ->> 'n')::int and s.writer = call ->> 'by'
      and s.bytes = deny.bytes) then
    return jsonb_build_object('verdict', 'denied', 'head', head_of(a));
  end if;
  if r.state <> 'open' or o.lease_until > clock_timestamp() then
    return jsonb_build_object('verdict', 'over', 'head', head_of(a));
  end if;
  if not coalesce(may_deny(r, call), false) then
    return jsonb_build_object('verdict', 'other', 'head', head_of(a));
  end if;
  if (call ->> 'n')::int is distinct from o.n + 1 then perform fenced(o); end if;
  if not are_records(bytes, array['DENIED', 'END']) then perform bad_call('deny'); end if;
  perform insert_segment(o, o.n + 1, call ->> 'by', bytes);
  o := counted(o, jsonb_build_object('counts', jsonb_build_object('unknown', 0, 'open', 0), 'shown', call -> 'shown'), bytes);
  perform free_all(o);
  perform end_op(o, jsonb_build_object('finished', true, 'spent', 0));
  update approval_request x set state = call ->> 'why' where x.op = o.op;
  a := write_audit(a, ending_facts(o.op, jsonb_build_object('finished', true), facts), call ->> 'host');
  return jsonb_build_object('verdict', 'denied', 'head', head_of(a));
end $f$;

-- Why what is held cannot be sent now; null when it can.
create function release_verdict(a account, o op, r approval_request, call jsonb) returns jsonb language plpgsql as $f$
declare
  persons text[];
  needed int := greatest(r.needed, approvals_needed(a));
begin
  if o.op is null or o.left_to is not null then return take_verdict(o, call); end if;
  if r.op is null or r.state <> 'open' then
    return coalesce(take_verdict(o, call - 'resume'), jsonb_build_object('verdict', 'used'));
  end if;
  if o.lease_until > clock_timestamp() then
    return jsonb_build_object('verdict', 'held', 'holder', o.holder, 'host', o.host, 'left_ms', ms_until(o.lease_until));
  end if;
  if expired(r) then return jsonb_build_object('verdict', 'expired'); end if;
  persons := persons_of(r, array(select jsonb_array_elements_text(call -> 'keys')));
  if cardinality(persons) < needed then
    return jsonb_build_object('verdict', 'unapproved', 'have', cardinality(persons), 'needed', needed);
  end if;
  return coalesce(cap_verdict(a, r.spending), reserve(a, day_now(a), (r.spending ->> 'total')::bigint));
end $f$;

-- Puts an operation in hand that was approved: persons are counted, the request is used up, the caps and the day are
-- held, all under the lock of the account, and APPROVED stands in the journal before anything can be sent.
-- call: account, known, op, by, host, ttl_ms, keys [keyid of each signature that fits].
create function release(call jsonb, bytes bytea, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true);
  o op;
  r approval_request;
  verdict jsonb;
  persons text;
begin
  select * into o from op x where x.op = call ->> 'op' for update;
  select * into r from approval_request x where x.op = o.op;
  -- The answer of the same call was lost.
  if o.writer = call ->> 'by' and o.holder = session_user and r.state = 'used' and o.lease_until > clock_timestamp() then
    return taken_answer(o, a);
  end if;
  verdict := release_verdict(a, o, r, call);
  if verdict is not null then return verdict || jsonb_build_object('head', head_of(a)); end if;
  if not are_records(bytes, array['APPROVED']) or (call ->> 'by') = o.writer
    or (call ->> 'ttl_ms')::int is null or (call ->> 'ttl_ms')::int not between 1000 and 86400000 then
    perform bad_call('release');
  end if;
  perform insert_segment(o, o.n + 1, call ->> 'by', bytes);
  update op set state = 'running', epoch = op.epoch + 1, holder = session_user, host = call ->> 'host',
      writer = call ->> 'by', ttl_ms = (call ->> 'ttl_ms')::int, lease_before = clock_timestamp(),
      lease_until = clock_timestamp() + (call ->> 'ttl_ms')::int * interval '1 millisecond',
      n = op.n + 1, size = op.size + octet_length(bytes), written_at = clock_timestamp(), shown = null,
      day = day_now(a), reserved = (r.spending ->> 'total')::bigint
    where op.op = o.op returning * into o;
  update approval_request x set state = 'used', used_at = clock_timestamp() where x.op = o.op;
  persons := array_to_string(persons_of(r, array(select jsonb_array_elements_text(call -> 'keys'))), ', ');
  a := write_audit(a, facts || format(',"approved_by":%s', to_json(persons)), o.host);
  return taken_answer(o, a);
end $f$;

-- The database has lost that it was released: it counts as used, with its whole amount held.
create function used_elsewhere(a account, o op, call jsonb) returns op language plpgsql as $f$
begin
  update approval_request x set state = 'used', used_at = clock_timestamp() where x.op = o.op;
  update op set holder = session_user, host = call ->> 'host', epoch = op.epoch + 1, day = day_now(a),
      reserved = (call ->> 'reserved')::bigint
    where op.op = o.op returning * into o;
  if o.reserved > 0 then
    insert into spend_day (account, day, held, spent) values (a.id, o.day, o.reserved, 0)
      on conflict (account, day) do update set held = spend_day.held + o.reserved;
  end if;
  return o;
end $f$;

-- Rule, persons and what the caller has moved today: what a request is made and judged by.
create function approval_standing(account_name text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account;
begin
  perform enter_reading(account_name);
  select * into a from account;
  return jsonb_build_object('role', session_user,
    'clock_ms', floor(extract(epoch from clock_timestamp()) * 1000)::bigint,
    'left_today', left_today(a, session_user),
    'rule', (select coalesce(jsonb_object_agg(r.name, r.value), '{}') from approval_rule r),
    'approvers', (select coalesce(jsonb_agg(jsonb_build_object('person', p.person, 'key', p.key, 'roles', p.roles,
        'removed_ms', floor(extract(epoch from p.removed_at) * 1000)::bigint) order by p.person, p.keyid), '[]')
      from approver p));
end $f$;

-- Where the request of an operation stands, with its approvals; null where nothing was asked.
create function request_of(account_name text, wanted text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return (select jsonb_build_object('state', r.state,
      'used_ms', floor(extract(epoch from r.used_at) * 1000)::bigint,
      'approvals', (select coalesce(jsonb_agg(y.envelope order by y.at, y.keyid), '[]') from approval y where y.op = r.op))
    from approval_request r where r.op = wanted);
end $f$;

-- Names and keys of an operation that belong to another one here.
create function import_clashes(a account, call jsonb) returns jsonb language sql as $f$
  select jsonb_agg(c) from (
    select jsonb_build_object('intent', i.name, 'op', i.op) as c
      from jsonb_to_recordset(coalesce(call -> 'intents', '[]')) as w(row int, name text, digest text)
      join intent i on i.account = a.id and i.name = w.name and i.op <> call ->> 'op'
    union all
    select jsonb_build_object('key', g.key, 'op', g.op) from given_key g
      where g.account = a.id and g.key = call #>> '{key,value}' and g.op <> call ->> 'op'
  ) x(c);
$f$;

create function insert_imported(a account, call jsonb) returns op language plpgsql as $f$
declare
  o op;
  today date := day_now(a);
begin
  insert into op (op, account, nonce, command, digest, bulk, moves, freely, rows, cents, state, unknown, open, epoch,
      holder, host, writer, ttl_ms, lease_until, day, reserved, claimed_seq, started_at, n, size, key_print, begun_by)
    values (call ->> 'op', a.id, 'imported ' || (call ->> 'by'), call ->> 'command', call ->> 'digest',
      (call ->> 'bulk')::boolean, (call ->> 'moves')::boolean, (call ->> 'freely')::boolean,
      (call ->> 'rows')::int, (call ->> 'cents')::bigint, 'pending', (call ->> 'rows')::int, 0, 1,
      session_user, call ->> 'host', call ->> 'by', 180000, clock_timestamp(), least((call ->> 'day')::date, today),
      (call ->> 'reserved')::bigint, a.audit_seq + 1,
      least(to_timestamp((call ->> 'begun_ms')::bigint / 1000.0), clock_timestamp()), 0, 0, call ->> 'key_print',
      case when (call ->> 'own')::boolean then session_user end)
    returning * into o;
  if o.reserved > 0 then
    insert into spend_day (account, day, held, spent) values (a.id, o.day, o.reserved, 0)
      on conflict (account, day) do update set held = spend_day.held + o.reserved;
  end if;
  perform give_names(o, call);
  return o;
exception
  when unique_violation or check_violation or not_null_violation then perform bad_call('import');
end $f$;

-- A process that is not known here has taken the operation up, and the database has lost that: it is in the hands of who brings it.
create function is_taken_elsewhere(o op, call jsonb) returns boolean language sql as $f$
  select o.op is not null and o.writer <> call ->> 'by'
    and not exists (select from segment s where s.op = o.op and s.writer = call ->> 'by');
$f$;

-- Brings an operation, in parts where it is long: from is the size that is here, whole ends it. Caps are not asked: what
-- it has moved is moved. Until it is whole nobody can take it, and its twins are refused. What the database has lost
-- (recovered) may come while the account is refused to everybody, and names that were used since then stay where they are.
-- call: account, known, op, from, whole, recovered, by, host, key_print, command, digest, bulk, moves, freely, rows, cents,
-- reserved, day, begun_ms, ended_ms, counts, shown, ending {finished, spent}, intents [{row, name, digest}], key {value, digest},
-- keep_both (its names and key may belong to others here, and stay theirs), own (the caller has begun it), machine, ttl_ms.
create function import_op(call jsonb, bytes bytea, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  recovered boolean := coalesce((call ->> 'recovered')::boolean, false);
  whole boolean := coalesce((call ->> 'whole')::boolean, false);
  keep_both boolean := coalesce((call ->> 'keep_both')::boolean, false);
  from_size bigint := (call ->> 'from')::bigint;
  a account := enter(case when recovered then call - 'known' else call end, 'operate', true, recovered);
  o op;
  clashes jsonb := import_clashes(a, call);
  was_held boolean;
  was_taken boolean;
  was_left boolean;
begin
  select * into o from op x where x.op = call ->> 'op' for update;
  was_taken := recovered and is_taken_elsewhere(o, call);
  -- What was settled on the machine of this role counts, whoever had it before.
  was_left := coalesce(not recovered and split_part(o.left_to, '@', 1) = session_user, false);
  was_held := recovered and exists (select from approval_request r where r.op = o.op and r.state = 'open');
  -- The answer of the same call was lost.
  if o.size = from_size + octet_length(bytes) and (o.state <> 'pending') = whole
    and exists (select from segment s where s.op = o.op and s.n = o.n and s.bytes = import_op.bytes) then
    return jsonb_build_object('verdict', 'imported', 'size', o.size, 'clashes', coalesce(clashes, '[]'), 'head', head_of(a));
  end if;
  if coalesce(o.size, 0) <> from_size or o.state = 'finished' or (o.holder <> session_user and not was_held and not was_taken and not was_left)
    -- While all are refused, a lease that came back is one that was over when the other process took the operation up.
    or (o.lease_until > clock_timestamp() and o.writer <> call ->> 'by'
      and not (was_taken and (is_elsewhere(a) or a.lost_why is not null))) then
    perform fenced(o);
  end if;
  if o.op is null then
    if clashes is not null and not recovered and not keep_both then
      return jsonb_build_object('verdict', 'clash', 'clashes', clashes, 'head', head_of(a));
    end if;
    o := insert_imported(a, call);
  end if;
  if was_held then o := used_elsewhere(a, o, call);
  elsif was_taken or (was_left and o.holder <> session_user) then o := change_hands(o, call, facts);
  end if;
  perform insert_segment(o, o.n + 1, call ->> 'by', bytes);
  o := counted(o, call, bytes);
  update op set state = case when whole then 'running' else 'pending' end, lease_until = clock_timestamp()
    where op.op = o.op returning * into o;
  if whole then
    if keep_both then
      perform keep_clash(a, o.op, c ->> 'op', 'moved from the files of one machine: both have happened')
        from jsonb_array_elements(coalesce(clashes, '[]')) c where c ? 'intent';
    end if;
    if coalesce((call #>> '{ending,finished}')::boolean, false) then
      perform end_op(o, call -> 'ending');
      update op set ended_at = least(to_timestamp((call ->> 'ended_ms')::bigint / 1000.0), op.ended_at) where op.op = o.op;
    end if;
    a := write_audit(a, ending_facts(o.op, call -> 'ending', facts), call ->> 'host');
  end if;
  return jsonb_build_object('verdict', 'imported', 'size', o.size, 'clashes', coalesce(clashes, '[]'), 'head', head_of(a));
end $f$;

-- Names whose operation was removed before, with what came of them. With keep_both those that belong to others stay theirs.
-- call: account, known, op, host, names [{row, name, digest, done}], keep_both.
create function import_names(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true);
  clashes jsonb;
begin
  select jsonb_agg(jsonb_build_object('intent', i.name, 'op', i.op)) into clashes
    from jsonb_to_recordset(call -> 'names') as w(name text)
    join intent i on i.account = a.id and i.name = w.name and i.op <> call ->> 'op';
  if clashes is not null and not coalesce((call ->> 'keep_both')::boolean, false) then
    return jsonb_build_object('verdict', 'clash', 'clashes', clashes, 'head', head_of(a));
  end if;
  insert into op (op, account, nonce, command, digest, bulk, moves, freely, rows, cents, state, unknown, open, epoch,
      holder, host, writer, ttl_ms, day, reserved, claimed_seq, ended_at, n, size, pruned_at)
    values (call ->> 'op', a.id, 'imported', 'removed', 'removed', true, false, true,
      jsonb_array_length(call -> 'names'), 0, 'finished', 0, 0, 1, session_user, call ->> 'host', '00000000', 180000,
      day_now(a), 0, a.audit_seq, clock_timestamp(), 0, 0, clock_timestamp())
    on conflict do nothing;
  insert into intent (account, name, digest, op, row, done)
    select a.id, w.name, w.digest, call ->> 'op', w.row, w.done
      from jsonb_to_recordset(call -> 'names') as w(row int, name text, digest text, done jsonb) on conflict do nothing;
  insert into waiting_name (account, op, is_key, name, digest, row, done)
    select a.id, call ->> 'op', false, w.name, w.digest, w.row, w.done
      from jsonb_to_recordset(call -> 'names') as w(row int, name text, digest text, done jsonb)
      join intent i on i.account = a.id and i.name = w.name and i.op <> call ->> 'op' on conflict do nothing;
  return jsonb_build_object('verdict', 'imported', 'clashes', coalesce(clashes, '[]'), 'head', head_of(a));
exception
  when check_violation or not_null_violation then perform bad_call('import_names');
end $f$;

-- Removes the records of an operation that was finished 90 days ago, by the clock of the database, and was told to who may
-- operate; that it was there stays, and so do names of its rows that are done. call: account, known, op, host, done [{name, done}].
create function prune_op(call jsonb, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true);
  o op;
begin
  select * into o from op x where x.op = call ->> 'op' for update;
  if o.op is null or o.pruned_at is not null then
    return jsonb_build_object('verdict', 'gone', 'head', head_of(a));
  end if;
  if o.state <> 'finished' or (o.not_told is not null and waited_for(o) is not null) or o.ended_at > clock_timestamp() - interval '90 days' then
    return jsonb_build_object('verdict', 'kept', 'head', head_of(a));
  end if;
  update intent i set done = w.done from jsonb_to_recordset(call -> 'done') as w(name text, done jsonb)
    where i.op = o.op and i.name = w.name;
  update waiting_name k set done = w.done from jsonb_to_recordset(call -> 'done') as w(name text, done jsonb)
    where k.op = o.op and not k.is_key and k.name = w.name;
  perform free_names(o, array(select i.name from intent i where i.op = o.op and i.done is null));
  perform free_key(o);
  delete from waiting_name w where w.op = o.op and w.done is null;
  delete from segment s where s.op = o.op;
  delete from approval y where y.op = o.op;
  delete from approval_request r where r.op = o.op;
  update op set n = 0, size = 0, pruned_at = clock_timestamp() where op.op = o.op;
  a := write_audit(a, facts, call ->> 'host');
  return jsonb_build_object('verdict', 'pruned', 'head', head_of(a));
end $f$;

-- Names of removed operations that are older than this. call: account, known, before_ms.
create function forget_names(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true);
  oldest timestamptz := least(to_timestamp((call ->> 'before_ms')::bigint / 1000.0), clock_timestamp() - interval '400 days');
begin
  delete from waiting_name w where w.done is not null and w.made_at < oldest;
  delete from intent i where i.done is not null and i.made_at < oldest;
  return jsonb_build_object('verdict', 'forgotten', 'head', head_of(a));
end $f$;

-- Holds a name for one process, or tells who has it; again it is renewed. call: account, known, name, by, host, ttl_ms.
create function hold_name(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true);
  h name_hold;
begin
  if (call ->> 'ttl_ms')::int is null or (call ->> 'ttl_ms')::int not between 1000 and 86400000 then
    perform bad_call('hold_name');
  end if;
  select * into h from name_hold x where x.name = call ->> 'name';
  if h.lease_until > clock_timestamp() and h.writer <> call ->> 'by' then
    return jsonb_build_object('verdict', 'held', 'holder', h.holder, 'host', h.host, 'left_ms', ms_until(h.lease_until),
      'head', head_of(a));
  end if;
  insert into name_hold (account, name, writer, holder, host, lease_until)
    values (a.id, call ->> 'name', call ->> 'by', session_user, call ->> 'host',
      clock_timestamp() + (call ->> 'ttl_ms')::int * interval '1 millisecond')
    on conflict (account, name) do update
      set writer = excluded.writer, holder = excluded.holder, host = excluded.host, lease_until = excluded.lease_until;
  return jsonb_build_object('verdict', 'holding', 'head', head_of(a));
exception
  when check_violation or not_null_violation then perform bad_call('hold_name');
end $f$;

-- call: account, known, name, by.
create function release_name(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true);
begin
  delete from name_hold h where h.name = call ->> 'name' and h.writer = call ->> 'by';
  return jsonb_build_object('verdict', 'released', 'head', head_of(a));
end $f$;

-- Segments in their order; those below zero, which came late, at the end.
create function read_op(account_name text, wanted text, from_n int)
returns table (n int, epoch int, writer text, bytes bytea)
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return query select s.n, s.epoch, s.writer, s.bytes from segment s
    where s.op = wanted and (s.n < 0 or s.n >= from_n) order by s.n < 0, abs(s.n);
end $f$;

-- The first line of an operation: its plan.
create function plan_line(wanted text) returns text language sql as $f$
  select convert_from(substring(s.bytes from 1 for position('\x0a'::bytea in s.bytes) - 1), 'UTF8')
    from segment s where s.op = wanted and s.n = 1 and position('\x0a'::bytea in s.bytes) > 0;
$f$;

-- What names and a key of callers are used for.
create function intents_of(account_name text, names jsonb) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return (select coalesce(jsonb_agg(jsonb_build_object('name', i.name, 'digest', i.digest, 'op', i.op, 'row', i.row, 'done', i.done)), '[]')
    from intent i where i.name in (select jsonb_array_elements_text(names)));
end $f$;

create function given_key_of(account_name text, wanted text) returns text
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return (select g.op from given_key g where g.key = wanted);
end $f$;

-- Whether an API key of that print may be used.
create function has_key(account_name text, wanted text) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return exists (select from account_key k where k.print = wanted);
end $f$;

-- Of whom an operation waits that is to be over for everybody: who may operate, and has it or has not been told its end.
create function waited_for(o op) returns text language sql as $f$
  select m.role from member m where m.account = o.account and 'operate' = any(m.can)
    and m.role = case when o.state = 'finished' then o.not_told else o.holder end;
$f$;

-- filter: pruned (those too whose records were removed), plan (with its first line), written_since (ms UTC), op, intent,
-- live (leases that are not over), unfinished, untold (with unfinished: those too of which the caller has not been told),
-- everybody (with unfinished: those too of which anybody who may operate has not been told, each with waits_for),
-- since_ms (ended less long ago), most, skip.
create function heads(account_name text, filter jsonb) returns table (head jsonb)
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return query select standing(o) || jsonb_build_object('command', o.command, 'rows', o.rows, 'cents', o.cents,
      'reserved', o.reserved, 'spent', o.spent, 'day', o.day, 'n', o.n, 'size', o.size,
      'started_at', o.started_at, 'ended_at', o.ended_at, 'key_print', o.key_print, 'pruned', o.pruned_at is not null,
      'shown', o.shown, 'untold', coalesce(o.not_told = session_user, false), 'left_to', o.left_to,
      'waits_for', case when (filter ->> 'everybody')::boolean then waited_for(o) end, 'denied', o.state = 'finished' and exists
        (select from approval_request r where r.op = o.op and r.state not in ('open', 'used')),
      'plan', case when (filter ->> 'plan')::boolean then plan_line(o.op) end)
    from op o
    where (coalesce((filter ->> 'pruned')::boolean, false) or o.pruned_at is null)
      and (filter ->> 'op' is null or o.op = filter ->> 'op')
      and (filter ->> 'intent' is null or o.op = (select i.op from intent i where i.name = filter ->> 'intent'))
      and (not coalesce((filter ->> 'live')::boolean, false) or o.lease_until > clock_timestamp())
      and (not coalesce((filter ->> 'unfinished')::boolean, false) or o.state <> 'finished'
        or (coalesce((filter ->> 'untold')::boolean, false) and o.not_told = session_user)
        or (coalesce((filter ->> 'everybody')::boolean, false) and o.not_told is not null and waited_for(o) is not null))
      and (filter ->> 'written_since' is null
        or extract(epoch from o.written_at) * 1000 >= (filter ->> 'written_since')::bigint)
      and (filter ->> 'since_ms' is null or o.ended_at is null
        or o.ended_at > clock_timestamp() - (filter ->> 'since_ms')::bigint * interval '1 millisecond')
    order by (o.unknown > 0 and o.state <> 'finished') desc, o.started_at desc, o.op
    limit coalesce((filter ->> 'most')::int, 1000) offset coalesce((filter ->> 'skip')::int, 0);
end $f$;

-- A thousand lines of the chain from a number on.
create function audit_page(account_name text, from_seq bigint) returns table (seq bigint, line text)
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return query select u.seq, u.line from audit u where u.seq >= from_seq order by u.seq limit 1000;
end $f$;

-- Of each day what its row says and what the operations say, in one reading.
create function day_sums(account_name text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return (select coalesce(jsonb_agg(jsonb_build_object('day', day, 'held', coalesce(d.held, 0), 'spent', coalesce(d.spent, 0),
      'ops_held', coalesce(o.held, 0), 'ops_spent', coalesce(o.spent, 0)) order by day), '[]')
    from spend_day d full join (
      select x.day, sum(x.reserved) filter (where x.state = 'running')::bigint as held,
          sum(x.spent) filter (where x.state = 'finished')::bigint as spent
        from op x group by x.day
    ) o using (day));
end $f$;

-- A thousand names of callers behind one, in the order of their bytes.
create function intents_page(account_name text, behind text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return (select coalesce(jsonb_agg(jsonb_build_object('name', i.name, 'digest', i.digest, 'op', i.op, 'row', i.row, 'done', i.done)), '[]')
    from (select * from intent x where x.name collate "C" > behind order by x.name collate "C" limit 1000) i);
end $f$;

-- Operations with a name that belongs to another one, where somebody has said that both are right.
create function accepted_clashes(account_name text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return (select coalesce(jsonb_agg(jsonb_build_object('op', c.op, 'belongs_to', c.belongs_to, 'by', c.role, 'why', c.why,
      'at', to_char(c.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) order by c.at), '[]') from accepted_clash c);
end $f$;

create function status(account_name text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account;
  is_standby boolean := pg_is_in_recovery();
  moved boolean := false;
begin
  perform enter_reading(account_name);
  select * into a from account;
  -- A standby cannot tell its own place.
  if not is_standby then
    moved := is_elsewhere(a);
  end if;
  return (select jsonb_build_object('journal_id', m.journal_id, 'schema', m.schema_number) from meta m) || jsonb_build_object(
    'server', current_setting('server_version'), 'standby', is_standby, 'role', session_user,
    'can', (select to_jsonb(m.can) from member m where m.account = a.id and m.role = session_user),
    'account', a.name, 'origin', a.origin, 'mode', a.mode, 'head', head_of(a), 'frozen', a.frozen_why,
    'frozen_by', frozen_by(a) ->> 'by', 'frozen_at', frozen_by(a) ->> 'at', 'moved', moved, 'lost', a.lost_why, 'accepted', a.accepted,
    'clock_ms', floor(extract(epoch from clock_timestamp()) * 1000)::bigint,
    'caps', (select coalesce(jsonb_object_agg(k.name, k.value), '{}') from cap k),
    'rules', (select coalesce(jsonb_object_agg(r.name, r.value), '{}') from approval_rule r),
    'bins', (select coalesce(jsonb_agg(b.bin order by b.bin), '[]') from cap_bin b),
    'day', day_now(a),
    'used', (select coalesce(sum(d.held + d.spent), 0)::bigint from spend_day d where d.day = day_now(a)));
end $f$;

create function admin_line(a account, operation text, reason text) returns account language sql as $f$
  select write_audit(a, format('"event":"write","profile":"","mode":%s,"origin":%s,"operation":%s,"reason":%s',
    to_json(a.mode), to_json(a.origin), to_json(operation), to_json(left(regexp_replace(reason, '[[:cntrl:]]', ' ', 'g'), 200))),
    coalesce(host(inet_client_addr()), 'local'));
$f$;

create function enter_admin(account_name text, frozen_too boolean default false) returns account language sql as $f$
  select enter(jsonb_build_object('account', account_name), 'admin', true, frozen_too);
$f$;

-- Granted to nobody: whoever owns the schema makes accounts, and names the first admin of each.
create function add_account(account_name text, account_origin text, account_mode text, first_admin text) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account;
  place record := place_now();
begin
  perform set_config('cardwright.account_name', account_name, true);
  insert into account (name, origin, mode, system_identifier, timeline, database)
    values (account_name, account_origin, account_mode, place.system_identifier, place.timeline, place.database)
    returning * into a;
  perform set_config('cardwright.account', a.id::text, true);
  insert into member (account, role, can) values (a.id, first_admin, array['admin']);
  perform admin_line(a, 'journal.add_account', format('%s, admin %s', account_name, first_admin));
end $f$;

-- Cents, or a number of cards; null takes the cap away.
create function set_cap(account_name text, cap_name text, cap_value bigint) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
begin
  delete from cap k where k.account = a.id and k.name = cap_name;
  if cap_value is not null then insert into cap (account, name, value) values (a.id, cap_name, cap_value); end if;
  perform admin_line(a, 'journal.set_cap', format('%s %s', cap_name, coalesce(cap_value::text, 'none')));
end $f$;

-- BINs that cards may be made with; an empty list allows all.
create function set_bins(account_name text, bins text[]) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
begin
  delete from cap_bin b where b.account = a.id;
  insert into cap_bin (account, bin) select distinct a.id, b from unnest(bins) b;
  perform admin_line(a, 'journal.set_bins', coalesce(nullif(array_to_string(bins, ' '), ''), 'all'));
end $f$;

create function add_key(account_name text, key_print text) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
begin
  insert into account_key (account, print, added_by) values (a.id, key_print, session_user) on conflict do nothing;
  perform admin_line(a, 'journal.add_key', key_print);
end $f$;

create function remove_key(account_name text, key_print text) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
begin
  delete from account_key k where k.account = a.id and k.print = key_print;
  perform admin_line(a, 'journal.remove_key', key_print);
end $f$;

-- What a role may do: read, operate, approve, admin. An empty list ends the membership, in a frozen account too: a journal
-- that is moved away waits for those who may operate.
create function add_member(account_name text, member_role text, may text[]) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name, cardinality(may) = 0);
begin
  perform refuse_elsewhere(a);
  perform refuse_lost(a);
  delete from member m where m.account = a.id and m.role = member_role;
  if cardinality(may) > 0 then insert into member (account, role, can) values (a.id, member_role, may); end if;
  perform admin_line(a, 'journal.add_member', format('%s %s', member_role, coalesce(nullif(array_to_string(may, ' '), ''), 'none')));
end $f$;

-- Refuses everything that writes until accept_failover.
create function freeze_account(account_name text, why text) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name, true);
begin
  if coalesce(length(why) between 1 and 200, false) is false then
    raise exception using errcode = 'CW007',
      message = 'a freeze has a reason of 1 to 200 characters; accept_failover(account, reason) ends one';
  end if;
  update account set frozen_why = why where id = a.id;
  perform admin_line(a, 'journal.freeze_account', why);
end $f$;

-- A machine knows a line of the chain that is not here: a backup was restored. From then on everybody is refused, also who
-- knows nothing of it, until an admin accepts the database. A loss from before the last acceptance was accepted with it.
-- call: account, known, accepted (how often a database had been accepted when that line was seen), host.
create function report_loss(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call - 'known', 'operate', true, true);
begin
  perform refuse_elsewhere(a);
  if a.lost_why is null and (call ->> 'accepted')::int >= a.accepted and not exists (select from audit u
      where u.account = a.id and u.seq = (call #>> '{known,seq}')::bigint and u.hash = call #>> '{known,hash}') then
    a.lost_why := format('%s on %s has seen line %s of its audit log, which it does not hold', session_user,
      left(regexp_replace(call ->> 'host', '[[:cntrl:]]', ' ', 'g'), 100), (call #>> '{known,seq}')::bigint);
    update account set lost_why = a.lost_why where id = a.id;
    delete from push p where p.account = a.id and p.timeline = place_name();
    a := admin_line(a, 'journal.report_loss', a.lost_why);
  end if;
  return jsonb_build_object('lost', a.lost_why, 'head', head_of(a));
end $f$;

-- A machine has brought what it alone knew, after a server took the place of another. call: account, host, machine, lost
-- (lines of the chain that it knew and the database does not hold).
create function pushed(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call - 'known', 'operate', true, true);
begin
  insert into push (account, role, timeline, host, machine)
    values (a.id, session_user, place_name(), left(coalesce(call ->> 'host', ''), 200), coalesce(call ->> 'machine', ''))
    on conflict do nothing;
  if coalesce((call ->> 'lost')::bigint, 0) > 0 then
    a := admin_line(a, 'journal.push', format('%s lines of the chain were lost', (call ->> 'lost')::bigint));
  end if;
  return jsonb_build_object('verdict', 'pushed', 'head', head_of(a));
end $f$;

-- Who has not pushed: machines of operators that were seen in the last week that the database knows of, role@host, and
-- operators of whom it knows no machine: what they have written may be just what was lost.
create function not_pushed(a account, without text[]) returns text[] language sql as $f$
  with operator as (
    select m.role from member m where m.account = a.id and 'operate' = any(m.can) and m.role <> all(without)
  ), recent as (
    select k.role, k.host, k.id from machine k join operator using (role)
      where k.account = a.id
        and k.seen_at > (select max(x.seen_at) from machine x where x.account = a.id) - interval '7 days'
  ), here as (
    select p.role, p.host, p.machine from push p where p.account = a.id and p.timeline = place_name()
  )
  select array_agg(w.who order by w.who) from (
    select r.role || '@' || r.host || case when count(*) > 1 then format(' (%s state folders)', count(*)) else '' end as who
      from recent r
      where r.role || '@' || r.host <> all(without)
        and not exists (select from here h where h.role = r.role and h.host = r.host and h.machine = r.id)
      group by r.role, r.host
    union all
    select o.role from operator o
      where not exists (select from recent r where r.role = o.role)
        and not exists (select from here h where h.role = o.role)
  ) w;
$f$;

-- The database that is here now is right. Every machine of those who may operate has pushed, or is named in without: a role
-- for all its machines, role@host for one. What those named have taken along may be taken up again.
create function accept_failover(account_name text, reason text, without text[] default '{}') returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name, true);
  place record := place_now();
  waiting text[];
begin
  if coalesce(length(reason) between 1 and 200, false) is false then perform bad_call('a reason of 1 to 200 characters'); end if;
  if is_elsewhere(a) or a.lost_why is not null then
    waiting := not_pushed(a, without);
    if waiting is not null then
      raise exception using errcode = 'CW009',
        message = 'these have not pushed what they know: ' || array_to_string(waiting[1:20], ', ')
          || case when cardinality(waiting) > 20 then format(' and %s more', cardinality(waiting) - 20) else '' end,
        hint = format('On each of these machines: cardwright journal push. One that is gone for good, and what it knew, '
          'is left out by a third argument, array[%L]; a role alone leaves out all its machines.',
          regexp_replace(waiting[1], ' \(.*', ''));
    end if;
  end if;
  update account set system_identifier = place.system_identifier, timeline = place.timeline, database = place.database,
      frozen_why = null, lost_why = null, accepted = accepted + 1
    where id = a.id;
  -- What such a machine has taken along comes back no more.
  update op o set left_to = null where o.account = a.id and (o.left_to = any(without) or split_part(o.left_to, '@', 1) = any(without));
  perform admin_line(a, 'journal.accept_failover', reason);
end $f$;

-- A name of one operation belongs to another one, and somebody has looked at both.
create function keep_clash(a account, op_id text, other_op text, why text) returns void language sql as $f$
  insert into accepted_clash (account, op, belongs_to, role, why) values (a.id, op_id, other_op, session_user, why)
    on conflict do nothing;
$f$;

-- An admin has looked at two operations with one name: both are right, and journal check tells it as a note from then on.
create function accept_clash(account_name text, op_id text, belongs_to text, reason text) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
  absent text;
begin
  if coalesce(length(reason) between 1 and 200, false) is false then perform bad_call('a reason of 1 to 200 characters'); end if;
  if op_id is null or belongs_to is null or op_id = belongs_to then perform bad_call('two operations'); end if;
  select w.op into absent from unnest(array[op_id, belongs_to]) as w(op)
    where not exists (select from op o where o.account = a.id and o.op = w.op) limit 1;
  if absent is not null then
    raise exception using errcode = 'CW008', message = format('there is no operation %s in this account', absent);
  end if;
  perform keep_clash(a, op_id, belongs_to, regexp_replace(reason, '[[:cntrl:]]', ' ', 'g'));
  perform admin_line(a, 'journal.accept_clash', format('%s beside %s: %s', op_id, belongs_to, reason));
end $f$;

-- The machine that calls, as it is named to people.
create function machine_of(call jsonb) returns text language sql as $f$
  select session_user || '@' || left(call ->> 'host', 200);
$f$;

-- The only operator of an account goes on without it: it is frozen, and what is not finished goes along. Refused while others
-- may operate in it, while an operation is in hand or waits for approval, and while another machine has one of them.
-- call: account, known, host.
create function leave_account(call jsonb, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true, true);
  here text := machine_of(call);
  others text;
  o op;
begin
  perform refuse_elsewhere(a);
  perform refuse_lost(a);
  select string_agg(m.role, ', ' order by m.role) into others from member m
    where m.account = a.id and 'operate' = any(m.can) and m.role <> session_user;
  if others is not null then
    return jsonb_build_object('verdict', 'others', 'roles', others, 'head', head_of(a));
  end if;
  select * into o from op x where x.account = a.id and (x.state = 'pending' or x.lease_until > clock_timestamp())
    order by x.started_at limit 1;
  if o.op is not null then
    return jsonb_build_object('verdict', case o.state when 'pending' then 'pending' else 'held' end, 'op', o.op,
      'holder', o.holder, 'host', o.host, 'left_ms', ms_until(o.lease_until), 'head', head_of(a));
  end if;
  select * into o from op x where x.account = a.id and x.left_to <> here order by x.started_at limit 1;
  if o.op is not null then
    return jsonb_build_object('verdict', 'moved', 'op', o.op, 'to', o.left_to, 'head', head_of(a));
  end if;
  update op x set left_to = here where x.account = a.id and x.pruned_at is null and (x.state <> 'finished' or x.not_told is not null);
  if a.frozen_why is null then
    update account set frozen_why = 'moved to one machine' where id = a.id;
    a := write_audit(a, facts, call ->> 'host');
  end if;
  return jsonb_build_object('verdict', 'left', 'head', head_of(a));
end $f$;

-- This machine has brought everything back that it had taken along. call: account, known, host.
create function came_back(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true);
begin
  update op o set left_to = null where o.account = a.id and o.left_to = machine_of(call);
  return jsonb_build_object('verdict', 'back', 'head', head_of(a));
end $f$;

-- The records of an operation are damaged, and an admin has looked at the service: they are put aside, none of them is deleted,
-- and the operation is in nobody's way. was_done: its names stay, and what it held is spent; else names and cents are free.
-- Refused while a lease of it runs.
create function set_aside(account_name text, op_id text, was_done boolean, reason text) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
  o op;
begin
  if coalesce(length(reason) between 1 and 200, false) is false then perform bad_call('a reason of 1 to 200 characters'); end if;
  if was_done is null then perform bad_call('true where the operation was done, else false'); end if;
  select * into o from op x where x.op = op_id for update;
  if o.op is null then
    raise exception using errcode = 'CW008', message = format('there is no operation %s in this account', op_id);
  end if;
  if o.lease_until > clock_timestamp() then
    raise exception using errcode = 'CW008',
      message = format('%s on %s works on %s; its lease ends in %s s', o.holder, o.host, o.op, ceil(ms_until(o.lease_until) / 1000.0));
  end if;
  -- It was put aside before, or removed.
  if o.pruned_at is not null then return; end if;
  if o.state <> 'finished' then
    o.spent := case when was_done then o.reserved else 0 end;
    update spend_day d set held = d.held - o.reserved, spent = d.spent + o.spent
      where d.account = o.account and d.day = o.day and o.reserved > 0;
  end if;
  if was_done then
    update intent i set done = '{}' where i.op = o.op and i.done is null;
    update waiting_name w set done = '{}' where w.op = o.op and not w.is_key and w.done is null;
  else
    perform free_all(o);
  end if;
  insert into damaged_segment (op, n, account, epoch, writer, bytes)
    select s.op, s.n, s.account, s.epoch, s.writer, s.bytes from segment s where s.op = o.op;
  delete from segment s where s.op = o.op;
  delete from approval y where y.op = o.op;
  delete from approval_request r where r.op = o.op;
  update op set state = 'finished', spent = o.spent, unknown = 0, open = 0, lease_until = null, not_told = null, left_to = null, shown = null,
      n = 0, size = 0, ended_at = coalesce(op.ended_at, clock_timestamp()), pruned_at = clock_timestamp()
    where op.op = o.op;
  perform admin_line(a, 'journal.set_aside', format('%s %s: %s', o.op, case when was_done then 'done' else 'not done' end, reason));
end $f$;

-- Cents, rows, persons, hours, or 1 for approve_irreversible; null takes the rule away.
create function set_rule(account_name text, rule_name text, rule_value bigint) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
begin
  delete from approval_rule r where r.account = a.id and r.name = rule_name;
  if rule_value is not null then insert into approval_rule (account, name, value) values (a.id, rule_name, rule_value); end if;
  perform admin_line(a, 'journal.set_rule', format('%s %s', rule_name, coalesce(rule_value::text, 'none')));
end $f$;

-- Who may approve: the line that approvals key show prints, and the roles that are this person's.
create function add_approver(account_name text, key_line text, of_roles text[]) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
  parts text[] := regexp_match(key_line, '^([A-Za-z0-9][A-Za-z0-9._@-]{0,63}) ed25519 ([A-Za-z0-9+/]{43}=)$');
  of_key text;
begin
  if parts is null or coalesce(cardinality(of_roles), 0) = 0 then
    raise exception using errcode = '22023', message = 'a line is "person ed25519 key", and a person has a role at least';
  end if;
  of_key := left(encode(sha256(decode(parts[2], 'base64')), 'hex'), 16);
  insert into approver (account, keyid, person, roles, key, added_by)
    values (a.id, of_key, parts[1], of_roles, parts[2], session_user)
    on conflict (account, keyid) do update
      set person = excluded.person, roles = excluded.roles, added_by = excluded.added_by, removed_at = null;
  perform admin_line(a, 'journal.add_approver', format('%s %s as %s', parts[1], of_key, array_to_string(of_roles, ' ')));
end $f$;

-- A key by its id, or all keys of a person. What they have approved and was not sent yet counts no longer.
create function remove_approver(account_name text, person_or_key text) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
begin
  update approver p set removed_at = clock_timestamp()
    where p.account = a.id and p.removed_at is null and person_or_key in (p.person, p.keyid);
  if not found then
    raise exception using errcode = '22023', message = 'there is no such person or key';
  end if;
  perform admin_line(a, 'journal.remove_approver', person_or_key);
end $f$;
revoke all on schema cardwright from public;
revoke all on all tables in schema cardwright from public;
revoke all on all functions in schema cardwright from public;
grant usage on schema cardwright to cardwright_operator, cardwright_approver, cardwright_auditor, cardwright_admin;
grant execute on function claim(jsonb, bytea, text), append(jsonb, bytea, text), let_go(jsonb, text), abandon(jsonb, text), take(jsonb, text), renew(jsonb), told(jsonb), note(jsonb, text), witness(jsonb, bytea), pushed(jsonb), report_loss(jsonb), leave_account(jsonb, text), came_back(jsonb), release(jsonb, bytea, text), import_op(jsonb, bytea, text), import_names(jsonb), prune_op(jsonb, text), forget_names(jsonb), hold_name(jsonb), release_name(jsonb), deny(jsonb, bytea, text), approval_standing(text), request_of(text, text), read_op(text, text, int), heads(text, jsonb), intents_of(text, jsonb), given_key_of(text, text), has_key(text, text), audit_page(text, bigint), day_sums(text), intents_page(text, text), accepted_clashes(text), status(text) to cardwright_operator;
grant execute on function approve(jsonb, text), deny(jsonb, bytea, text), approval_standing(text), request_of(text, text), read_op(text, text, int), heads(text, jsonb), intents_of(text, jsonb), given_key_of(text, text), has_key(text, text), audit_page(text, bigint), day_sums(text), intents_page(text, text), accepted_clashes(text), status(text) to cardwright_approver;
grant execute on function approval_standing(text), request_of(text, text), read_op(text, text, int), heads(text, jsonb), intents_of(text, jsonb), given_key_of(text, text), has_key(text, text), audit_page(text, bigint), day_sums(text), intents_page(text, text), accepted_clashes(text), status(text) to cardwright_auditor;
grant execute on function set_cap(text, text, bigint), set_bins(text, text[]), add_key(text, text), remove_key(text, text), add_member(text, text, text[]), set_rule(text, text, bigint), add_approver(text, text, text[]), remove_approver(text, text), freeze_account(text, text), accept_failover(text, text, text[]), accept_clash(text, text, text, text), set_aside(text, text, boolean, text), approval_standing(text), request_of(text, text), read_op(text, text, int), heads(text, jsonb), intents_of(text, jsonb), given_key_of(text, text), has_key(text, text), audit_page(text, bigint), day_sums(text), intents_page(text, text), accepted_clashes(text), status(text) to cardwright_admin;
reset role;
