/** What an admin does about an operation whose records nobody can read. */
import { CALLS } from '../../contract/raw.ts';
import { JOURNAL_VERSION } from '../../journal/wal/records.ts';
import { literal } from '../../postgres/sql-text.ts';

const OPERATIONS = Object.keys(CALLS).map(literal).join(', ');

export const DAMAGED_SQL = `
-- Of each byte, for crc32_of.
create function crc32_table() returns bigint[] language plpgsql immutable as $f$
declare
  made bigint[] := '{}';
  k bigint;
begin
  for i in 0..255 loop
    k := i;
    for j in 1..8 loop k := case when (k & 1) = 1 then (k >> 1) # 3988292384 else k >> 1 end; end loop;
    made := made || k;
  end loop;
  return made;
end $f$;

create function crc32_of(bytes bytea, crc_table bigint[]) returns text language plpgsql immutable as $f$
declare
  c bigint := 4294967295;
begin
  for i in 0..octet_length(bytes) - 1 loop
    c := (c >> 8) # crc_table[1 + ((c # get_byte(bytes, i)) & 255)];
  end loop;
  return lpad(to_hex(c # 4294967295), 8, '0');
end $f$;

-- Whether a record is one that cardwright can work with.
create function is_usable(record jsonb) returns boolean language sql immutable as $f$
  select case record ->> 't'
    when 'PLAN' then (record ->> 'version')::numeric <= ${JOURNAL_VERSION}
    when 'ITEM' then jsonb_typeof(record -> 'input') = 'object' and jsonb_typeof(record -> 'row') = 'number'
      and coalesce(record ->> 'operation' in (${OPERATIONS}), false)
      and (record -> 'amount' is null or jsonb_typeof(record -> 'amount') = 'number'
        and (record ->> 'amount')::numeric between 0 and 9007199254740991 and (record ->> 'amount')::numeric % 1 = 0)
    else true end;
$f$;

-- Whether each record of an operation is as it was written, one behind the other of its writer, as every cardwright reads them.
create function can_be_read(o op) returns boolean language plpgsql as $f$
declare
  crc_table bigint[] := crc32_table();
  next_of jsonb := '{}';
  line text;
  part text[];
begin
  -- A character a byte.
  for line in select x.line from segment s
      cross join lateral regexp_split_to_table(convert_from(s.bytes, 'LATIN1'), '\\n') with ordinality x(line, i)
      where s.op = o.op and x.line <> '' order by s.n < 0, abs(s.n), x.i loop
    part := regexp_match(line, '^([0-9a-f]{8}) (\\d{1,9}) (\\d{1,9}) (\\{"by":"([0-9a-f]{8})",.*)$');
    if part is null or length(part[4]) <> part[2]::int or part[3]::int <> coalesce((next_of ->> part[5])::int, 0)
      or crc32_of(convert_to(substr(line, 10), 'LATIN1'), crc_table) <> part[1] then
      return false;
    end if;
    if not coalesce(is_usable(convert_from(convert_to(part[4], 'LATIN1'), 'UTF8')::jsonb), false) then return false; end if;
    next_of := next_of || jsonb_build_object(part[5], part[3]::int + 1);
  end loop;
  return next_of <> '{}';
exception
  when character_not_in_repertoire or untranslatable_character or invalid_text_representation then return false;
end $f$;

-- Whether an operation has all records that it counts, and those that the chain names.
create function is_whole(o op) returns boolean language sql as $f$
  select coalesce((select count(*) = o.n and sum(octet_length(s.bytes)) = o.size from segment s where s.op = o.op and s.n > 0), false)
    and coalesce((select u.line::json ->> 'records_sha256' from audit u
      where u.account = o.account and u.line like '%' || o.op || '%' and u.line::json ->> 'records_sha256' is not null
      order by u.seq desc limit 1) = records_digest(o.op), true);
$f$;

-- The records of an operation are damaged, and an admin has looked at the service: they are put aside, none of them is deleted,
-- and the operation is in nobody's way. was_done: its names stay, and what it held is spent; else names and cents are free.
-- Refused while a lease of it runs, and where its records can be read.
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
  -- Another name was meant, perhaps: what can be read is settled by its operators.
  if is_whole(o) and can_be_read(o) then
    raise exception using errcode = 'CW008', message = format('the records of %s can be read: nothing of it is set aside', o.op),
      hint = format('cardwright ops show %s', o.op);
  end if;
  if o.state <> 'finished' then
    o.spent := case when was_done then o.reserved else 0 end;
    update spend_day d set held = d.held - o.reserved, spent = d.spent + o.spent
      where d.account = o.account and d.day = o.day and o.reserved > 0;
  elsif not was_done then
    update spend_day d set spent = d.spent - o.spent where d.account = o.account and d.day = o.day and o.spent > 0;
    o.spent := 0;
  end if;
  if was_done then
    update intent i set done = '{"set_aside": true}' where i.op = o.op and i.done is null;
    update waiting_name w set done = '{"set_aside": true}' where w.op = o.op and not w.is_key and w.done is null;
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
