/**
 * Which engine keeps what tests hold in memory: SQLite, or PostgreSQL where `CARDWRIGHT_TEST_STORE` says `postgres`. This
 * is the one place that asks. On PostgreSQL each store is an account of its own, with tables of its own.
 */
import process from 'node:process';
import { openPostgresStores } from '../../src/sandbox/store/postgres/open.ts';
import type { Sql } from '../../src/sandbox/store/sql.ts';
import { type OpenedStore, openStore, type StoreRequest } from '../../src/sandbox/store/sqlite/open.ts';
import { SCHEMA } from '../../src/sandbox/store/system-tables.ts';
import type { Server } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';

export const onPostgres = process.env['CARDWRIGHT_TEST_STORE'] === 'postgres';
export const testEngine = onPostgres ? 'postgres' : 'sqlite';

let here: Promise<Database> | undefined;
let made = 0;

/** Accounts on PostgreSQL that were opened in this process. */
export const accountsOpened = () => made;

/** The store of a test. A file is a matter of SQLite, whatever is asked for. */
export function openTestStore(request: StoreRequest, account: string): Promise<OpenedStore> {
  return onPostgres && request.path === 'memory' ? openAccount(request, account) : openStore(request);
}

type Reached = Pick<Server, 'socket' | 'port'>;

/** How an account is reached. Every second one names its statements when nothing is said. */
export interface Reaching {
  readonly way?: (server: Reached) => Promise<Reached>;
  readonly mayPrepare?: boolean;
  /** In a database of its own, whose texts are of this language. */
  readonly locale?: string;
}

/** The same on PostgreSQL, always. Its clock is that of the request. */
export async function openAccount(
  request: StoreRequest,
  account: string,
  { way = async server => server, mayPrepare, locale }: Reaching = {},
): Promise<OpenedStore> {
  here ??= database();
  const known = await here;
  const { server: direct } = known;
  const name = locale === undefined ? known.name : await databaseOf(known, locale);
  const server = await way(direct);
  made += 1;
  const { seed, ids, fill, clock, random } = request;
  const stores = await openPostgresStores({
    address: { host: server.socket, port: server.port, user: 'postgres', database: name },
    password: () => Promise.reject(new Error('the socket asks for no password')),
    shown: 'postgres://test',
    schema: `sandbox_${made}`,
    mayPrepare: mayPrepare ?? made % 2 === 0,
    mayMigrate: true,
    onServerTime: () => undefined,
    ...{ clock, random },
  });
  const row = { account_id: account, name: account, instance: 'here', seed, ids, generation: 1 };
  const rest = { dialect: 'default', key_digest: null, token_digest: null } as const;
  await stores.accounts.insert({ ...row, ...rest });
  const of = stores.of(account);
  await of.write(fill, 'large');
  const store = {
    path: request.path,
    read: of.read.bind(of),
    write: of.write.bind(of),
    close: () => stores.close(),
  };
  return { store, meta: { schema: SCHEMA, instance: 'here', seed, ids } };
}

const ofLanguage = new Map<string, Promise<string>>();

/** Goes with the server. */
function databaseOf(known: Database, locale: string): Promise<string> {
  const made = ofLanguage.get(locale) ?? makeDatabase(known, locale);
  ofLanguage.set(locale, made);
  return made;
}

async function makeDatabase(known: Database, locale: string): Promise<string> {
  const name = `${known.name}_${locale.toLowerCase().replaceAll('-', '_')}`;
  const root = await known.as('postgres');
  const language = `locale_provider icu icu_locale '${locale}'`;
  await root.call(`create database ${name} template template0 encoding 'UTF8' ${language}`, []);
  return name;
}

interface Named {
  readonly name: string;
}

/** Tables of the store, whichever engine has them, in the order of their names. */
export async function tablesOf(sql: Sql): Promise<readonly Named[]> {
  if (sql.engine === 'sqlite') {
    return sql.all<Named>(
      "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name",
    );
  }
  const tables = await sql.all<Named>(
    "select cast(tablename as text) as name from pg_tables where schemaname = current_schema() and tablename not in ('accounts', 'expired_keys', 'store_schema')",
  );
  // A view there, of the accounts.
  return [...tables, { name: 'meta' }].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Columns of a table in their order. */
export const columnsIn = (sql: Sql, table: string): Promise<readonly Named[]> =>
  sql.engine === 'sqlite'
    ? sql.all<Named>(`pragma table_info(${table})`)
    : sql.all<Named>(
        `select cast(column_name as text) as name from information_schema.columns
         where table_schema = current_schema() and table_name = '${table}' order by ordinal_position`,
      );

/** Lets rows in that the tables themselves refuse: damage comes from elsewhere. */
export async function ignoreChecks(sql: Sql): Promise<void> {
  if (sql.engine === 'sqlite') {
    await sql.run('pragma ignore_check_constraints = on');
    return;
  }
  const checks = await sql.all<{ statement: string }>(
    `select concat('alter table ', conrelid::regclass, ' drop constraint ', conname) as statement
     from pg_constraint where contype = 'c' and connamespace = current_schema()::regnamespace`,
  );
  for (const { statement } of checks) await sql.run(statement);
}
