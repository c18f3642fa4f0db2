/**
 * Rows for the ends of tables that are only ever added to, and rows that nearly every work changes: gathered over the
 * works of a transaction and written in few statements, because a statement costs more than a row. Whoever reads such a
 * table finds them: they are written first.
 */

import { bound } from '../../engine/bind.ts';
import type { Bound } from '../../engine/connection.ts';
import type { KeyedTail, Single, Tail } from './sql.ts';

/** Writes a statement right away. */
export type Write = (statement: string, values: readonly Bound[]) => void;

/** Rows in one statement at most; each power of two up to it is prepared once. */
const MOST_ROWS = 32;

interface Kept {
  readonly single: Single<string>;
  readonly account: string;
  /** Undefined where there is none. */
  row: Readonly<Record<string, number>> | undefined;
  /** It is not written yet. */
  isChanged: boolean;
}

/** What one open transaction has gathered. */
export class Tails {
  readonly #gathered = new Map<Tail, Bound[]>();
  readonly #names = new Set<string>();
  /** Last numbers given out, by table and account. */
  readonly #numbers = new Map<string, number>();
  /** Keys of the rows that wait. */
  readonly #keys = new Map<Tail, Set<string>>();
  /** By table and account. */
  readonly #singles = new Map<string, Kept>();

  add(tail: Tail, row: readonly Bound[]): void {
    if (row.length !== tail.columns.length) {
      throw new TypeError(`a row of ${tail.table} has ${tail.columns.length} values, not ${row.length}`);
    }
    const values = this.#gathered.get(tail);
    if (values === undefined) this.#gathered.set(tail, [...row]);
    else values.push(...row);
    this.#names.add(tail.table);
    if (tail.keys === undefined) return;
    const keys = this.#keys.get(tail) ?? new Set();
    this.#keys.set(tail, keys.add(keyText(row.slice(0, tail.keys))));
  }

  /** Whether a row with this key is not written yet. */
  waitsFor(tail: KeyedTail, key: readonly Bound[]): boolean {
    return this.#keys.get(tail)?.has(keyText(key)) ?? false;
  }

  /** The one row of an account as it was read or changed in this transaction; undefined when it was not read yet. */
  keptSingle(single: Single<string>, account: string): { readonly row: Kept['row'] } | undefined {
    return this.#singles.get(`${single.table} ${account}`);
  }

  /** Keeps what was read of it, for the rest of the transaction. */
  rememberSingle(single: Single<string>, account: string, row: Kept['row']): Kept['row'] {
    this.#singles.set(`${single.table} ${account}`, { single, account, row, isChanged: false });
    return row;
  }

  keepSingle(single: Single<string>, account: string, row: Readonly<Record<string, number>>): void {
    this.#singles.set(`${single.table} ${account}`, { single, account, row, isChanged: true });
    this.#names.add(single.table);
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
    if (this.#names.size === 0) return false;
    if (tables === undefined) return true;
    for (const name of this.#names) if (tables.has(name)) return true;
    return false;
  }

  /** Writes everything, tables in the order in which they were first added to: an entry before its postings. */
  flush(write: Write): void {
    for (const [tail, values] of this.#gathered) {
      const width = tail.columns.length;
      for (let at = 0; at < values.length; ) {
        const left = (values.length - at) / width;
        const rows = left >= MOST_ROWS ? MOST_ROWS : 2 ** Math.floor(Math.log2(left));
        write(statementFor(tail, rows), values.slice(at, at + rows * width));
        at += rows * width;
      }
    }
    for (const kept of this.#singles.values()) {
      if (!kept.isChanged) continue;
      const values = kept.single.columns.map(column => bound(kept.row?.[column] ?? null));
      write(changeOf(kept.single), [...values, kept.account]);
      kept.isChanged = false;
    }
    this.discard();
  }

  /** Forgets what waits, because it is written or undone. */
  discard(): void {
    this.#gathered.clear();
    this.#names.clear();
    this.#keys.clear();
  }

  /** Forgets what was read of a table that something else wrote; of all where it is not known which. */
  forgetRead(table?: string): void {
    for (const known of [this.#numbers, this.#singles]) {
      for (const name of known.keys()) {
        if (table === undefined || name.startsWith(`${table} `)) known.delete(name);
      }
    }
  }
}

/** Asks for the one row an account has in a table. */
export const singleText = ({ table, columns }: Single<string>) =>
  `select ${columns.join(', ')} from ${table} where account_id = ?`;

/** Asks for the last number an account has in a table. */
export const lastText = ({ table, number }: Tail & { readonly number: string }) =>
  `select max(${number}) as last from ${table} where account_id = ?`;

/** Text has no NUL. */
function keyText(key: readonly Bound[]): string {
  return key.join('\0');
}

function changeOf({ table, columns }: Single<string>): string {
  return `update ${table} set ${columns.map(column => `${column} = ?`).join(', ')} where account_id = ?`;
}

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
