/**
 * Rows for the ends of tables that are only ever added to: gathered over the works of a transaction and written in few
 * statements, because a statement costs more than a row. Whoever reads such a table finds them: they are written first,
 * and with them the rows that were changed.
 */

import type { Bound } from '../../engine/connection.ts';
import { KeptRows, keyText, type Write } from './kept-rows.ts';
import type { RowKey, Tail } from './sql.ts';

/** Adds rows to a table right away; their values one row after the other. */
export type Add = (tail: Tail, values: readonly Bound[]) => void;

/** Rows in one statement at most; each power of two up to it is prepared once. */
const MOST_ROWS = 32;

/** What one open transaction has gathered. */
export class Tails {
  readonly #gathered = new Map<Tail, Bound[]>();
  readonly #names = new Set<string>();
  /** Last numbers given out, by table and account. */
  readonly #numbers = new Map<string, number>();
  /** Tables of rows that wait and have no keys. */
  readonly #keyless = new Set<string>();
  /** Keys of the others, by table. */
  readonly #keys = new Map<string, Set<string>>();
  readonly rows = new KeptRows();

  add(tail: Tail, row: readonly Bound[]): void {
    if (row.length !== tail.columns.length) {
      throw new TypeError(`a row of ${tail.table} has ${tail.columns.length} values, not ${row.length}`);
    }
    const values = this.#gathered.get(tail);
    if (values === undefined) this.#gathered.set(tail, [...row]);
    else values.push(...row);
    this.#names.add(tail.table);
    if (tail.keys === undefined) {
      this.#keyless.add(tail.table);
      return;
    }
    const keys = this.#keys.get(tail.table) ?? new Set();
    this.#keys.set(tail.table, keys.add(keyText(row.slice(0, tail.keys))));
    this.rows.forgetRow(tail.table, row.slice(0, tail.keys));
  }

  /** Whether a row with this key may wait to be added. */
  waitsFor(table: string, key: RowKey): boolean {
    return this.#keyless.has(table) || this.#keys.get(table)?.has(keyText(key)) === true;
  }

  /** The number after the last one of a table; undefined when nobody asked for one in this transaction yet. */
  next(table: string, account: string): number | undefined {
    const last = this.#numbers.get(`${table} ${account}`);
    return last === undefined ? undefined : this.firstAfter(table, account, last);
  }

  /** The number after `last`, which the store told. */
  firstAfter(table: string, account: string, last: number): number {
    this.#numbers.set(`${table} ${account}`, last + 1);
    return last + 1;
  }

  /** Whether rows of one of these tables wait; any rows, where it is not known which tables are meant. */
  holds(tables: ReadonlySet<string> | undefined): boolean {
    return areIn(this.#names, tables) || areIn(this.rows.changed, tables);
  }

  /** Writes everything, tables in the order in which they were first added to: an entry before its postings. */
  flush(add: Add, write: Write): void {
    for (const [tail, values] of this.#gathered) add(tail, values);
    this.rows.flush(write);
    this.discard();
  }

  /** Forgets what waits, because it is written or undone. */
  discard(): void {
    this.#gathered.clear();
    this.#names.clear();
    this.#keyless.clear();
    this.#keys.clear();
  }

  /** Forgets what was read of a table that something else wrote; of all where it is not known which. */
  forgetRead(table?: string): void {
    for (const name of this.#numbers.keys()) {
      if (table === undefined || name.startsWith(`${table} `)) this.#numbers.delete(name);
    }
    this.rows.forget(table);
  }
}

/** Asks for the last number an account has in a table: `max` goes through all of them where a database knows little. */
export const lastText = ({ table, number }: Tail & { readonly number: string }) =>
  `select ${number} as last from ${table} where account_id = ? order by ${number} desc limit 1`;

/** Whether one of the names is among the tables; any name, where it is not known which tables are meant. */
function areIn(names: ReadonlySet<string>, tables: ReadonlySet<string> | undefined): boolean {
  if (names.size === 0) return false;
  if (tables === undefined) return true;
  for (const name of names) if (tables.has(name)) return true;
  return false;
}

/** Adds rows by statements of a power of two of them, so that few texts are prepared. */
export const addInPowers =
  (write: Write): Add =>
  (tail, values) => {
    const width = tail.columns.length;
    for (let at = 0; at < values.length; ) {
      const left = (values.length - at) / width;
      const rows = left >= MOST_ROWS ? MOST_ROWS : 2 ** Math.floor(Math.log2(left));
      write(statementFor(tail, rows), values.slice(at, at + rows * width));
      at += rows * width;
    }
  };

const STATEMENTS = new Map<Tail, Map<number, string>>();

function statementFor(tail: Tail, rows: number): string {
  const known = STATEMENTS.get(tail) ?? new Map<number, string>();
  STATEMENTS.set(tail, known);
  const text = known.get(rows) ?? made(tail, rows);
  known.set(rows, text);
  return text;
}

function made({ table, columns }: Tail, rows: number): string {
  const row = `(${columns.map(() => '?').join(', ')})`;
  return `insert into ${table} (${columns.join(', ')}) values ${new Array(rows).fill(row).join(', ')}`;
}
