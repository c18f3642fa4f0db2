/** What comes from elsewhere: ops of the files of a machine, and ops that the database has lost with its last commits. */

export const IMPORTING_SQL = `
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
      holder, host, writer, ttl_ms, lease_until, day, reserved, claimed_seq, started_at, n, size, key_print, brought_by, begun_by)
    values (call ->> 'op', a.id, 'imported ' || (call ->> 'by'), call ->> 'command', call ->> 'digest',
      (call ->> 'bulk')::boolean, (call ->> 'moves')::boolean, (call ->> 'freely')::boolean,
      (call ->> 'rows')::int, (call ->> 'cents')::bigint, 'pending', (call ->> 'rows')::int, 0, 1,
      session_user, call ->> 'host', call ->> 'by', 180000, clock_timestamp(), least((call ->> 'day')::date, today),
      (call ->> 'reserved')::bigint, a.audit_seq + 1,
      least(to_timestamp((call ->> 'begun_ms')::bigint / 1000.0), clock_timestamp()), 0, 0, call ->> 'key_print',
      coalesce(call ->> 'machine', ''), case when (call ->> 'own')::boolean then session_user end)
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
  perform need(call, 'op from by host reserved');
  select * into o from op x where x.op = call ->> 'op' for update;
  was_taken := recovered and is_taken_elsewhere(o, call);
  -- What was settled on the machine that went on alone counts, whoever had it before.
  was_left := not recovered and has_left(a, call);
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

-- Names whose operation was removed before, with what came of them. With keep_both, and where the database has lost them
-- (recovered), those that belong to others stay theirs. call: account, known, op, host, names [{row, name, digest, done}], keep_both,
-- recovered.
create function import_names(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  recovered boolean := coalesce((call ->> 'recovered')::boolean, false);
  a account := enter(case when recovered then call - 'known' else call end, 'operate', true, recovered);
  clashes jsonb;
begin
  perform need(call, 'op names');
  if exists (select from jsonb_to_recordset(call -> 'names') w(done jsonb) where w.done is null) then perform bad_call('without done'); end if;
  select jsonb_agg(jsonb_build_object('intent', i.name, 'op', i.op)) into clashes
    from jsonb_to_recordset(call -> 'names') as w(name text)
    join intent i on i.account = a.id and i.name = w.name and i.op <> call ->> 'op';
  if clashes is not null and not recovered and not coalesce((call ->> 'keep_both')::boolean, false) then
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
  perform need(call, 'op done');
  -- The name of a row that was done would be free.
  if exists (select from jsonb_to_recordset(call -> 'done') w(name text, done jsonb)
      where w.name is null or w.done is null) then
    perform bad_call('a name without what came of it');
  end if;
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
  perform need(call, 'name by');
  delete from name_hold h where h.name = call ->> 'name' and h.writer = call ->> 'by';
  return jsonb_build_object('verdict', 'released', 'head', head_of(a));
end $f$;
`;
