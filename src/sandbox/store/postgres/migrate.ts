/** The tables of the store in a database: made when asked for, brought up when asked for, refused when newer. */
import { CliError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/shell-quote.ts';
import type { PostgresPipeline } from '../../../postgres/client.ts';
import { PostgresRefusal } from '../../../postgres/refusal.ts';
import { TABLES } from '../schema.ts';
import { MIGRATIONS, SCHEMA, SYSTEM_TABLES } from '../system-tables.ts';
import { rowsOf, withTypes } from './types.ts';

/** The schema of the database that holds the tables. */
export const SCHEMA_NAME = 'cardwright_sandbox';

/**
 * What the account itself is: its row is locked by whoever writes, and is never deleted while it has keys. `generation`
 * goes up when everything it holds is replaced. Digests are SHA-256, hexadecimal; keys and tokens are not kept.
 */
const ACCOUNTS = `create table accounts (
  account_id text not null primary key,
  name text not null unique,
  instance text not null,
  seed integer not null,
  ids text not null check (ids in ('derived', 'counted')),
  generation integer not null,
  dialect text not null,
  key_digest text unique,
  token_digest text unique,
  created_at integer not null,
  expires_at integer
)`;

/** Whose the keys and tokens of accounts were that have expired: whoever shows one is told so. */
const EXPIRED_KEYS = `create table expired_keys (
  digest text not null primary key,
  name text not null,
  expired_at integer not null
)`;

/** What the statements of the store know as `meta`: the row of the account whose transaction this is. */
const META = `create view meta as select 1 as one, instance, seed, ids, generation, account_id from accounts
  where account_id = current_setting('cardwright.account', true)`;

const SCHEMA_FACTS = `create table store_schema (
  one integer not null primary key check (one = 1),
  schema_number integer not null,
  created_at integer not null
)`;

/** Tables that PostgreSQL has of its own, or with more columns than SQLite. */
const OWN: readonly string[] = [
  SCHEMA_FACTS,
  ACCOUNTS,
  META,
  EXPIRED_KEYS,
  'alter table advances add column lease_until integer',
  'create index api_keys_by_digest on api_keys (digest)',
];

/** What brings those of PostgreSQL alone from the number before to this one. */
const OWN_MIGRATIONS: Readonly<Record<number, readonly string[]>> = {
  10: ['alter table accounts add column expires_at integer', EXPIRED_KEYS],
};

const tablesOfStore = (): readonly string[] => [
  ...SYSTEM_TABLES.filter(statement => !statement.startsWith('create table meta (')),
  ...TABLES,
  ...OWN,
];

/** How long transactions of servers that run are waited for, ms: their clients wait meanwhile. */
const LOCK_MS = '10000';
/** SQLSTATE: they took longer. */
const LOCK_TAKEN = '55P03';

export interface Preparing {
  readonly connection: PostgresPipeline;
  readonly schema: string;
  /** Address without a password, for messages. */
  readonly shown: string;
  /** Tables may be made or changed. */
  readonly mayMigrate: boolean;
}

/**
 * Makes sure that the tables are those of this program. One at a time does so, whatever the number of processes; the
 * lock goes with the transaction. Throws `check_failed` for tables of a newer program, and for older or none unless they
 * may be made; `guarded` for a server that only reads, and for a database that cannot hold every text.
 */
export async function prepareTables({ connection, schema, shown, mayMigrate }: Preparing): Promise<void> {
  const run = (text: string, ...values: string[]) => connection.send(text, values);
  await run('begin isolation level read committed');
  try {
    const asked = await run(`select current_setting('transaction_read_only'), current_setting('server_encoding')`);
    const [reads, encoding] = asked.rows[0] ?? [];
    if (reads === 'on') throw onlyReads(shown);
    if (encoding !== 'UTF8') throw otherEncoding(shown, String(encoding));
    await run(`select pg_advisory_xact_lock(hashtext('cardwright sandbox'))`);
    await run(`select set_config('search_path', $1, true), set_config('lock_timeout', $2, true)`, schema, LOCK_MS);
    const found = await schemaNumber(connection, schema);
    if (found !== SCHEMA) {
      if (found !== undefined && found > SCHEMA) throw newer(shown, found);
      if (!mayMigrate) throw older(shown, found);
      await (found === undefined ? makeTables(connection, schema) : bringUp(connection, { shown, found }));
    }
    await run('commit');
  } catch (error) {
    await run('rollback').catch(() => undefined);
    throw error;
  }
}

async function schemaNumber(connection: PostgresPipeline, schema: string): Promise<number | undefined> {
  const [known] = (await connection.send('select to_regclass($1)::text', [`${schema}.store_schema`])).rows;
  if (known?.[0] == null) return undefined;
  const [row] = rowsOf(await connection.send('select schema_number from store_schema where one = 1', []));
  return Number(row?.['schema_number'] ?? 0);
}

async function makeTables(connection: PostgresPipeline, schema: string): Promise<void> {
  // Somebody else may have made it, for who may not.
  await connection.send(`select 1 from pg_namespace where nspname = $1`, [schema]).then(async ({ rows }) => {
    if (rows.length === 0) await connection.send(`create schema ${schema}`, []);
  });
  await Promise.all(tablesOfStore().map(statement => connection.send(withTypes(statement), [])));
  await connection.send(
    `insert into store_schema (one, schema_number, created_at)
     values (1, $1, cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint))`,
    [String(SCHEMA)],
  );
}

/**
 * Waits for the transactions of servers that run; those that come later find the new number and are refused. Only the lock
 * of `accounts` is waited for while nothing else is held: every transaction of a server takes it first.
 */
async function bringUp(
  connection: PostgresPipeline,
  { shown, found }: { readonly shown: string; readonly found: number },
): Promise<void> {
  await connection.send('lock table accounts in access exclusive mode', []).catch((error: unknown) => {
    throw error instanceof PostgresRefusal && error.code === LOCK_TAKEN ? inUse(shown) : error;
  });
  for (let next = found + 1; next <= SCHEMA; next += 1) {
    const statements = [...(MIGRATIONS[next] ?? []), ...(OWN_MIGRATIONS[next] ?? [])];
    for (const statement of statements) await connection.send(withTypes(statement), []);
    await connection.send('update store_schema set schema_number = $1 where one = 1', [String(next)]);
  }
}

function onlyReads(shown: string): CliError {
  return new CliError('guarded', {
    message: `the sandbox store ${shown} is on a server that only reads`,
    notes: ['A standby cannot be written. Use the address of the primary.'],
    hint: 'cardwright sandbox start --help',
    outcome: 'not_sent',
  });
}

function otherEncoding(shown: string, encoding: string): CliError {
  return new CliError('guarded', {
    message: `the database of the sandbox store ${shown} is encoded in ${encoding}; labels and metadata need UTF8`,
    notes: [
      'Nothing was changed. An admin makes one that is: create database sandbox owner sandbox encoding UTF8 template template0',
    ],
    hint: 'cardwright sandbox start --help',
    outcome: 'not_sent',
  });
}

const madeByNewer = (found: number) =>
  `was made by a newer cardwright (schema ${found}; this one knows up to ${SCHEMA})`;
const hasSchema = (found: number) => `has schema ${found}, and this cardwright ${SCHEMA}`;

/** Why a server that runs can use the tables no more: another program changed them, or an older copy was put back. */
export class OtherTables extends Error {
  override readonly name = 'OtherTables';

  constructor(found: number) {
    super(
      found > SCHEMA
        ? `it ${madeByNewer(found)}; install that version here and start this server again`
        : `it ${hasSchema(found)}; start this server again with --migrate`,
    );
  }
}

/** Throws `OtherTables` unless the tables are those of this program. */
export function checkSchemaNumber(found: unknown): void {
  if (Number(found) !== SCHEMA) throw new OtherTables(Number(found));
}

function inUse(shown: string): CliError {
  return new CliError('guarded', {
    message: `a server works in the sandbox store ${shown} for longer than 10 s, so its tables cannot be changed now`,
    notes: [
      'Nothing was changed. A restore or a large data set takes long: repeat the command later, or stop the servers.',
    ],
    hint: 'cardwright sandbox start --help',
    outcome: 'not_sent',
  });
}

function newer(shown: string, found: number): CliError {
  return new CliError('check_failed', {
    message: `the sandbox store ${shown} ${madeByNewer(found)}`,
    notes: ['It was not changed. Install that version and repeat the command.'],
    outcome: 'not_sent',
  });
}

function older(shown: string, found: number | undefined): CliError {
  const has = found === undefined ? 'has no tables of a sandbox yet' : hasSchema(found);
  return new CliError('check_failed', {
    message: `the sandbox store ${shown} ${has}`,
    notes: [
      'Nothing was changed. The hint makes or changes the tables; every server of the store is updated with them.',
      'A server that serves the control surface of its accounts needs --admin too.',
    ],
    hint: `cardwright sandbox start --store ${shellWord(shown)} --migrate`,
    outcome: 'not_sent',
  });
}
