/** `claim`: intents, given keys, twins, caps, the plan and the audit line of an operation, in one transaction. */

export const CLAIMING_SQL = `
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
    if (is_bulk and o.bulk and o.state <> 'pending')
      -- Of what is held nothing was sent: other names for every row are other purchases.
      or (o.state = 'pending' and not (is_named and is_all_named(o)))
      -- What may be done twice freely is in nobody's way. Without an end nobody was told, and a living lease proves nothing.
      -- Other names for every row say that both are meant; beside a resume the second is not.
      or (o.state <> 'pending' and not o.freely
        and (not is_alive or o.moves or o.epoch > 1 or not (is_named and is_all_named(o)))) then
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

-- What is asked for is what the plan says; where there is none, nobody can go on with it.
create function check_wanted(wanted jsonb, plan jsonb, bytes bytea) returns void language plpgsql as $f$
begin
  perform need(wanted, 'op rows'), need(wanted -> 'spending', 'total largest cards');
  if coalesce(wanted ->> 'nonce', '') = '' or coalesce(wanted ->> 'digest', '') = ''
    or (wanted ->> 'rows')::int < 1 or (wanted #>> '{spending,total}')::bigint < 0
    or (wanted #>> '{spending,largest}')::bigint > (wanted #>> '{spending,total}')::bigint
    or coalesce(octet_length(bytes), 0) = 0
    or plan is not null and (plan ->> 'op', plan ->> 'command', plan ->> 'digest', plan ->> 'rows', plan ->> 'total_cents')
      is distinct from (wanted ->> 'op', wanted ->> 'command', wanted ->> 'digest', wanted ->> 'rows', wanted ->> 'cents') then
    perform bad_call('claim');
  end if;
end $f$;

create function insert_op(a account, wanted jsonb, bytes bytea, today date, amount bigint) returns op
language plpgsql as $f$
declare
  o op;
begin
  insert into op (op, account, nonce, command, digest, bulk, moves, freely, rows, cents, state, unknown, open, epoch,
      holder, host, writer, ttl_ms, lease_until, day, reserved, claimed_seq, n, size, begun_by, shown, spending)
    values (wanted ->> 'op', a.id, wanted ->> 'nonce', wanted ->> 'command', wanted ->> 'digest',
      (wanted ->> 'bulk')::boolean, (wanted ->> 'moves')::boolean, (wanted ->> 'freely')::boolean,
      (wanted ->> 'rows')::int, (wanted ->> 'cents')::bigint, 'running',
      (wanted #>> '{counts,unknown}')::int, (wanted #>> '{counts,open}')::int, 1,
      session_user, wanted ->> 'host', wanted ->> 'by', (wanted ->> 'ttl_ms')::int,
      clock_timestamp() + (wanted ->> 'ttl_ms')::int * interval '1 millisecond', today,
      amount, a.audit_seq + 1, 1, octet_length(bytes), session_user, wanted -> 'shown', wanted -> 'spending')
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
  plan jsonb := plan_in(bytes);
  asked text := plan ->> 'approval';
  amount bigint := (wanted #>> '{spending,total}')::bigint;
begin
  perform check_wanted(wanted, plan, bytes);
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
`;
