/** What is held for other persons: rules, requests, approvals, and the one step that puts an approved operation in hand. */

export const APPROVING_SQL = `
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

-- The first line of a plan.
create function plan_in(bytes bytea) returns jsonb language plpgsql as $f$
begin
  return (select r.record
    from records_in(substring(bytes from 1 for position('\\x0a'::bytea in bytes))) r where r.record ->> 't' = 'PLAN');
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
  perform need(call, 'op keyid envelope');
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
  perform need(call, 'op by n why');
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
  if o.op is null then return take_verdict(o, call); end if;
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
  perform need(call, 'op by host keys');
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
`;

/** What an admin of an account does about approvals. */
export const APPROVAL_ADMINISTRATION_SQL = `
-- Cents, rows, persons, hours, or 1 for approve_irreversible; null takes the rule away.
create function set_rule(account_name text, rule_name text, rule_value bigint) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
begin
  perform refuse_null('the name of a rule', array[rule_name]);
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
  perform refuse_null('the roles of the person', of_roles);
  if parts is null or cardinality(of_roles) = 0 then
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
`;
