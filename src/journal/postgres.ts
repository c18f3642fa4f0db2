/**
 * The journal that several people share: a PostgreSQL database, 15 or newer, as an engine of `Database`. Each work is one
 * transaction of unnamed statements that brings its own settings along, so that pgbouncer in transaction mode may stand
 * between. A connection that is lost is made again for 15 seconds: what had not reached COMMIT is done again. What became of a
 * lost COMMIT is unknown.
 */
import { createReadStream, existsSync, readFileSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import type pg from 'pg';
// @ts-expect-error The package has types for its root alone, and that brings a pool along.
import PgClient from 'pg/lib/client.js';
import { asCliError, CliError } from '../core/errors.ts';
import type { Clock, Environment, Randomness } from '../platform/host.ts';
import { between } from '../platform/time.ts';
import {
  type Database,
  type Job,
  QueuedDatabase,
  type Sql,
  type SqlRow,
  type SqlValue,
  sql,
  type Transaction,
  textOf,
} from './database.ts';
import { otherSchema, SCHEMA_VERSION } from './schema.ts';

/** Where a database is and who asks, as far as the address and the variables of PostgreSQL say. */
export interface PostgresAddress {
  /** Without a password; for messages. */
  readonly shown: string;
  /** Name, address, or the absolute folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: string | undefined;
  /** Verified in full; undefined for a socket, and for this machine where nothing else is asked. */
  readonly tls: ConnectionOptions | undefined;
}

export interface PostgresSettings {
  readonly address: PostgresAddress;
  readonly env: Environment;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly signal: AbortSignal;
  /** How long a database that is away is waited for, ms; 15 s when left out. */
  readonly patienceMs?: number | undefined;
  /** Told the password before it is used, so that no output holds it. */
  readonly onPassword?: ((password: string) => void) | undefined;
  /** Told that a wait begins, and the longest that it takes, ms; the result is called when it is over. */
  readonly onWait?: ((whom: string, mostMs: () => number) => () => void) | undefined;
}

const PATIENCE_MS = 15_000;
const CONNECT_MS = 5_000;
const ANSWER_MS = 30_000;
const LOCK_MS = 20_000;
const ROWS_AT_ONCE = 1_000;
export const SCHEMA = 'cardwright';

/** What each transaction begins with: nothing is left to the session, which pgbouncer gives to others. */
const SETTINGS = `set local search_path to ${SCHEMA}, pg_temp; set local lock_timeout = ${LOCK_MS}; set local synchronous_commit = on; set local idle_in_transaction_session_timeout = ${ANSWER_MS}; set local client_encoding to 'UTF8'`;
const NOW = 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now';
const BEGIN_WRITE = `begin isolation level read committed; ${SETTINGS}; ${NOW}`;
const BEGIN_READ = `begin isolation level repeatable read read only; ${SETTINGS}; ${NOW}`;

/**
 * Reads the address of a database: `postgres://[user[:password]@]host[:port]/database[?sslmode=…&sslrootcert=…]`. What it
 * leaves out comes from `PGHOST`, `PGPORT`, `PGUSER`, `PGDATABASE`, `PGSSLMODE`, `PGSSLROOTCERT`, `PGSSLCERT` and
 * `PGSSLKEY`. Throws `usage` for another form, `guarded` for a server on another machine that would not be verified. The
 * text is not repeated: it may hold a password.
 */
export function postgresAddress(text: string, env: Environment, user: string): PostgresAddress {
  // A socket folder stands percent-encoded where the host does, which URL takes for `postgres:` alone when it is non-special.
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol)) throw badAddress('it begins with postgres://');
  const parameter = (name: string, variable: string) => url.searchParams.get(name) ?? env[variable];
  const known = ['host', 'port', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];
  const odd = [...url.searchParams.keys()].find(name => !known.includes(name));
  if (odd !== undefined) throw badAddress(`its parameters are ${known.join(', ')}`);
  const read = (part: string, what: string) => {
    try {
      return decodeURIComponent(part);
    } catch {
      throw badAddress(`the percent signs of its ${what} cannot be read`);
    }
  };
  const host = read(url.hostname, 'host').replace(/^\[|\]$/g, '') || parameter('host', 'PGHOST') || 'localhost';
  const port = Number(url.port || parameter('port', 'PGPORT') || 5432);
  const role = read(url.username, 'user') || env['PGUSER'] || user;
  const database = read(url.pathname.slice(1), 'database') || env['PGDATABASE'] || role;
  if (/[,\s]/.test(host) || database.includes('/')) throw badAddress('it names one host and one database');
  const shown = `postgres://${role}@${host.includes(':') ? `[${host}]` : encodeURIComponent(host)}${port === 5432 ? '' : `:${port}`}/${database}`;
  const isHere = host.startsWith('/') || host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
  const password = url.password === '' ? undefined : read(url.password, 'password');
  // Beyond this machine nothing but a verified server is spoken to; modes that verify less are meant as verify-full.
  const mode = parameter('sslmode', 'PGSSLMODE');
  const ca = parameter('sslrootcert', 'PGSSLROOTCERT');
  const wantsTls =
    mode === 'require' || mode === 'verify-ca' || mode === 'verify-full' || (mode === undefined && ca !== undefined);
  const address = { shown, host, port, user: role, database, password };
  if (isHere && (!wantsTls || host.startsWith('/'))) return { ...address, tls: undefined };
  if (mode !== undefined && !wantsTls) {
    throw new CliError('guarded', {
      message: `the shared journal ${shown} is on another machine and would be reached with sslmode=${mode}, which trusts any server that answers`,
      notes: [
        'Only a Unix socket and an address of this machine need no TLS. Leave sslmode out, or write verify-full.',
      ],
      hint: 'cardwright journal init --help',
      outcome: 'not_sent',
    });
  }
  const contentOf = (path: string | undefined) => {
    if (path === undefined || path === 'system') return undefined;
    if (!existsSync(path)) throw badAddress(`there is no file ${path}`);
    return readFileSync(path, 'utf8');
  };
  const own = {
    cert: contentOf(parameter('sslcert', 'PGSSLCERT')),
    key: contentOf(parameter('sslkey', 'PGSSLKEY')),
  };
  return { ...address, tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ca: contentOf(ca), ...own } };
}

function badAddress(rule: string): CliError {
  return new CliError('usage', {
    message: `not a usable address of a shared journal: ${rule}`,
    notes: ['It has the form postgres://user@host:port/database; a password comes from PGPASSWORD or .pgpass.'],
    hint: 'cardwright journal init --help',
    outcome: 'not_sent',
  });
}

/** A connection, and whether it can still be used. */
interface Client extends pg.Client {
  readonly connection: pg.Connection & { readonly stream: Socket };
  readonly connectionParameters: Record<string, unknown>;
  /** Why it was lost. */
  lost?: unknown;
  /** Statements whose answers are still to come. */
  waiting: number;
}

/**
 * Opens the shared journal and looks whether it is one. Throws `guarded` (14) for a database that is away, that holds no
 * journal, that is a standby or would lose what it has committed, `check_failed` (15) for another schema.
 */
export async function openPostgres(settings: PostgresSettings): Promise<Database> {
  const database = new PostgresDatabase(settings);
  const { shown } = settings.address;
  try {
    const [meta] = await database.read(tx =>
      tx.all<{ journal: string; version: number; fsync: string; standby: number }>(
        `select journal, version, current_setting('fsync') as fsync, pg_is_in_recovery() as standby from meta`,
      ),
    );
    if (meta === undefined) throw noJournal(shown);
    if (meta.version !== SCHEMA_VERSION) throw otherSchema(shown, meta.version);
    if (meta.standby === 1) throw unreachable(shown, STANDBY);
    if (meta.fsync !== 'on')
      throw unreachable(shown, 'its server runs with fsync = off and could lose what it has committed');
    database.id = meta.journal;
    return database;
  } catch (thrown) {
    await database.close();
    throw thrown;
  }
}

/** Runs statements of an admin one after the other, in one transaction; for `journal init` and the like. */
export async function asAdmin<T>(settings: PostgresSettings, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const database = new PostgresDatabase(settings);
  try {
    return await database.transaction(work);
  } finally {
    await database.close();
  }
}

class PostgresDatabase extends QueuedDatabase {
  readonly isShared = true;
  readonly lock = sql` for update`;
  readonly shown: string;
  readonly #settings: PostgresSettings;
  #client: Client | undefined;
  #isClosed = false;

  constructor(settings: PostgresSettings) {
    super();
    this.#settings = settings;
    this.shown = settings.address.shown;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.ended();
    this.#isClosed = true;
    // Not waited for: the program would end on a connection that does not keep it alive, before it has said what it did.
    this.#client?.end().catch(() => undefined);
  }

  /** Done again while what stops it passes. */
  protected async commit(jobs: readonly Job[]): Promise<readonly unknown[]> {
    const { clock, random, signal, onWait, address, patienceMs = PATIENCE_MS } = this.#settings;
    const begun = clock.monotonic();
    let waited: (() => void) | undefined;
    try {
      for (;;) {
        try {
          return await this.#commitOnce(jobs);
        } catch (thrown) {
          const pause = between(random, 100, 500);
          const isOver = clock.monotonic() + pause >= begun + patienceMs;
          if (isOver || signal.aborted || !isPassing(thrown)) throw thrown;
          waited ??= onWait?.(`the shared journal at ${address.host}`, () => patienceMs);
          await clock.sleep(pause, signal).catch(() => undefined);
        }
      }
    } finally {
      waited?.();
    }
  }

  protected maySplit(thrown: unknown): boolean {
    const isLostCommit = thrown instanceof CliError && thrown.kind === 'outcome_unknown';
    return !isLostCommit && !isPassing(thrown);
  }

  protected inWords(thrown: unknown): unknown {
    return inWords(thrown, this.#settings.address);
  }

  async #commitOnce(jobs: readonly Job[]): Promise<readonly unknown[]> {
    const client = await this.#connected();
    const isWrite = jobs[0]?.kind !== 'read';
    const { clock } = this.#settings;
    const at = clock.monotonic();
    const begun = query(client, { text: isWrite ? BEGIN_WRITE : BEGIN_READ }).then(
      result => ((Array.isArray(result) ? result.at(-1) : result) as pg.QueryResult<{ now: number }>).rows[0],
    );
    begun.catch(() => undefined);
    const tx = transactionOn(client, async () => Number((await begun)?.now) + Math.round(clock.monotonic() - at));
    const values: unknown[] = [];
    try {
      for (const job of jobs) values.push(await job.run(tx));
      await begun;
    } catch (thrown) {
      if (client.lost === undefined) await query(client, { text: 'rollback' }).catch(() => undefined);
      if (client.lost !== undefined) throw new Lost(client.lost);
      // Where it could not even begin, that is why.
      throw (
        (await begun.then(
          () => undefined,
          error => error,
        )) ?? thrown
      );
    }
    try {
      const { command } = (await query(client, { text: 'commit' })) as pg.QueryResult;
      if (command !== 'COMMIT') throw new Error('a transaction that had failed was committed');
    } catch (thrown) {
      if (client.lost === undefined) throw thrown;
      throw isWrite ? lostCommit(client.lost, this.#settings.address) : new Lost(client.lost);
    }
    return values;
  }

  async #connected(): Promise<Client> {
    if (this.#client !== undefined && this.#client.lost === undefined) return this.#client;
    if (this.#isClosed) throw new Error('the journal was closed');
    this.#client = await connect(this.#settings);
    return this.#client;
  }
}

/** The connection was lost before COMMIT: nothing of the transaction is left. */
class Lost extends Error {
  override readonly name = 'Lost';
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'the connection was lost', { cause });
  }
}

const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 1700]);
const BOOLEAN = 16;
const TYPES = {
  getTypeParser: (type: number) => (text: string) => {
    if (type === BOOLEAN) return text === 't' ? 1 : 0;
    return NUMBERS.has(type) ? Number(text) : text;
  },
};

async function connect({ address, env, onPassword }: PostgresSettings): Promise<Client> {
  const { host, port, user, database, tls } = address;
  const client: Client = new PgClient({
    host,
    port,
    user,
    database,
    application_name: 'cardwright',
    sslnegotiation: 'postgres',
    ssl: tls ?? false,
    enableChannelBinding: tls !== undefined,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    types: TYPES,
    pipeline: true,
    keepAlive: true,
    password: async () => {
      const found = address.password ?? env['PGPASSWORD'] ?? (await passwordInFile(address, env));
      if (found !== undefined) onPassword?.(found);
      // The server refuses an empty one in its own words.
      return found ?? '';
    },
  });
  client.waiting = 0;
  // What the package takes from PGOPTIONS and its like is a matter of the session, and there is none.
  for (const name of ['options', 'replication', 'binary', 'client_encoding'])
    client.connectionParameters[name] = undefined;
  // Without a listener a connection that ends while nobody waits would end the program.
  client.on('error', (error: unknown) => {
    client.lost ??= error;
  });
  try {
    await client.connect();
  } catch (thrown) {
    client.connection.stream.destroy();
    throw isDatabaseError(thrown) ? thrown : new Lost(thrown);
  }
  client.on('end', () => {
    client.lost ??= new Error('the connection has ended');
  });
  client.connection.stream.unref();
  return client;
}

/** The password for this place in `PGPASSFILE` or `~/.pgpass`; one that others may read is said on standard error, and not used. */
async function passwordInFile(
  { host, port, database, user }: PostgresAddress,
  env: Environment,
): Promise<string | undefined> {
  // @ts-expect-error The package has no types.
  const { default: pgpass } = (await import('pgpass/lib/helper.js')) as { default: PgPass };
  const path = pgpass.getFileName(env);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !pgpass.usePgPass(found, path)) return undefined;
  const place = { host: host.startsWith('/') ? 'localhost' : host, port, database, user };
  return new Promise(resolve => pgpass.getPassword(place, createReadStream(path), resolve));
}

/** What of the package is used; it has no types, and its root takes no environment. */
interface PgPass {
  getFileName(env: Environment): string;
  usePgPass(found: Stats, path: string): boolean;
  getPassword(place: object, file: Readable, found: (password?: string) => void): void;
}

/** Sends a statement at once, behind those before it. */
async function query(
  client: Client,
  statement: { text: string; values?: SqlValue[]; queryMode?: 'extended' },
): Promise<unknown> {
  client.waiting += 1;
  client.connection.stream.ref();
  try {
    return await client.query(statement as pg.QueryConfig);
  } catch (thrown) {
    // An answer that is late may still come, and would be taken for that of the next statement.
    if (!isDatabaseError(thrown)) {
      client.lost ??= thrown;
      client.connection.stream.destroy();
    }
    throw thrown;
  } finally {
    client.waiting -= 1;
    // A program is not kept alive by a journal that it does not use any more.
    if (client.waiting === 0) client.connection.stream.unref();
  }
}

const numbered = new WeakMap<readonly string[], string>();

function withNumbers(statement: Sql): string {
  const text = numbered.get(statement.texts) ?? textOf(statement, nth => `$${nth}`);
  numbered.set(statement.texts, text);
  return text;
}

function transactionOn(client: Client, now: () => Promise<number>): Transaction {
  const sent = async (given: string | Sql) => {
    const statement =
      typeof given === 'string' ? { text: given } : { text: withNumbers(given), values: [...given.values] };
    return (await query(client, { ...statement, queryMode: 'extended' })) as pg.QueryResult;
  };
  return {
    all: async <Row = SqlRow>(statement: string | Sql) => (await sent(statement)).rows as Row[],
    run: async statement => (await sent(statement)).rowCount ?? 0,
    async insert(table, columns, rows) {
      const names = columns.join(', ');
      const texts = [
        `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, `,
        '::json)',
      ];
      const answers: Promise<unknown>[] = [];
      let chunk: unknown[] = [];
      const send = () => {
        const answer = sent({ texts, values: [JSON.stringify(chunk)] });
        answer.catch(() => undefined);
        answers.push(answer);
        chunk = [];
      };
      for (const row of rows) {
        chunk.push(Object.fromEntries(columns.map((name, index) => [name, row[index]])));
        if (chunk.length === ROWS_AT_ONCE) send();
      }
      if (chunk.length > 0) send();
      for (const answer of answers) await answer;
    },
    now,
  };
}

/** An answer of the server, with a code of five characters. */
function isDatabaseError(thrown: unknown): thrown is Error & { readonly code: string } {
  return thrown instanceof Error && 'severity' in thrown && 'code' in thrown && String(thrown.code).length === 5;
}

/**
 * What passes by itself: the server is stopping or starting, has no connection left, a deadlock was broken, the network is
 * gone. Nothing of the transaction is left then.
 */
function isPassing(thrown: unknown): boolean {
  const code = codeOf(thrown);
  // 25006 and 55000: the server is a standby, which may become the primary.
  if (isDatabaseError(thrown)) return /^(?:57P0[123]|08|53300|40001|40P01|25006|55000)/.test(thrown.code);
  return code !== undefined && !/^(?:NO_|ENOTFOUND|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EACCES)/.test(code);
}

type Words = readonly [codes: RegExp, why: (address: PostgresAddress, message: string) => string, note?: string];

const PASSWORDS = 'It comes from PGPASSWORD, PGPASSFILE or ~/.pgpass.';
const STANDBY = 'it is a standby, which can only be read';

/** By the code of the server, or of the way to it: why it cannot be used, and what a person does about it. The first that fits. */
const WORDS: readonly Words[] = [
  [/^28P01/, ({ user }) => `the password of ${user} is another one`, PASSWORDS],
  [/^NO_PASSWORD/, ({ user }) => `its server asks for the password of ${user}`, PASSWORDS],
  [
    /^42501/,
    ({ user }, said) => `${user} may not do that: ${said}`,
    'An admin grants it: grant cardwright_operator to "USER";',
  ],
  [
    /^55P03/,
    () => 'another session has been writing to the account for 20 seconds',
    'cardwright journal status names it; an admin ends it with pg_terminate_backend.',
  ],
  [/^(?:25006|55000)/, () => STANDBY],
  [/^(?:57P|08|28|3D|53|58|XX)/, (_, said) => said],
  [
    /^NO_TLS/,
    () => 'its server offers no TLS',
    'Beyond this machine nothing is sent without: set ssl = on in its postgresql.conf.',
  ],
  [
    /^(?:DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_)/,
    () => 'nobody vouches for its certificate',
    'Name the certificate of your authority: ?sslrootcert=/absolute/path at the end of the address, or PGSSLROOTCERT.',
  ],
];

/** The code of the server's answer, or of why the connection was lost; undefined for anything else. */
function codeOf(thrown: unknown): string | undefined {
  if (isDatabaseError(thrown)) return thrown.code;
  if (!(thrown instanceof Lost)) return undefined;
  if (/does not support SSL/.test(thrown.message)) return 'NO_TLS';
  if (/password must be a/.test(thrown.message)) return 'NO_PASSWORD';
  return (thrown.cause as { code?: string }).code ?? 'LOST';
}

/** An error of the server or of the way to it in the user's words; anything else as it is. */
function inWords(thrown: unknown, address: PostgresAddress): unknown {
  const code = codeOf(thrown);
  if (code === undefined) return thrown;
  if (code === '42P01' || code === '3F000') return noJournal(address.shown);
  const [, why, note] = WORDS.find(([codes]) => codes.test(code)) ?? [];
  const { message } = thrown as Error;
  if (why !== undefined)
    return unreachable(
      address.shown,
      why(address, message),
      note?.replace('USER', () => address.user),
      thrown,
    );
  return thrown instanceof Lost ? unreachable(address.shown, message, undefined, thrown) : thrown;
}

function unreachable(shown: string, why: string, note?: string, cause?: unknown): CliError {
  return new CliError('guarded', {
    message: `the shared journal ${shown} cannot be used: ${why}`,
    ...(note !== undefined && { notes: [note] }),
    reason: 'journal',
    hint: 'cardwright doctor',
    outcome: 'not_sent',
    ...(cause !== undefined && { cause }),
  });
}

/** Nobody says whether the last write was kept. */
function lostCommit(last: unknown, address: PostgresAddress): CliError {
  const { message } = asCliError(inWords(last, address));
  return new CliError('outcome_unknown', {
    message: `whether the last write to the journal was kept is unknown: ${message}`,
    hint: 'cardwright ops list',
    cause: last,
  });
}

function noJournal(shown: string): CliError {
  return new CliError('guarded', {
    message: `there is no journal in ${shown}, or you are not granted it`,
    notes: ['An admin of the database makes it, and grants it: grant cardwright_operator to …'],
    reason: 'journal',
    hint: 'cardwright journal init --help',
    outcome: 'not_sent',
  });
}
