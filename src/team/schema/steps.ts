/** What came to the tables after the first schema, a step for each number: made with a new journal, and added to an older one. */
import { guarding } from './tables.ts';

interface SchemaStep {
  readonly to: number;
  readonly sql: string;
}

const STEPS: readonly SchemaStep[] = [
  {
    to: 2,
    sql: `
-- Print of the API key of an operation that was brought from the files of a machine; its plan has that of the machine.
alter table op add column key_print text check (key_print ~ '^[0-9a-f]{16}$');
-- Its records were removed; that it was there stays.
alter table op add column pruned_at timestamptz;
-- Of a row whose operation was pruned: what came of it, {card}.
alter table intent add column done jsonb;

-- Names of callers that one process holds: the fleet that it changes.
create table name_hold (
  account int not null references account,
  name text not null check (length(name) between 1 and 200),
  writer text not null check (writer ~ '^[0-9a-f]{8}$'),
  holder text not null,
  host text not null,
  lease_until timestamptz not null,
  primary key (account, name)
);
${guarding(['name_hold'])}
`,
  },
  {
    to: 3,
    sql: `
-- Who began it, whoever has it now.
alter table op add column begun_by text;

create table approval_rule (
  account int not null references account,
  name text not null check (name in
    ('approve_above', 'approve_day', 'approve_irreversible', 'approve_rows', 'approvals_needed', 'approve_within_hours')),
  value bigint not null check (value >= 0),
  primary key (account, name),
  check (name <> 'approvals_needed' or value between 1 and 9),
  check (name <> 'approve_within_hours' or value between 1 and 168)
);
-- A removed key stays: what it approved before that was approved.
create table approver (
  account int not null references account,
  keyid text not null check (keyid ~ '^[0-9a-f]{16}$'),
  person text not null,
  roles text[] not null,
  key text not null,
  added_by text not null,
  added_at timestamptz not null default clock_timestamp(),
  removed_at timestamptz,
  primary key (account, keyid)
);
-- What was asked of other persons, an operation each.
create table approval_request (
  op text primary key references op,
  account int not null references account,
  payload text not null,
  needed int not null check (needed between 1 and 9),
  requester text not null,
  requester_key text,
  spending jsonb not null,
  expires_at timestamptz not null,
  asked_at timestamptz not null default clock_timestamp(),
  state text not null default 'open' check (state in ('open', 'used', 'rejected', 'expired', 'stale')),
  used_at timestamptz
);
create table approval (
  op text not null references approval_request,
  account int not null references account,
  keyid text not null,
  person text not null,
  role text not null,
  envelope text not null check (octet_length(envelope) <= 65536),
  at timestamptz not null default clock_timestamp(),
  primary key (op, keyid)
);
${guarding(['approval_rule', 'approver', 'approval_request', 'approval'])}
`,
  },
  {
    to: 4,
    sql: `
-- What was claimed since somebody looked.
create index op_claimed on op (account, claimed_seq);
`,
  },
  {
    to: 5,
    sql: `
-- What a list shows of its rows, as the last who wrote has counted it; null where its records say more.
alter table op add column shown jsonb;
-- The database that the account knows, of those of the server: the one where it is now.
create function own_database() returns text language sql as $f$
  select format('%s %s', d.oid, d.datname) from pg_database d where d.datname = current_database();
$f$;
alter table account add column database text not null default own_database();
alter table account alter column database drop default;
drop function own_database();
`,
  },
  {
    to: 6,
    sql: `
-- Who knows of lines that the database has lost, until an admin accepts it; and how often one has been accepted.
alter table account add column lost_why text;
alter table account add column accepted int not null default 0;
`,
  },
  {
    to: 7,
    sql: `
-- An operation with a name that belongs to another one, and who has said that both are right.
create table accepted_clash (
  account int not null references account,
  op text not null references op,
  belongs_to text not null references op,
  role text not null,
  why text not null check (length(why) between 1 and 200),
  at timestamptz not null default clock_timestamp(),
  primary key (account, op, belongs_to)
);
-- State folders that operators have worked from, by an identifier that each keeps.
create table machine (
  account int not null references account,
  role text not null,
  host text not null,
  id text not null check (id ~ '^[0-9a-f]{16}$'),
  seen_at timestamptz not null default clock_timestamp(),
  primary key (account, role, host, id)
);
-- The machine that has pushed; empty where an older release has.
alter table push add column host text not null default '';
alter table push add column machine text not null default '';
alter table push drop constraint push_pkey;
alter table push add primary key (account, role, timeline, host, machine);
${guarding(['accepted_clash', 'machine'])}
`,
  },
  {
    to: 8,
    sql: `
-- Names and keys of operations that were brought from elsewhere and belong to others here: the first gets one that gets free.
create table waiting_name (
  account int not null references account,
  op text not null references op,
  is_key boolean not null,
  name text not null,
  digest text not null,
  row int not null,
  done jsonb,
  made_at timestamptz not null default clock_timestamp(),
  primary key (op, is_key, name)
);
create index waiting_for on waiting_name (account, name);
${guarding(['waiting_name'])}
`,
  },
  {
    to: 9,
    sql: `
-- Who began it and has not been told its end: another operator has ended it, or the command was killed before it told.
alter table op add column not_told text;
`,
  },
  {
    to: 10,
    sql: `
-- Records that nobody can read, as they were, of operations that an admin has set aside.
create table damaged_segment (
  op text not null references op,
  n int not null,
  account int not null references account,
  epoch int not null,
  writer text not null,
  bytes bytea not null,
  set_aside_at timestamptz not null default clock_timestamp(),
  primary key (op, n)
);
${guarding(['damaged_segment'])}
-- The machine, role@host, that its only operator has taken it to: it waits here until that machine brings it back.
alter table op add column left_to text;
`,
  },
  {
    to: 11,
    sql: `
-- The machine, role@host and its id, that goes on with the account alone: until it brings the operations back nobody knows what
-- it has done. No id where an older schema did not keep it.
alter table account no force row level security;
alter table op no force row level security;
alter table account add column left_to text, add column left_machine text, add check (left_machine is null or left_to is not null);
update account a set left_to = (select min(o.left_to) from op o where o.account = a.id);
alter table op drop column left_to;
-- A machine that is gone for good may have sent rows of it of which the records say nothing.
alter table op add column may_be_sent boolean not null default false;
-- The machine that has brought it, of an operation that was begun elsewhere: what was begun here meanwhile knows nothing of it.
alter table op add column brought_by text;
-- What the caps were told of it when it was claimed: largest, total, cards, bins, untold.
alter table op add column spending jsonb;
-- A card of the service that no operation here has made, or a second one of a row, and who has looked at it.
create table accepted_card (
  account int not null references account,
  card text not null check (length(card) between 1 and 200),
  role text not null,
  why text not null check (length(why) between 1 and 200),
  at timestamptz not null default clock_timestamp(),
  primary key (account, card)
);
${guarding(['accepted_card'])}
alter table account force row level security;
alter table op force row level security;
`,
  },
];

/** The steps after a number. */
export function stepsFrom(number: number): string {
  return STEPS.filter(({ to }) => to > number)
    .map(({ sql }) => sql)
    .join('');
}
