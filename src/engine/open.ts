/**
 * Opens SQLite. The only home of both engines: Node's own SQLite from 3.51.3 on (older ones can lose data when one
 * process writes while another checkpoints), else the package, which has the same interface.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import type { Connection } from './connection.ts';

/** A connection for statements of somebody else. Node's own engine may lack what guards against writing into the file by detours, and the names of limits. */
type GuardedConnection = Pick<DatabaseSyncInstance, 'exec' | 'prepare' | 'close' | 'setAuthorizer'> &
  Partial<Pick<DatabaseSyncInstance, 'enableDefensive' | 'limits' | 'setLimit'>>;

interface Engine {
  readonly DatabaseSync: {
    new (path: string, options: { readonly timeout: number; readonly readOnly?: boolean }): Connection;
    readonly prototype: object;
  };
}

/** 3.51.3 */
const SAFE_VERSION = 3_051_003;
/** ms inside SQLite; longer waits stop the event loop and are unfair, so they are the caller's. */
const ENGINE_WAIT = 10;

/** A bare connection to a file or to `memory`. */
export function connectTo(path: string): Connection {
  const { DatabaseSync } = loadEngine();
  return new DatabaseSync(path === 'memory' ? ':memory:' : path, { timeout: ENGINE_WAIT });
}

/** Closes a connection; the package's engine keeps its log until then, so it is written back first. */
export function closeConnection(connection: Pick<Connection, 'exec' | 'close'>, path: string): void {
  try {
    if (path !== 'memory') connection.exec('pragma wal_checkpoint(truncate)');
  } catch (error) {
    // Another process is writing, or there is no room to write it back: the log stays, which loses nothing.
    if (!isBusy(error) && !isFull(error)) throw error;
  } finally {
    connection.close();
  }
}

/**
 * A connection that only reads, of an engine with an authorizer: Node's own has one from 24.10 on, else it is the
 * package's. For a process that opens no other file: both engines in one would not see each other's locks.
 */
export function connectToRead(path: string): GuardedConnection {
  const engine = loadEngine();
  const { DatabaseSync } = 'setAuthorizer' in engine.DatabaseSync.prototype ? engine : packagedEngine();
  return new DatabaseSync(path, { timeout: ENGINE_WAIT, readOnly: true }) as unknown as GuardedConnection;
}

/** Never both engines in one process: they would not see each other's locks. */
function loadEngine(): Engine {
  const [major = 0, minor = 0, patch = 0] = (process.versions['sqlite'] ?? '0').split('.').map(Number);
  const isSafe = major * 1_000_000 + minor * 1_000 + patch >= SAFE_VERSION;
  return (isSafe ? builtinEngine() : undefined) ?? packagedEngine();
}

let packaged: Engine | undefined;
/**
 * Every command with --sandbox waits for it, so the compiled file of the package is loaded as it lies there: what the
 * package puts around it is not used here. Where there is none, the package knows.
 */
function packagedEngine(): Engine {
  // An import would load Node's own search at every start.
  const required = () =>
    process.getBuiltinModule('node:module').createRequire(import.meta.url)('@photostructure/sqlite');
  packaged ??= compiledEngine() ?? (required() as Engine);
  return packaged;
}

/** In the folders where Node would look; its own search is a part of it that nothing else here needs to be loaded. */
function compiledEngine(): Engine | undefined {
  // The package names its files so on every system.
  const flavour = existsSync('/etc/alpine-release') ? 'musl' : 'glibc';
  const system = `${process.platform}-${process.arch}`;
  const name = `@photostructure+sqlite.${flavour}.node`;
  const inside = join('node_modules', '@photostructure', 'sqlite', 'prebuilds', system, name);
  const start = dirname(fileURLToPath(import.meta.url));
  for (let folder = start, inner = ''; folder !== inner; inner = folder, folder = dirname(folder)) {
    const file = join(folder, inside);
    if (!existsSync(file)) continue;
    const loaded = { exports: {} };
    process.dlopen(loaded, file);
    return loaded.exports as Engine;
  }
  return undefined;
}

/** Node calls its engine experimental; this one warning is not for our users. */
function builtinEngine(): Engine | undefined {
  const warn = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as Engine | undefined;
  } finally {
    process.emitWarning = warn;
  }
}

// What an error of the engine means for the transaction it hit.

const BUSY = 5;
const BUSY_SNAPSHOT = 517;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;

/** The package's `all()` throws without a number (1.2.1); these are the engine's own words, the same everywhere. */
const WORDS: ReadonlyMap<string, number> = new Map([
  ['database is locked', BUSY],
  ['disk I/O error', IO_ERROR],
  ['database disk image is malformed', CORRUPT],
  ['database or disk is full', FULL],
  ['file is not a database', NOT_A_DATABASE],
]);

/** The engine's own number of an error, undefined for anything else that was thrown. */
export function engineCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error || 'errcode' in error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode;
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' ? (WORDS.get(error.message) ?? 1) : undefined;
}

function primary(error: unknown): number {
  return (engineCode(error) ?? 0) & 255;
}

/** Another process holds the lock: worth another try. 517 means a statement of ours is still open: it is not. */
export function isBusy(error: unknown): boolean {
  return primary(error) === BUSY && engineCode(error) !== BUSY_SNAPSHOT;
}

const means =
  (...codes: readonly number[]) =>
  (error: unknown): boolean =>
    codes.includes(primary(error));

/** The disk is full or failing: the whole transaction is lost, its neighbours too. */
export const losesAll = means(FULL, IO_ERROR);

/** A COMMIT that failed like this wrote nothing for sure. */
export const leftNothing = means(FULL, CONSTRAINT);

export const isFull = means(FULL);

/** The file is no database, or a broken one. */
export const isDamage = means(NOT_A_DATABASE, CORRUPT);

/** A statement that a constraint of a table refuses: a bug, or a row that is there already. */
export function violates(error: unknown): boolean {
  return primary(error) === CONSTRAINT || /constraint failed/.test(error instanceof Error ? error.message : '');
}
