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
  /** The first row of a statement that asks for the one row with this key, written or waiting to be. */
  find<Row>(tail: KeyedTail, statement: string, ...key: readonly SqlValue[]): Promise<Row | undefined>;
  /** The one row an account has in a table, read once in a transaction. */
  single<Column extends string>(
    single: Single<Column>,
    account: string,
  ): Promise<Readonly<Record<Column, number>> | undefined>;
  /** Changes that row; it is written once, before anything else reads it, whatever the number of changes. */
  keepSingle<Column extends string>(
    single: Single<Column>,
    account: string,
    row: Readonly<Record<Column, number>>,
  ): Promise<void>;
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

export type KeyedTail = Tail & { readonly keys: number };

/** A table of one row an account, and the columns of whole numbers in it that change together. */
export interface Single<Column extends string> {
  readonly table: string;
  readonly columns: readonly Column[];
}

export type Manner = 'repeatable' | 'large';

export interface Store {
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in a transaction that takes the write lock at once (`BEGIN IMMEDIATE`); resolves after COMMIT.
   * Works of one turn of the event loop may share a transaction, each in a savepoint: a work that throws is undone
   * alone. Throws `StoreBusy` when the lock was not to be had in time or the disk is full: nothing was written.
   * Works that are `repeatable` (they touch nothing but the store) go without a savepoint as long as none of them
   * throws after it wrote; then all of them are done once more, each in its savepoint. `large` work goes through
   * everything the store holds: it has its transaction to itself, which ends when it throws, and files for what the
   * engine remembers and sorts meanwhile, so that memory has a bound.
   */
  write<T>(work: (sql: Sql) => Promise<T>, how?: Manner): Promise<T>;
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
  override readonly name = 'StoreBusy';
}
