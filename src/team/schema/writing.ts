/** What a claimed operation goes through: records, its end, a change of hands, outcomes that come late. */

export const WRITING_SQL = String.raw`
-- What an outcome leaves: the reservation becomes what was spent, and names that were not used up are free again.
-- ending: finished, spent, free [names of intents], free_key. Not finished: the lease is let go, and nothing else.
create function end_op(o op, ending jsonb) returns void language plpgsql as $f$
declare
  spent_cents bigint := (ending ->> 'spent')::bigint;
begin
  if not coalesce((ending ->> 'finished')::boolean, false) then
    update op set lease_until = clock_timestamp(), written_at = clock_timestamp() where op.op = o.op;
    return;
  end if;
  perform need(ending, 'spent');
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
  if (by_whom ~ '^[0-9a-f]{8}$') is not true or coalesce(octet_length(bytes), 0) = 0 then perform bad_call('records'); end if;
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
  perform need(call, 'op epoch n by');
  select * into o from op x where x.op = call ->> 'op' for update;
  select * into there from segment s where s.op = o.op and s.n = (call ->> 'n')::int;
  if there.op is not null and there.bytes = bytes and there.writer = call ->> 'by' and there.epoch = (call ->> 'epoch')::int then
    return jsonb_build_object('verdict', 'appended', 'n', there.n, 'lease_ms', o.ttl_ms, 'head', head_of(a));
  end if;
  if o.op is null or o.state <> 'running' or o.epoch <> (call ->> 'epoch')::int or o.holder <> session_user
    or there.op is not null or (call ->> 'n')::int is distinct from o.n + 1 then
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
  perform need(call, 'op epoch');
  select * into o from op x where x.op = call ->> 'op' for update;
  if o.op is null or o.epoch <> (call ->> 'epoch')::int or o.holder <> session_user
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
  perform need(call, 'op epoch');
  select * into o from op x where x.op = call ->> 'op' for update;
  if o.op is not null then
    if o.epoch <> (call ->> 'epoch')::int or o.holder <> session_user or o.state <> 'running' then
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
    'since_lease_ms', -ms_until(o.lease_before), 'may_be_sent', o.may_be_sent, 'head', head_of(a));
$f$;

-- Why an operation cannot change hands now; null when it can.
create function take_verdict(o op, call jsonb) returns jsonb language plpgsql as $f$
begin
  if o.op is null then return jsonb_build_object('verdict', 'absent'); end if;
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
  perform need(call, 'op by host');
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
  perform need(call, 'op epoch');
  select * into o from op x where x.op = call ->> 'op' for update;
  if o.op is null or o.state <> 'running' or o.epoch <> (call ->> 'epoch')::int or o.holder <> session_user then
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
  perform need(call, 'op is_told');
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
  if (length(call ->> 'nonce') between 1 and 100) is not true then perform bad_call('note'); end if;
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

-- Its cents were spent, and its names are its own again; those that belong to another one wait for it.
create function count_late(o op, late jsonb) returns void language plpgsql as $f$
declare
  more bigint := coalesce((late ->> 'cents')::bigint, 0);
begin
  if o.state <> 'finished' or more < 0 or o.spent + more > o.reserved then perform bad_call('cents of a late outcome'); end if;
  update op set spent = spent + more where op.op = o.op;
  update spend_day d set spent = d.spent + more where d.account = o.account and d.day = o.day and more > 0;
  perform give_names(o, late);
exception
  when check_violation or not_null_violation then perform bad_call('late');
end $f$;

-- What a former holder saw after it had lost the operation. It never ends it and takes no lease.
-- An outcome is heard always, also while nothing else may be written. running: the caller has seen no end of it. late: it has
-- ended, and rows of it that came to nothing there were done: cents, intents [{row, name, digest}], key {value, digest}; a line is
-- written then. call: account, known, op, by, host, running, late.
create function witness(call jsonb, bytes bytea, facts text default null) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  is_late boolean := call ? 'late';
  a account := enter(call - 'known', 'operate', is_late, true);
  o op;
  lowest int;
begin
  perform need(call, 'op by');
  select * into o from op x where x.op = call ->> 'op' for update;
  if o.op is null then perform fenced(o); end if;
  if o.state = 'finished' and coalesce((call ->> 'running')::boolean, false) then
    return jsonb_build_object('verdict', 'ended', 'head', head_of(a));
  end if;
  if not exists (select from segment s where s.op = o.op and s.n < 0 and s.writer = call ->> 'by' and s.bytes = witness.bytes) then
    perform check_witness(o, call ->> 'by', bytes);
    select least(min(s.n), 0) into lowest from segment s where s.op = o.op and s.n < 0;
    perform insert_segment(o, coalesce(lowest, 0) - 1, call ->> 'by', bytes);
    update op set shown = null where op.op = o.op;
    if is_late then
      perform count_late(o, call -> 'late');
      a := write_audit(a, facts, call ->> 'host');
    end if;
  end if;
  return jsonb_build_object('verdict', 'witnessed', 'head', head_of(a), 'clashes',
    coalesce(case when is_late then import_clashes(a, (call -> 'late') || jsonb_build_object('op', o.op)) end, '[]'));
end $f$;
`;
