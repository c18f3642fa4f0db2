/** What a store says about itself, and the refusal of one that is not ours, too new or damaged. */
import { CliError, notSent } from '../../core/errors.ts';
import type { Connection } from '../../engine/connection.ts';
import { connectTo, engineCode, isDamage } from '../../engine/open.ts';
import { privateFile } from '../../files/private-files.ts';
import type { Host } from '../../platform/host.ts';
import { KIB_OF_PAGES, QueuedStore, type Store } from './queue.ts';
import { ARCHIVED, MAKING, type RowOf, SCHEMA } from './schema.ts';
import type { Sql, StoreBroken } from './sql.ts';

export type IdForm = RowOf<'meta'>['ids'];

export type Meta = Pick<RowOf<'meta'>, 'instance' | 'seed' | 'ids'>;

const APPLICATION = 'cardwright sandbox';

/** What stands in the store; undefined when it is empty. Throws `check_failed` for anything that is not ours. */
function readMeta(sql: Sql, path: string): Meta | undefined {
  const tables = sql.all<{ name: string; sql: string }>(`select name, sql from sqlite_master where type = 'table'`);
  if (tables.length === 0) return undefined;
  // Another program's table of the same name has other columns.
  const isLikeOurs = tables.some(table => table.name === 'meta' && table.sql.includes('schema_number'));
  const row = isLikeOurs
    ? sql.get<RowOf<'meta'>>('select application, schema_number, instance, seed, ids from meta where one = 1')
    : undefined;
  if (row?.application !== APPLICATION) throw unusable(path, 'is not a sandbox of cardwright');
  if (row.schema_number !== SCHEMA) {
    throw unusable(
      path,
      `was made by another build of cardwright (schema ${row.schema_number}; this one has ${SCHEMA})`,
    );
  }
  const { instance, seed, ids } = row;
  return { instance, seed, ids };
}

/** Empties the store but for rate counters. Ids and numbers start over, with another seed where one is given. */
export function emptyStore(sql: Sql, seed: number | undefined, ids?: IdForm): void {
  for (const table of ['advances', ...ARCHIVED.toReversed()]) sql.run(`delete from ${table}`);
  sql.run('update meta set seed = coalesce(?, seed), ids = coalesce(?, ids)', seed ?? null, ids ?? null);
  // Says to whoever looks, in other processes too, that everything was replaced.
  sql.run(`pragma user_version = ${generationOf(sql) + 1}`);
}

/** How often a reset, a restore or an import has replaced everything; it stands in the head of the file. */
export function generationOf(sql: Sql): number {
  return sql.one<{ generation: number }>('select user_version as generation from pragma_user_version').generation;
}

/** An error of the engine while opening, in our words; others come out as they are. */
function openingError(path: string, error: unknown): unknown {
  if (isDamage(error)) return unusable(path, 'is damaged or no database');
  const code = engineCode(error);
  if (code === undefined) return error;
  return new CliError('check_failed', {
    message: `the sandbox store ${path} cannot be opened: ${error instanceof Error ? error.message : code}`,
    hint: 'cardwright doctor',
    outcome: 'not_sent',
    cause: error,
  });
}

function unusable(path: string, what: string): CliError {
  return notSent('check_failed', `the sandbox store ${path} ${what}`, {
    notes: ['It was not changed. The hint moves it aside and starts over; nothing is deleted.'],
    hint: 'cardwright sandbox reset --hard',
  });
}

// Opens the store: a file or memory, made and filled where there is none.

export interface StoreRequest extends Pick<Host, 'clock' | 'random' | 'platform'> {
  /** Path of the file, created 0600 when missing, or `memory`. */
  readonly path: string;
  /** Seed and form of ids of a store made now; one that exists keeps its own. */
  readonly seed: number;
  readonly ids: IdForm;
  /** Fills a store made now, in the transaction that makes it. */
  readonly fill: (sql: Sql) => Promise<void>;
  readonly onBroken?: (error: StoreBroken) => void;
}

/** Throws `check_failed` for a store that is of another build, foreign or damaged, and leaves it untouched. */
export async function openStore(request: StoreRequest) {
  const { path, platform, clock, random, onBroken } = request;
  if (path !== 'memory') privateFile(path, platform);
  let connection: Connection | undefined;
  try {
    connection = connectTo(path);
    connection.exec('pragma foreign_keys = on');
    // What savepoints remember stays in memory, but for large work.
    connection.exec('pragma temp_store = memory');
    const store = new QueuedStore({ connection, path, clock, random, ...(onBroken && { onBroken }) });
    const setFile = async (pragma: string) =>
      path === 'memory' ? undefined : store.outside(opened => opened.exec(pragma));
    // Needs the schema, so it meets the locks of others like any reading.
    await setFile('pragma synchronous = full');
    // Looked at before anything is changed: switching the log would already write to a foreign file.
    const found = await store.read(sql => readMeta(sql, path));
    await setFile('pragma journal_mode = wal');
    // Pages of 4 KiB. Each time a group of writes waits for all of them to be written once more, and for two more syncs.
    connection.exec('pragma wal_autocheckpoint = 8000');
    connection.exec(`pragma cache_size = -${KIB_OF_PAGES}`);
    return { store: store as Store, meta: found ?? (await store.writeLarge(sql => made(sql, request))) };
  } catch (error) {
    connection?.close();
    throw openingError(path, error);
  }
}

/** Makes and fills the store, unless another process did so meanwhile. */
async function made(sql: Sql, { path, seed, ids, fill, clock, random }: StoreRequest): Promise<Meta> {
  const found = readMeta(sql, path);
  if (found !== undefined) return found;
  const instance = Buffer.from(random.bytes(12)).toString('hex');
  for (const statement of MAKING) sql.run(statement);
  const meta: Meta = { instance, seed, ids };
  const ours = { application: APPLICATION, schema_number: SCHEMA, created_at: clock.now() };
  sql.insert('meta', { one: 1, ...ours, ...meta });
  await fill(sql);
  return meta;
}
