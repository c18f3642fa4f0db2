/** The schema of a shared journal as one SQL file, for an admin of a database. cardwright never runs it itself. */
import { literal } from '../../postgres/sql-text.ts';
import { ADMINISTRATION_SQL, GRANTS_SQL } from './administration.ts';
import { APPROVAL_ADMINISTRATION_SQL, APPROVING_SQL } from './approving.ts';
import { CLAIMING_SQL } from './claiming.ts';
import { DAMAGED_SQL } from './damaged.ts';
import { ENTERING_SQL } from './entering.ts';
import { IMPORTING_SQL } from './importing.ts';
import { NAMING_SQL } from './naming.ts';
import { SCHEMA_NUMBER } from './number.ts';
import { READING_SQL } from './reading.ts';
import { stepsFrom } from './steps.ts';
import { OWNER, ROLES_SQL, TABLES_SQL } from './tables.ts';
import { WRITING_SQL } from './writing.ts';

/** An account that the file makes along with the schema. */
export interface FirstAccount {
  readonly name: string;
  readonly origin: string;
  readonly mode: 'test' | 'live';
}

const FUNCTIONS = [
  ENTERING_SQL,
  NAMING_SQL,
  CLAIMING_SQL,
  WRITING_SQL,
  APPROVING_SQL,
  IMPORTING_SQL,
  READING_SQL,
  ADMINISTRATION_SQL,
  DAMAGED_SQL,
  APPROVAL_ADMINISTRATION_SQL,
  GRANTS_SQL,
];
const PARTS = [ROLES_SQL, TABLES_SQL, stepsFrom(1), ...FUNCTIONS];

/** Roles, schema, functions and grants, in one transaction that is not yet committed. */
export const SCHEMA_SQL = `begin;\n${PARTS.join('')}reset role;\n`;

/** What brings the schema of an older number here, in one transaction: its tables grow, its functions are made anew. */
export function upgradeSql(from: number): string {
  return [
    `-- A shared journal of cardwright: from schema ${from} to ${SCHEMA_NUMBER}, in one transaction. Nothing that is kept is changed.`,
    '-- Run it once as the role that has made the journal:',
    '--   psql --set ON_ERROR_STOP=1 --file upgrade.sql <address of the database>',
    '',
    'begin;',
    `set local role ${OWNER};`,
    'set local search_path = cardwright;',
    'do $from$',
    'begin',
    `  if (select schema_number from meta) <> ${from} then`,
    `    raise exception 'the journal has schema %, and this file is for ${from}', (select schema_number from meta);`,
    '  end if;',
    'end $from$;',
    // Nobody works with functions of one release and tables of another: they wait for this transaction.
    'lock table meta, account, op in access exclusive mode;',
    stepsFrom(from).trim(),
    'do $functions$',
    'declare',
    '  old regprocedure;',
    'begin',
    "  for old in select p.oid from pg_proc p where p.pronamespace = 'cardwright'::regnamespace loop",
    "    execute format('drop function %s', old);",
    '  end loop;',
    'end $functions$;',
    FUNCTIONS.join('').trim(),
    `update meta set schema_number = ${SCHEMA_NUMBER};`,
    'commit;',
    '',
  ].join('\n');
}

const EXAMPLE: FirstAccount = { name: 'main', origin: 'https://api.example.com', mode: 'live' };

/**
 * The file: schema, and how to make roles, an account and its members. The account is made where one is given, otherwise
 * all of that is commented out. The names of roles are examples and always are comments.
 */
export function journalSql(account?: FirstAccount): string {
  const { name, origin, mode } = account ?? EXAMPLE;
  const example = (line: string) => `-- ${line}`;
  const first = `select cardwright.add_account(${[name, origin, mode].map(literal).join(', ')}, session_user);`;
  return [
    '-- A shared journal of cardwright: roles, tables, row-level security, functions and grants, in one transaction.',
    '-- Run it once as a role that may create roles, in the database that is to hold the journal:',
    '--   psql --set ON_ERROR_STOP=1 --file journal.sql <address of the database>',
    '',
    SCHEMA_SQL.trimEnd(),
    '',
    '-- The account: its name, the origin of the service, test or live, and its first admin.',
    account === undefined ? example(first) : first,
    '',
    ...COMMIT_AND_ROLES.map(line => line.replaceAll('<account>', literal(name))),
    '',
  ].join('\n');
}

const COMMIT_AND_ROLES = [
  'commit;',
  '',
  '-- One login role for each person and each runner, in the groups that it needs. The timeouts stand at the role:',
  '-- set inside of a function they come too late.',
  '-- create role "ci-billing" login password null in role cardwright_operator;',
  '-- alter role "ci-billing" set statement_timeout = \'20s\';',
  '-- alter role "ci-billing" set idle_in_transaction_session_timeout = \'10s\';',
  '-- \\password ci-billing',
  '',
  '-- What each may do in the account: read, operate, approve, admin. An admin is not an operator unless named as one.',
  "-- select cardwright.add_member(<account>, 'ci-billing', '{read,operate}');",
  '',
  '-- API keys that may be used, by their print, and what all operators together may spend, in cents.',
  "-- select cardwright.add_key(<account>, '0123456789abcdef');",
  "-- select cardwright.set_cap(<account>, 'max_per_day', 500000);",
  '',
  '-- What other persons must approve, and who they are: a key as approvals key show prints it, and the roles of the person.',
  "-- select cardwright.set_rule(<account>, 'approve_above', 100000);",
  "-- select cardwright.add_approver(<account>, 'bo ed25519 <key>', '{bo}');",
];
