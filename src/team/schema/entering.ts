/** What every function of a shared journal begins with, and the line it leaves in the chain. */

export const ENTERING_SQL = String.raw`
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

-- The machine that calls, as it is named to people.
create function machine_of(call jsonb) returns text language sql as $f$
  select session_user || '@' || left(call ->> 'host', 200);
$f$;

-- Whether the machine that calls is the one that goes on with the account alone.
create function has_left(a account, call jsonb) returns boolean language sql as $f$
  select a.left_to is not null and coalesce(a.left_machine = call ->> 'machine', a.left_machine is null and a.left_to = machine_of(call), false);
$f$;

-- What a machine that works alone has done since is not known here: nobody else takes anything up or begins it.
create function refuse_left(a account) returns void language plpgsql as $f$
begin
  raise exception using errcode = 'CW011',
    detail = jsonb_build_object('account', a.name, 'to', a.left_to, 'frozen', a.frozen_why is not null)::text,
    message = format('the account %s was moved to one machine, %s, and what is done there is not known here', a.name, a.left_to);
end $f$;

create function refuse_frozen(a account) returns void language plpgsql as $f$
declare
  who jsonb := frozen_by(a);
begin
  raise exception using errcode = 'CW010', detail = jsonb_build_object('account', a.name)::text,
    message = format('the account %s was frozen%s: %s', a.name,
      coalesce(format(' by %s at %s', who ->> 'by', who ->> 'at'), ''), a.frozen_why),
    hint = format('That ends with: select cardwright.accept_failover(%L, %L);', a.name, 'it goes on');
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
    if a.left_to is not null and not moves_nothing and wants <> 'admin' and not has_left(a, call) then perform refuse_left(a); end if;
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

-- A condition over NULL is neither true nor false: what a call must say is looked at before anything is compared with it.
create function need(call jsonb, members text) returns void language plpgsql as $f$
declare
  absent text;
begin
  select string_agg(w, ', ') into absent from unnest(string_to_array(members, ' ')) w where call ->> w is null;
  if absent is not null then perform bad_call('without ' || absent); end if;
end $f$;

-- The same of an argument that a person types, a list or a list of one.
create function refuse_null(what text, given text[]) returns void language plpgsql as $f$
begin
  if given is null or array_position(given, null) is not null then
    raise exception using errcode = 'CW007', message = format('%s is null, or has an element that is null', what);
  end if;
end $f$;

create function fenced(o op) returns void language plpgsql as $f$
begin
  raise exception using errcode = 'CW008',
    message = case when o.op is null then 'there is no such operation in this account'
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

-- What admins do is told by their functions alone: nobody who operates writes a line that looks like one of theirs.
create function check_operation(facts text) returns void language plpgsql as $f$
declare
  operation text := ('{' || facts || '}')::json ->> 'operation';
begin
  if operation ~* '^\s*journal\.' and operation <> 'journal.move' then perform bad_call('a line of an admin'); end if;
end $f$;

-- The next line of the chain. The account is locked. of_schema: the operation was chosen here.
create function write_audit(inout a account, facts text, host text, of_nonce text default null, of_schema boolean default false)
language plpgsql as $f$
declare
  now_at timestamptz := clock_timestamp();
  body text;
begin
  perform check_facts(facts);
  if not of_schema then perform check_operation(facts); end if;
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
`;
