/**
 * What differs between two snapshots: their files lie in the order of the keys, so both are read once, side by side, and
 * only one line of each is in memory.
 */
import { ARCHIVED, type ArchivedTable } from '../store/archived.ts';
import type { SqlValue } from '../store/sql.ts';
import type { Manifest } from './manifest.ts';
import { linesOf, rowOf } from './restore.ts';

export interface Side {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Values by the names of their columns, of the columns that both sides have. */
export type StoredRow = Readonly<Record<string, SqlValue>>;

/** One row that is not the same on both sides; undefined where it is not there. */
export interface RowChange {
  readonly table: string;
  readonly before: StoredRow | undefined;
  readonly after: StoredRow | undefined;
}

/** Every row that differs, table by table, in the order of the keys. Throws `Damaged` for a file that is not as written. */
export async function* changesBetween(before: Side, after: Side): AsyncGenerator<RowChange> {
  for (const table of ARCHIVED) {
    const [old, young] = [rowsIn(before, table), rowsIn(after, table)];
    const shared = sharedColumns(table, before, after);
    let [one, other] = [await old.next(), await young.next()];
    while (one.done !== true || other.done !== true) {
      const order = one.done === true ? 1 : other.done === true ? -1 : compareKeys(table.key, one.value, other.value);
      if (order < 0) yield { table: table.name, before: one.value as StoredRow, after: undefined };
      else if (order > 0) yield { table: table.name, before: undefined, after: other.value as StoredRow };
      else if (shared.some(column => one.value?.[column] !== other.value?.[column])) {
        yield { table: table.name, before: one.value as StoredRow, after: other.value as StoredRow };
      }
      if (order <= 0) one = await old.next();
      if (order >= 0) other = await young.next();
    }
  }
}

async function* rowsIn({ folder, manifest }: Side, { name }: ArchivedTable): AsyncGenerator<StoredRow, undefined> {
  const table = manifest.tables.find(each => each.name === name);
  // A table that came later holds nothing in an older snapshot.
  if (table === undefined) return;
  for await (const lines of linesOf(folder, table)) {
    for (const line of lines) {
      const values = rowOf(line, table);
      yield Object.fromEntries(table.columns.map((column, at) => [column, values[at] ?? null]));
    }
  }
}

/** A column that only one of them has says nothing about what changed. */
function sharedColumns({ name, columns }: ArchivedTable, ...sides: readonly Side[]): readonly string[] {
  const tables = sides.map(({ manifest }) => manifest.tables.find(each => each.name === name)?.columns ?? columns);
  return columns.filter(column => tables.every(each => each.includes(column)));
}

/** As SQLite has them: numbers by size, texts by their bytes. */
function compareKeys(key: readonly string[], one: StoredRow, other: StoredRow): number {
  for (const column of key) {
    const [a, b] = [one[column] ?? null, other[column] ?? null];
    if (a === b) continue;
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
  }
  return 0;
}
