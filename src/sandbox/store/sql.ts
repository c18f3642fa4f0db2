/**
 * The store's boundary: SQL that SQLite and PostgreSQL both understand, asynchronous, one transaction a command.
 * Nothing but statements may be awaited inside `read` or `write`: the connection is one, commands queue on it.
 */

import type { SqlRow, SqlValue } from '../../engine/connection.ts';

export type { SqlRow, SqlValue };

export interface Sql {
  /** For the few things that only one of them has. */
  readonly engine: 'sqlite' | 'postgres';
  /** Another number once everything an account holds was replaced, also by another process; 0 on SQLite, always. */
  readonly generation: number;
  /** First row, or undefined. `?` marks a value; the number of values is checked. */
  get<Row = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<Row | undefined>;
  all<Row = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** First row, or undefined; remembered until a table it reads is written. It must not be changed. */
  known<Row>(statement: string, ...values: readonly SqlValue[]): Promise<Row | undefined>;
  /** All rows, remembered in the same way. */
  knownAll<Row>(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** True for the first work of a transaction that asks for this, for what one of them does for all. */
  once(what: string): boolean;
  /** How many statements wrote so far in this work. */
  written(): number;
  /** Runs a writing statement; resolves to the number of rows it changed. */
  run(statement: string, ...values: readonly SqlValue[]): Promise<number>;
  /** The same where nobody asks how many. */
  put(statement: string, ...values: readonly SqlValue[]): Promise<void>;
  /** Adds a row to a table that is only added to; it is written before anything reads it, with others like it. */
  append(tail: Tail, ...row: readonly SqlValue[]): Promise<void>;
  /** The row with this key, read once in a transaction. It must not be changed. */
  row<Row extends object>(rows: Rows<Row>, ...key: RowKey): Promise<Row | undefined>;
  /**
   * Changes columns of the row with this key; resolves to the row, undefined where there is none. It is written once,
   * before anything else reads its table, whatever the number of changes.
   */
  change<Row extends object>(rows: Rows<Row>, change: Partial<Row>, ...key: RowKey): Promise<Row | undefined>;
  /** The number after the last row of an account in a table, and the one after that the next time. */
  next(tail: Tail & { readonly number: string }, account: string): Promise<number>;
}

/** A table that is only ever added to, and the columns of a row. Names come from the code, never from outside. */
export interface Tail {
  readonly table: string;
  readonly columns: readonly string[];
  /** The column that counts its rows. */
  readonly number?: string;
  /** How many of the columns, from the first, tell its rows apart. */
  readonly keys?: number;
}

/** Rows of a table that works ask for and change one by one. Names come from the code, never from outside. */
export interface Rows<Row extends object> {
  readonly table: string;
  /** Columns of the key: the account, and what tells its rows apart where it has more than one. */
  readonly key: readonly ['account_id'] | readonly ['account_id', string];
  /** What is read of a row: names of its columns, or expressions that are given a name. */
  readonly columns: string;
  /** Only says of what type its rows are. */
  readonly of?: Row;
}

/** Of whatever type they are. */
export type AnyRows = Omit<Rows<object>, 'of'>;

/** Values of the columns of a key. */
export type RowKey = readonly [account: string] | readonly [account: string, id: string];

/** A row that somebody will ask for. */
export interface WantedRow {
  readonly rows: AnyRows;
  readonly key: RowKey;
}

export type Manner = 'repeatable' | 'large';

export interface Store {
  /** Runs `work` on one moment of the store. `large` work goes through everything it holds; others do not wait for it. */
  read<T>(work: (sql: Sql) => Promise<T>, how?: 'large'): Promise<T>;
  /**
   * Runs `work` in a transaction that takes the write lock at once (`BEGIN IMMEDIATE`); resolves after COMMIT.
   * Works of one turn of the event loop may share a transaction, each in a savepoint: a work that throws is undone
   * alone. Throws `StoreBusy` when the lock was not to be had in time or the disk is full: nothing was written.
   * Works that are `repeatable` (they touch nothing but the store) go without a savepoint as long as none of them
   * throws after it wrote; then all of them are done once more, each in its savepoint. `large` work goes through
   * everything the store holds: it has its transaction to itself, which ends when it throws, and files for what the
   * engine remembers and sorts meanwhile, so that memory has a bound. What a work surely `asks` for may be fetched
   * before it begins, together with what others ask for; it is answered the same without.
   */
  write<T>(work: (sql: Sql) => Promise<T>, how?: Manner, asks?: readonly WantedRow[]): Promise<T>;
  /** Path of the file, `memory`, or the id of an account in a database. */
  readonly path: string;
  close(): Promise<void>;
}

/** The stores of all accounts that one place keeps. */
export interface Stores {
  /** That of an account; the same one each time it is asked for. */
  of(account: string): Store;
  close(): Promise<void>;
}

/** The store could not take the write now; nothing of it happened. Answered 503 `service_unavailable`. */
export class StoreBusy extends Error {
  override readonly name: string = 'StoreBusy';
}

/** The account is no more: nothing happened, and nothing of it will. Answered 401 `unauthorized`. */
export class AccountGone extends StoreBusy {
  override readonly name = 'AccountGone';
}
