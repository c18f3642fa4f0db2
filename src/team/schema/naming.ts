/** When names and keys of callers are free again, and who has them then. */

export const NAMING_SQL = `
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
`;
