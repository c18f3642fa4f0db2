/** Opens the store: a file or memory, made and filled where there is none. */

import type { Connection } from '../../engine/connection.ts';
import { isBusy } from '../../engine/faults.ts';
import { connectTo } from '../../engine/open.ts';
import { privateFile } from '../../files/private-at-once.ts';
import type { Clock, Randomness } from '../../platform/host.ts';
import { between } from '../../platform/jitter.ts';
import { KIB_ELSE } from './bulk.ts';
import { createTables, type IdForm, type Meta, openingError, readMeta } from './meta.ts';
import { QueuedStore } from './queue.ts';
import { type Sql, type Store, type StoreBroken, StoreBusy } from './sql.ts';
import { SCHEMA } from './system-tables.ts';

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

const OPENING_PATIENCE = 10_000;

/** Throws `check_failed` for a store that is of another build, foreign or damaged, and leaves it untouched. */
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
  return { store, meta: found };
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
      await clock.sleep(between(random, 2, 20));
    }
  }
}
