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
];

/** The steps after a number. */
export function stepsFrom(number: number): string {
  return STEPS.filter(({ to }) => to > number)
    .map(({ sql }) => sql)
    .join('');
}
