/** What a store says about itself, and the refusal of one that is not ours, too new or damaged. */
import { CliError } from '../../core/errors.ts';
import { engineCode, isDamage } from '../../engine/faults.ts';
import type { Sql } from './sql.ts';
import { CLEARED_TABLES, MIGRATIONS, SCHEMA, SYSTEM_TABLES } from './system-tables.ts';

export type IdForm = 'derived' | 'counted';

export interface Meta {
  readonly schema: number;
  /** Tells one store from another, also when it was copied over a former one. */
  readonly instance: string;
  /** Fixes ids, numbers and codes (docs/design/sandbox.md, section 7). */
  readonly seed: number;
  readonly ids: IdForm;
}

const APPLICATION = 'cardwright sandbox';

/** What stands in the store; undefined when it is empty. Throws `check_failed` for anything that is not ours. */
export async function readMeta(sql: Sql, path: string): Promise<Meta | undefined> {
  const tables = await sql.all<{ name: string }>(`select name from sqlite_master where type = 'table'`);
  if (tables.length === 0) return undefined;
  if (!tables.some(table => table.name === 'meta')) throw unusable(path, 'is not a sandbox of cardwright');
  const row = await sql
    .get<{ application: string; schema_number: number; instance: string; seed: number; ids: IdForm }>(
      'select application, schema_number, instance, seed, ids from meta where one = 1',
    )
    .catch((error: unknown) => {
      // Another program's table of the same name has other columns (1: "no such column").
      if (engineCode(error) === 1) return undefined;
      throw error;
    });
  if (row?.application !== APPLICATION) throw unusable(path, 'is not a sandbox of cardwright');
  if (row.schema_number > SCHEMA) {
    const what = `was made by a newer cardwright (schema ${row.schema_number}; this one knows up to ${SCHEMA})`;
    throw unusable(path, what, 'Update cardwright to go on with it.');
  }
  return { schema: row.schema_number, instance: row.instance, seed: row.seed, ids: row.ids };
}

/** Makes all tables and the row that marks the store as ours. */
export async function createTables(sql: Sql, tables: readonly string[], first: Meta & { now: number }): Promise<void> {
  for (const table of [...SYSTEM_TABLES, ...tables]) await sql.run(table);
  await sql.run(
    `insert into meta (one, application, schema_number, instance, seed, ids, created_at) values (1, ?, ?, ?, ?, ?, ?)`,
    APPLICATION,
    first.schema,
    first.instance,
    first.seed,
    first.ids,
    first.now,
  );
}

/** Brings a store of an older schema up, in the open transaction; another process may have done so meanwhile. */
export async function migrate(sql: Sql): Promise<void> {
  const row = await sql.get<{ schema_number: number }>('select schema_number from meta where one = 1');
  for (let next = (row?.schema_number ?? SCHEMA) + 1; next <= SCHEMA; next += 1) {
    for (const statement of MIGRATIONS[next] ?? []) await sql.run(statement);
    await sql.run('update meta set schema_number = ? where one = 1', next);
  }
}

/** Counters of fault rules: they go on where rules are kept, so that no rule gets the name of another. */
const FAULT_COUNTERS = "('flt', 'fault position')";

/**
 * Empties the sandbox's own tables for an account (not those of the domain) and sets the seed, for a reset. Ids
 * and numbers start over with it; rate counters stay, and fault rules and keys where that is asked for.
 */
export async function clearSystemTables(
  sql: Sql,
  account: string,
  { seed, keep = [] }: { readonly seed?: number | undefined; readonly keep?: readonly string[] } = {},
): Promise<void> {
  const keepsFaults = keep.includes('faults');
  for (const table of CLEARED_TABLES) {
    if ((keepsFaults && table === 'faults') || (keep.includes('keys') && table === 'api_keys')) continue;
    const but = keepsFaults && table === 'counters' ? ` and name not in ${FAULT_COUNTERS}` : '';
    await sql.run(`delete from ${table} where account_id = ?${but}`, account);
  }
  if (seed !== undefined) await sql.run('update meta set seed = ? where one = 1', seed);
  await beginGeneration(sql);
}

/** Where each engine counts how often everything was replaced: SQLite in the head of the file, which each store has. */
const GENERATION = {
  sqlite: 'select user_version as generation from pragma_user_version',
  postgres: 'select generation from meta where one = 1',
} as const;

/** How often a reset, a restore or an import has replaced everything that the account holds. */
export async function generationOf(sql: Sql): Promise<number> {
  return (await sql.get<{ generation: number }>(GENERATION[sql.engine]))?.generation ?? 0;
}

/** When the account is removed, ms UTC of the database; undefined without an end, which one in a file never has. */
export async function accountEnd(sql: Sql, account: string): Promise<number | undefined> {
  if (sql.engine !== 'postgres') return undefined;
  const text = 'select expires_at from accounts where account_id = ?';
  return (await sql.get<{ expires_at: number | null }>(text, account))?.expires_at ?? undefined;
}

/** Says to whoever looks, in other processes too, that everything the account holds was replaced. */
export async function beginGeneration(sql: Sql): Promise<void> {
  if (sql.engine === 'postgres') await sql.run('update meta set generation = generation + 1 where one = 1');
  else await sql.run(`pragma user_version = ${(await generationOf(sql)) + 1}`);
}

/** An error of the engine while opening, in our words; others come out as they are. */
export function openingError(path: string, error: unknown): unknown {
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

function unusable(path: string, what: string, also?: string): CliError {
  const kept = 'It was not changed. The hint moves it aside and starts over; nothing is deleted.';
  return new CliError('check_failed', {
    message: `the sandbox store ${path} ${what}`,
    notes: also === undefined ? [kept] : [also, kept],
    hint: 'cardwright sandbox reset --hard',
    outcome: 'not_sent',
  });
}
