/** What an admin of an account does, each with a line in the chain, and who may execute what. */
import { GROUPS } from './tables.ts';

export const ADMINISTRATION_SQL = `
create function admin_line(a account, operation text, reason text) returns account language sql as $f$
  select write_audit(a, format('"event":"write","profile":"","mode":%s,"origin":%s,"operation":%s,"reason":%s',
    to_json(a.mode), to_json(a.origin), to_json(operation), to_json(left(regexp_replace(reason, '[[:cntrl:]]', ' ', 'g'), 600))),
    coalesce(host(inet_client_addr()), 'local'), null, true);
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
  perform refuse_null('the name of a cap', array[cap_name]);
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
  perform refuse_null('the list of BINs', bins);
  delete from cap_bin b where b.account = a.id;
  insert into cap_bin (account, bin) select distinct a.id, b from unnest(bins) b;
  perform admin_line(a, 'journal.set_bins', coalesce(nullif(array_to_string(bins, ' '), ''), 'all'));
end $f$;

create function add_key(account_name text, key_print text) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
begin
  perform refuse_null('the print of a key', array[key_print]);
  insert into account_key (account, print, added_by) values (a.id, key_print, session_user) on conflict do nothing;
  perform admin_line(a, 'journal.add_key', key_print);
end $f$;

create function remove_key(account_name text, key_print text) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
begin
  perform refuse_null('the print of a key', array[key_print]);
  delete from account_key k where k.account = a.id and k.print = key_print;
  -- A typing error would leave the key in use, and an audit line that says otherwise.
  if not found then
    raise exception using errcode = '22023', message = format('this account has no key with the print %s', key_print);
  end if;
  perform admin_line(a, 'journal.remove_key', key_print);
end $f$;

-- What a role may do: read, operate, approve, admin. An empty list ends the membership, in a frozen account too: a journal
-- that is moved away waits for those who may operate.
create function add_member(account_name text, member_role text, may text[]) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name, coalesce(cardinality(may) = 0, false));
begin
  perform refuse_null('the role', array[member_role]), refuse_null('what it may do', may);
  perform refuse_elsewhere(a);
  perform refuse_lost(a);
  delete from member m where m.account = a.id and m.role = member_role;
  if not found and cardinality(may) = 0 then
    raise exception using errcode = '22023', message = format('%s is no member of this account', member_role);
  end if;
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
  perform need(call, 'known accepted host'), need(call -> 'known', 'seq hash');
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
-- (lines of the chain that it knew and the database does not hold), left (it goes on with the account alone, by its own files).
create function pushed(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call - 'known', 'operate', true, true);
begin
  insert into push (account, role, timeline, host, machine)
    values (a.id, session_user, place_name(), left(coalesce(call ->> 'host', ''), 200), coalesce(call ->> 'machine', ''))
    on conflict do nothing;
  -- The database may be from before that.
  if coalesce((call ->> 'left')::boolean, false) and a.left_to is null and (is_elsewhere(a) or a.lost_why is not null) then
    update account set left_to = machine_of(call), left_machine = call ->> 'machine' where id = a.id;
    a := admin_line(a, 'journal.push', 'this machine goes on with the account alone');
  end if;
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

-- The first of many, for a sentence.
create function named_few(names text[]) returns text language sql as $f$
  select left(array_to_string(names[1:10], ', '), 300)
    || case when cardinality(names) > 10 then format(' and %s more', cardinality(names) - 10) else '' end;
$f$;

-- The database that is here now is right. Every machine of those who may operate has pushed, or is named in without: a role
-- for all its machines, role@host for one. For one that goes on alone nobody waits then.
create function accept_failover(account_name text, reason text, without text[] default '{}') returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name, true);
  place record := place_now();
  waiting text[];
  left_out text[];
begin
  if coalesce(length(reason) between 1 and 200, false) is false then perform bad_call('a reason of 1 to 200 characters'); end if;
  perform refuse_null('the list of those who are left out', without);
  -- Each machine of a role that is named, too.
  select array_agg(distinct w order by w) into left_out
    from unnest(without || case when is_elsewhere(a) or a.lost_why is not null then not_pushed(a, '{}') end) w;
  if is_elsewhere(a) or a.lost_why is not null then
    waiting := not_pushed(a, without);
    if waiting is not null then
      raise exception using errcode = 'CW009',
        message = 'these have not pushed what they know: ' || array_to_string(waiting[1:20], ', ')
          || case when cardinality(waiting) > 20 then format(' and %s more', cardinality(waiting) - 20) else '' end,
        hint = format('On each of these machines: cardwright journal push. One that is gone for good, and what it knew, '
          'is left out by a third argument, array[%L]; a role alone leaves out all its machines.',
          regexp_replace(waiting[1], ' \\(.*', ''));
    end if;
  end if;
  update account set system_identifier = place.system_identifier, timeline = place.timeline, database = place.database,
      frozen_why = null, lost_why = null, accepted = accepted + 1
    where id = a.id;
  -- What such a machine has sent is known to nobody.
  update op o set may_be_sent = true where o.account = a.id and o.state <> 'finished' and cardinality(without) > 0;
  -- What it has done alone comes back no more.
  update account set left_to = null, left_machine = null
    where id = a.id and (left_to = any(without) or split_part(left_to, '@', 1) = any(without));
  if not found and a.left_to is not null then
    raise notice '% goes on with this account alone: everybody else waits until cardwright journal move --to shared is done there. '
      'Where it is gone for good, name it in a third argument, array[%]', a.left_to, quote_literal(a.left_to);
  end if;
  perform admin_line(a, 'journal.accept_failover', reason || coalesce('; left out: ' || named_few(left_out), ''));
  if cardinality(without) > 0 then
    raise notice 'What % alone knew is lost, and cards of it may be there. Before anybody repeats something of it: cardwright '
      'journal check, on one machine, names those cards (made past this journal). Where somebody has looked at one: select '
      'cardwright.accept_card(%, %, %);', named_few(left_out), quote_literal(account_name), quote_literal('card_…'), quote_literal('why');
  end if;
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

-- An admin has looked at a card that journal check names: it is a note from then on.
create function accept_card(account_name text, card_id text, reason text) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter_admin(account_name);
  why text := regexp_replace(reason, '[[:cntrl:]]', ' ', 'g');
begin
  if coalesce(length(reason) between 1 and 200, false) is false then perform bad_call('a reason of 1 to 200 characters'); end if;
  if coalesce(card_id ~ '^[^[:cntrl:]]{1,200}$', false) is false then perform bad_call('a card'); end if;
  insert into accepted_card (account, card, role, why) values (a.id, card_id, session_user, why) on conflict do nothing;
  if found then perform admin_line(a, 'journal.accept_card', format('%s: %s', card_id, why)); end if;
end $f$;

-- Why a machine cannot go on with the account alone now; null when it can.
create function leave_verdict(a account, call jsonb) returns jsonb language plpgsql as $f$
declare
  others text;
  o op;
begin
  if (call ->> 'machine' ~ '^[0-9a-f]{16}$') is not true or call ->> 'host' is null then perform bad_call('machine'); end if;
  if a.left_to is not null and not has_left(a, call) then return jsonb_build_object('verdict', 'moved', 'to', a.left_to); end if;
  if not coalesce((call ->> 'mine')::boolean, false) then
    return case when a.frozen_why is null then jsonb_build_object('verdict', 'not_frozen') end;
  end if;
  select string_agg(m.role, ', ' order by m.role) into others from member m
    where m.account = a.id and 'operate' = any(m.can) and m.role <> session_user;
  if others is not null then return jsonb_build_object('verdict', 'others', 'roles', others); end if;
  select * into o from op x where x.account = a.id and (x.state = 'pending' or x.lease_until > clock_timestamp())
    order by x.started_at limit 1;
  if o.op is null then return null; end if;
  return jsonb_build_object('verdict', case o.state when 'pending' then 'pending' else 'held' end, 'op', o.op,
    'holder', o.holder, 'host', o.host, 'left_ms', ms_until(o.lease_until));
end $f$;

-- One machine goes on without the account, and everybody else waits until it comes back. Refused where another machine does
-- that. An admin has frozen the account before; or its only operator says it (mine): then it is frozen, and what is not finished
-- goes along. That is refused while others may operate in it, and while an operation is in hand or waits for approval.
-- call: account, known, host, machine, mine.
create function leave_account(call jsonb, facts text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true, true);
  verdict jsonb;
begin
  perform refuse_elsewhere(a);
  perform refuse_lost(a);
  verdict := leave_verdict(a, call);
  if verdict is not null then return verdict || jsonb_build_object('head', head_of(a)); end if;
  -- Said again it changes nothing.
  if a.left_machine is null then
    update account set left_to = machine_of(call), left_machine = call ->> 'machine',
        frozen_why = coalesce(a.frozen_why, 'moved to one machine')
      where id = a.id;
    a := write_audit(a, facts, call ->> 'host', null,
      coalesce(('{' || facts || '}')::json ->> 'operation' = 'journal.leave_account', false));
  end if;
  return jsonb_build_object('verdict', 'left', 'head', head_of(a));
end $f$;

-- This machine has brought everything back: everybody goes on. call: account, known, host, machine.
create function came_back(call jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  a account := enter(call, 'operate', true);
begin
  update account set left_to = null, left_machine = null where id = a.id and has_left(a, call);
  return jsonb_build_object('verdict', 'back', 'head', head_of(a));
end $f$;
`;

const OPERATING = [
  'claim(jsonb, bytea, text)',
  'append(jsonb, bytea, text)',
  'let_go(jsonb, text)',
  'abandon(jsonb, text)',
  'take(jsonb, text)',
  'renew(jsonb)',
  'told(jsonb)',
  'note(jsonb, text)',
  'witness(jsonb, bytea, text)',
  'pushed(jsonb)',
  'report_loss(jsonb)',
  'leave_account(jsonb, text)',
  'came_back(jsonb)',
  'release(jsonb, bytea, text)',
  'import_op(jsonb, bytea, text)',
  'import_names(jsonb)',
  'prune_op(jsonb, text)',
  'forget_names(jsonb)',
  'hold_name(jsonb)',
  'release_name(jsonb)',
];
/** What those who operate and those who approve both do. */
const DENYING = ['deny(jsonb, bytea, text)'];
const READING = [
  'approval_standing(text)',
  'request_of(text, text)',
  'read_op(text, text, int)',
  'heads(text, jsonb)',
  'intents_of(text, jsonb)',
  'given_key_of(text, text)',
  'has_key(text, text)',
  'audit_page(text, bigint)',
  'day_sums(text)',
  'intents_page(text, text)',
  'accepted_clashes(text)',
  'accepted_cards(text)',
  'status(text)',
  'locked_by(text)',
];
const ADMINISTERING = [
  'set_cap(text, text, bigint)',
  'set_bins(text, text[])',
  'add_key(text, text)',
  'remove_key(text, text)',
  'add_member(text, text, text[])',
  'set_rule(text, text, bigint)',
  'add_approver(text, text, text[])',
  'remove_approver(text, text)',
  'freeze_account(text, text)',
  'accept_failover(text, text, text[])',
  'accept_clash(text, text, text, text)',
  'accept_card(text, text, text)',
  'set_aside(text, text, boolean, text)',
];

/** What each group may execute; everything else is closed to everybody but the owner. */
export const GRANTED: Readonly<Record<(typeof GROUPS)[number], readonly string[]>> = {
  cardwright_operator: [...OPERATING, ...DENYING, ...READING],
  cardwright_approver: ['approve(jsonb, text)', ...DENYING, ...READING],
  cardwright_auditor: READING,
  cardwright_admin: [...ADMINISTERING, ...READING],
};

export const GRANTS_SQL = [
  'revoke all on schema cardwright from public;',
  'revoke all on all tables in schema cardwright from public;',
  'revoke all on all functions in schema cardwright from public;',
  `grant usage on schema cardwright to ${GROUPS.join(', ')};`,
  ...Object.entries(GRANTED).map(([group, names]) => `grant execute on function ${names.join(', ')} to ${group};`),
  '',
].join('\n');
