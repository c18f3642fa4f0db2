/**
 * The store's boundary: statements of SQLite, asynchronous, one transaction a work. Nothing but statements may be awaited
 * inside `read` or `write`: the connection is one, works queue on it.
 */
import type { SqlRow, SqlValue } from '../../engine/connection.ts';
import { engineCode, isBusy, losesAll } from '../../engine/open.ts';

export type { SqlRow, SqlValue };

export interface Sql {
  /** First row, or undefined. `?` marks a value; the number of values is checked. */
  get<Row = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<Row | undefined>;
  all<Row = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** All rows, remembered until something is written, by another process too. They must not be changed. */
  known<Row>(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Runs a writing statement; resolves to the number of rows it changed. */
  run(statement: string, ...values: readonly SqlValue[]): Promise<number>;
  /** Adds a row to a table. */
  append(table: Columns, ...row: readonly SqlValue[]): Promise<void>;
  /** The row with this key. */
  row<Row extends object>(rows: Rows<Row>, ...key: RowKey): Promise<Row | undefined>;
  /** Changes columns of the row with this key; resolves to the row, undefined where there is none. */
  change<Row extends object>(rows: Rows<Row>, change: Partial<Row>, ...key: RowKey): Promise<Row | undefined>;
  /** The number after the last row of an account in a table. */
  next(table: Columns & { readonly number: string }, account: string): Promise<number>;
  /** How many statements wrote so far in this work. */
  written(): number;
}

/** A table and the columns of a row that is added. Names come from the code, never from outside. */
export interface Columns {
  readonly table: string;
  readonly columns: readonly string[];
  /** The column that counts its rows. */
  readonly number?: string;
}

/** Rows of a table that are read and changed by their key. Names come from the code, never from outside. */
export interface Rows<Row extends object> {
  readonly table: string;
  /** Columns of the key: the account, and what tells its rows apart where it has more than one. */
  readonly key: readonly ['account_id'] | readonly ['account_id', string];
  /** What is read of a row: names of its columns, or expressions that are given a name. */
  readonly columns: string;
  /** Only says of what type its rows are. */
  readonly of?: Row;
}

/** Values of the columns of a key. */
export type RowKey = readonly [account: string] | readonly [account: string, id: string];

export type Manner = 'repeatable' | 'large';

export interface Store {
  /** Runs `work` on one moment of the store. */
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
  /** Path of the file, or `memory`. */
  readonly path: string;
  close(): Promise<void>;
}

/** The store could not take the write now; nothing of it happened. Answered 503 `service_unavailable`. */
export class StoreBusy extends Error {
  override readonly name: string = 'StoreBusy';
}

/** A commit failed in a way that leaves open whether it lasted: nothing may be answered any more. */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken';
}

/** Nobody may go on in this transaction: it is lost, or must be tried again. */
export function endsTransaction(error: unknown): boolean {
  return losesAll(error) || isBusy(error);
}

/** The engine refused a statement for what it says or stores. */
export function isRefusedStatement(error: unknown): boolean {
  return engineCode(error) !== undefined && !endsTransaction(error);
}
