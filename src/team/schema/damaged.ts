/** What an admin does about an operation whose records nobody can read. */

export const DAMAGED_SQL = `
-- The records of an operation are damaged, and an admin has looked at the service: they are put aside, none of them is deleted,
-- and the operation is in nobody's way. was_done: its names stay, and what it held is spent; else names and cents are free.
-- Refused while a lease of it runs.
create function set_aside(account_name text, op_id text, was_done boolean, reason text) returns void
language plpgsql security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
declare
  -- It moves nothing, and a journal is moved away without what nobody can read.
  a account := enter(jsonb_build_object('account', account_name), 'admin', true, false, false, true);
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
  update op set state = 'finished', spent = o.spent, unknown = 0, open = 0, lease_until = null, not_told = null, shown = null,
      n = 0, size = 0, ended_at = coalesce(op.ended_at, clock_timestamp()), pruned_at = clock_timestamp()
    where op.op = o.op;
  perform admin_line(a, 'journal.set_aside', format('%s %s: %s', o.op, case when was_done then 'done' else 'not done' end, reason));
end $f$;
`;
