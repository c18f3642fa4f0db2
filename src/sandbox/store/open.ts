/**
 * Opens the store. The only home of both engines: Node's own SQLite from 3.51.3 on (older ones can lose data when one
 * process writes while another checkpoints), else the package, which has the same interface.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { privateFile } from '../../files/private-at-once.ts';
import type { Clock, Randomness } from '../../platform/host.ts';
import type { Connection } from './bind.ts';
import { KIB_ELSE } from './bulk.ts';
import { isBusy, type StoreBroken } from './faults.ts';
import { createTables, type IdForm, type Meta, migrate, openingError, readMeta } from './meta.ts';
import { QueuedStore } from './queue.ts';
import { type Sql, type Store, StoreBusy } from './sql.ts';
import { SCHEMA } from './system-tables.ts';

interface Engine {
  readonly DatabaseSync: new (path: string, options: { readonly timeout: number }) => Connection;
}

export interface StoreRequest {
  /** Path of the file, created 0600 when missing, or `memory`. */
  readonly path: string;
  /** Statements that make the domain tables. */
  readonly tables: readonly string[];
  /** Seed and form of ids of a store made now; one that exists keeps its own. */
  readonly seed: number;
  readonly ids: IdForm;
  /** Fills a store made now, in the transaction that makes it. */
  readonly fill: (sql: Sql) => Promise<void>;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly platform: NodeJS.Platform;
  readonly onBroken?: (error: StoreBroken) => void;
}

export interface OpenedStore {
  readonly store: Store;
  readonly meta: Meta;
}

const SAFE_VERSION = [3, 51, 3] as const;
/** ms inside SQLite; longer waits stop the event loop and are unfair, so they are ours. */
const ENGINE_WAIT = 10;
const OPENING_PATIENCE = 10_000;

/** Throws `check_failed` for a store that is newer, foreign or damaged, and leaves it untouched. */
export async function openStore(request: StoreRequest): Promise<OpenedStore> {
  const { path, platform } = request;
  if (path !== 'memory') privateFile(path, platform);
  let connection: Connection | undefined;
  try {
    connection = connectTo(path);
    return await prepared(connection, request);
  } catch (error) {
    if (connection !== undefined) connection.close();
    throw openingError(path, error);
  }
}

/** A bare connection to a file or to `memory`; only the store and its tests have use for it. */
export function connectTo(path: string): Connection {
  const { DatabaseSync } = loadEngine();
  return new DatabaseSync(path === 'memory' ? ':memory:' : path, { timeout: ENGINE_WAIT });
}

async function prepared(connection: Connection, request: StoreRequest): Promise<OpenedStore> {
  const { path, clock, random, onBroken } = request;
  connection.exec('pragma foreign_keys = on');
  // What savepoints remember stays in memory, but for large work.
  connection.exec('pragma temp_store = memory');
  // Needs the schema, so it meets the locks of others like any reading.
  if (path !== 'memory') await patiently(request, () => connection.exec('pragma synchronous = full'));
  const store = new QueuedStore({ connection, path, clock, random, ...(onBroken && { onBroken }) });
  // Looked at before anything is changed: switching the log would already write to a foreign file.
  const found = await store.read(sql => readMeta(sql, path));
  if (path !== 'memory') await patiently(request, () => connection.exec('pragma journal_mode = wal'));
  // Pages of 4 KiB. Each time a group of writes waits for all of them to be written once more, and for two more syncs.
  connection.exec('pragma wal_autocheckpoint = 8000');
  connection.exec(`pragma cache_size = -${KIB_ELSE}`);
  if (found === undefined) return { store, meta: await store.write(sql => made(sql, request), 'large') };
  if (found.schema < SCHEMA) await store.write(migrate, 'large');
  return { store, meta: { ...found, schema: SCHEMA } };
}

/** Makes and fills the store, unless another process did so meanwhile. */
async function made(sql: Sql, { path, tables, seed, ids, fill, clock, random }: StoreRequest): Promise<Meta> {
  const found = await readMeta(sql, path);
  if (found !== undefined) return found;
  const instance = Buffer.from(random.bytes(12)).toString('hex');
  const meta: Meta = { schema: SCHEMA, instance, seed, ids };
  await createTables(sql, tables, { ...meta, now: clock.now() });
  await fill(sql);
  return meta;
}

async function patiently({ clock, random }: StoreRequest, step: () => void): Promise<void> {
  const deadline = clock.monotonic() + OPENING_PATIENCE;
  for (;;) {
    try {
      return step();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (clock.monotonic() >= deadline) throw new StoreBusy('the store is busy', { cause: error });
      await clock.sleep(2 + random.fraction() * 18);
    }
  }
}

/** Never both engines in one process: they would not see each other's locks. */
function loadEngine(): Engine {
  const builtin = isSafe(process.versions['sqlite']) ? builtinEngine() : undefined;
  return builtin ?? packagedEngine();
}

let packaged: Engine | undefined;

/**
 * Every command with --sandbox waits for it, so the compiled file of the package is loaded as it lies there: what the
 * package puts around it is not used here. Where there is none, the package knows.
 */
function packagedEngine(): Engine {
  packaged ??= compiledEngine() ?? (createRequire(import.meta.url)('@photostructure/sqlite') as Engine);
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

function isSafe(version: string | undefined): boolean {
  if (version === undefined) return false;
  const parts = version.split('.').map(Number);
  for (const [index, least] of SAFE_VERSION.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
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
