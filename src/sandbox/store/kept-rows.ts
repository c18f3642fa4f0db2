/**
 * Rows that works of one transaction read and change by their key: read once, and each changed row written once at the
 * end, whatever the number of works that changed it. Whoever reads their table otherwise finds them: they are written
 * first.
 */

import { bound } from '../../engine/bind.ts';
import type { Bound } from '../../engine/connection.ts';
import type { AnyRows, RowKey, Rows, SqlValue } from './sql.ts';

/** Writes a statement right away. */
export type Write = (statement: string, values: readonly Bound[]) => void;

interface Kept {
  readonly rows: AnyRows;
  readonly key: RowKey;
  /** Undefined where there is none. */
  row: object | undefined;
  /** Values of the columns that are not written yet; undefined where all are. */
  changes: Map<string, Bound> | undefined;
}

/** What one open transaction knows of such rows. */
export class KeptRows {
  /** By table, and then by key. */
  readonly #kept = new Map<string, Map<string, Kept>>();
  /** Tables with changes that are not written yet. */
  readonly #changed = new Set<string>();

  /** The row as it was read or changed in this transaction; undefined when it was not read yet. */
  kept<Row extends object>({ table }: Rows<Row>, key: RowKey): { readonly row: Row | undefined } | undefined {
    return this.#kept.get(table)?.get(keyText(key)) as { readonly row: Row | undefined } | undefined;
  }

  /** Keeps what was read, for the rest of the transaction. */
  remember<Row extends object>(rows: Rows<Row>, key: RowKey, row: Row | undefined): Row | undefined {
    this.#of(rows.table).set(keyText(key), { rows, key, row, changes: undefined });
    return row;
  }

  /** Changes a row that was read before. Throws a `TypeError` for values that no engine takes. */
  change<Row extends object>({ table }: Rows<Row>, key: RowKey, change: Partial<Row>): Row {
    const kept = this.#kept.get(table)?.get(keyText(key));
    if (kept?.row === undefined) throw new Error(`a row of ${table} was changed that was not read`);
    const checked = Object.entries(change).map(([column, value]) => [column, bound(value as SqlValue)] as const);
    kept.row = { ...kept.row, ...change };
    kept.changes ??= new Map();
    for (const [column, value] of checked) kept.changes.set(column, value);
    this.#changed.add(table);
    return kept.row as Row;
  }

  /** Tables with rows that are not written yet. */
  get changed(): ReadonlySet<string> {
    return this.#changed;
  }

  /** Writes what was changed; it stays known. */
  flush(write: Write): void {
    for (const table of this.#changed) {
      for (const kept of this.#kept.get(table)?.values() ?? []) {
        if (kept.changes === undefined) continue;
        write(changeText(kept.rows, [...kept.changes.keys()]), [...kept.changes.values(), ...kept.key]);
        kept.changes = undefined;
      }
    }
    this.#changed.clear();
  }

  /** Forgets the rows of a table that something else wrote; of all where it is not known which. */
  forget(table?: string): void {
    if (table === undefined) {
      this.#kept.clear();
      this.#changed.clear();
    } else {
      this.#kept.delete(table);
      this.#changed.delete(table);
    }
  }

  forgetRow(table: string, key: readonly Bound[]): void {
    this.#kept.get(table)?.delete(keyText(key));
  }

  #of(table: string): Map<string, Kept> {
    const known = this.#kept.get(table) ?? new Map<string, Kept>();
    this.#kept.set(table, known);
    return known;
  }
}

/** Text has no NUL. */
export function keyText(key: readonly Bound[]): string {
  return key.join('\0');
}

/** Asks for the one row with a key. */
export const rowText = ({ table, columns, key }: AnyRows) => `select ${columns} from ${table} where ${equals(key)}`;

/** What changes some columns of the row with a key. */
const changeText = ({ table, key }: AnyRows, columns: readonly string[]) =>
  `update ${table} set ${columns.map(column => `${column} = ?`).join(', ')} where ${equals(key)}`;

const equals = (key: readonly string[]) => key.map(column => `${column} = ?`).join(' and ');
