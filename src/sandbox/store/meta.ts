/** What a store says about itself, and the refusal of one that is not ours, too new or damaged. */
import { CliError } from '../../core/errors.ts';
import { engineCode, isDamage } from '../../engine/faults.ts';
import type { Sql } from './sql.ts';
import { CLEARED_TABLES, SCHEMA, SYSTEM_TABLES } from './system-tables.ts';

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
  if (row.schema_number !== SCHEMA) {
    throw unusable(
      path,
      `was made by another build of cardwright (schema ${row.schema_number}; this one has ${SCHEMA})`,
    );
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

/** How often a reset, a restore or an import has replaced everything; it stands in the head of the file. */
export async function generationOf(sql: Sql): Promise<number> {
  const row = await sql.get<{ generation: number }>('select user_version as generation from pragma_user_version');
  return row?.generation ?? 0;
}

/** Says to whoever looks, in other processes too, that everything was replaced. */
export async function beginGeneration(sql: Sql): Promise<void> {
  await sql.run(`pragma user_version = ${(await generationOf(sql)) + 1}`);
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

function unusable(path: string, what: string): CliError {
  return new CliError('check_failed', {
    message: `the sandbox store ${path} ${what}`,
    notes: ['It was not changed. The hint moves it aside and starts over; nothing is deleted.'],
    hint: 'cardwright sandbox reset --hard',
    outcome: 'not_sent',
  });
}
