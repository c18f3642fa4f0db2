/** What is read of a shared journal, also from a standby: segments, heads, the chain, where the account stands. */

export const READING_SQL = `
-- Sessions in whose transaction the account is locked; none where it can be had at once.
create function locked_by(account_name text) returns table (pid int, transaction text)
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  locker text;
  is_free boolean := false;
begin
  perform enter_reading(account_name);
  begin
    perform from account a where a.name = account_name for no key update nowait;
    -- Back to before: what only reads locks nothing.
    raise exception using errcode = 'CW000';
  exception
    when sqlstate 'CW000' then is_free := true;
    when lock_not_available then null;
  end;
  if is_free then return; end if;
  select a.xmax::text into locker from account a where a.name = account_name;
  return query with locking as (
    select l.pid, l.virtualtransaction as transaction, l.locktype = 'transactionid' as of_row from pg_locks l
      where l.granted and l.pid <> pg_backend_pid() and case l.locktype
        when 'transactionid' then l.transactionid::text = locker
        when 'relation' then l.relation = 'cardwright.account'::regclass and l.mode <> 'AccessShareLock'
          and l.database = (select d.oid from pg_database d where d.datname = current_database())
          and not exists (select from pg_locks w where w.pid = l.pid and not w.granted)
        else false end
  )
  -- More than one may have locked the row, and then it does not name them: those who lock rows of the table are all that is known.
  select distinct h.pid, h.transaction from locking h where h.of_row
    or not exists (select from locking o where o.of_row);
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
  select convert_from(substring(s.bytes from 1 for position('\\x0a'::bytea in s.bytes) - 1), 'UTF8')
    from segment s where s.op = wanted and s.n = 1 and position('\\x0a'::bytea in s.bytes) > 0;
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
-- since_ms (ended less long ago), unaware_of (an operation: those that were begun without knowing of it or it of them, for one was
-- brought from elsewhere; each with first, where it was here before; not what ended a day before it was begun), most, skip.
create function heads(account_name text, filter jsonb) returns table (head jsonb)
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return query select standing(o) || jsonb_build_object('command', o.command, 'rows', o.rows, 'cents', o.cents,
      'reserved', o.reserved, 'spending', o.spending, 'spent', o.spent, 'day', o.day, 'n', o.n, 'size', o.size,
      'started_at', o.started_at, 'ended_at', o.ended_at, 'key_print', o.key_print, 'pruned', o.pruned_at is not null,
      'begun_by', o.begun_by, 'first', o.claimed_seq < b.claimed_seq, 'shown', o.shown, 'untold', coalesce(o.not_told = session_user, false),
      'waits_for', case when (filter ->> 'everybody')::boolean then waited_for(o) end, 'denied', o.state = 'finished' and exists
        (select from approval_request r where r.op = o.op and r.state not in ('open', 'used')),
      'plan', case when (filter ->> 'plan')::boolean then plan_line(o.op) end)
    from op o left join op b on b.op = filter ->> 'unaware_of'
    where (coalesce((filter ->> 'pruned')::boolean, false) or o.pruned_at is null)
      and (filter ->> 'op' is null or o.op = filter ->> 'op')
      and (filter ->> 'intent' is null or o.op = (select i.op from intent i where i.name = filter ->> 'intent'))
      and (not coalesce((filter ->> 'live')::boolean, false) or o.lease_until > clock_timestamp())
      and (not coalesce((filter ->> 'unfinished')::boolean, false) or o.state <> 'finished'
        or (coalesce((filter ->> 'untold')::boolean, false) and o.not_told = session_user)
        or (coalesce((filter ->> 'everybody')::boolean, false) and o.not_told is not null and waited_for(o) is not null))
      and (filter ->> 'written_since' is null
        or extract(epoch from o.written_at) * 1000 >= (filter ->> 'written_since')::bigint)
      and (filter ->> 'unaware_of' is null or (b.op <> o.op and b.brought_by is distinct from o.brought_by
        and (o.ended_at is null or o.ended_at > b.started_at - interval '25 hours')))
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

-- Cards that no operation made, or one too many, where somebody has looked at them.
create function accepted_cards(account_name text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
begin
  perform enter_reading(account_name);
  return (select coalesce(jsonb_agg(jsonb_build_object('card', c.card, 'by', c.role, 'why', c.why,
      'at', to_char(c.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) order by c.at), '[]') from accepted_card c);
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
    'frozen_by', frozen_by(a) ->> 'by', 'frozen_at', frozen_by(a) ->> 'at', 'left_to', a.left_to,
    'moved', moved, 'lost', a.lost_why, 'accepted', a.accepted,
    'clock_ms', floor(extract(epoch from clock_timestamp()) * 1000)::bigint,
    'caps', (select coalesce(jsonb_object_agg(k.name, k.value), '{}') from cap k),
    'rules', (select coalesce(jsonb_object_agg(r.name, r.value), '{}') from approval_rule r),
    'bins', (select coalesce(jsonb_agg(b.bin order by b.bin), '[]') from cap_bin b),
    'day', day_now(a),
    'used', (select coalesce(sum(d.held + d.spent), 0)::bigint from spend_day d where d.day = day_now(a)));
end $f$;
`;
