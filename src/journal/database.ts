/**
 * The seam between the journal and the engine that keeps it. Two engines implement it, `sqlite.ts` and `postgres.ts`; no
 * rule above it asks which one it has. Statements are the SQL that both engines take, with `?` for values.
 *
 * What an engine guarantees:
 * - A transaction that resolves is on the disk. One that rejects has left nothing behind, unless it rejects with
 *   `isOutcomeUnknown` (the connection broke within COMMIT); callers repeat only work that may be repeated.
 * - Transactions see what earlier ones have committed; on one account they are made one after the other by `lock`.
 * - `grouped` works of one turn may share a commit. Each of them is whole by itself: where one throws, all are taken back and
 *   each is done again in a transaction of its own. So a work may run twice, and changes nothing but the database.
 * - Values are text, whole numbers, bytes or null. Rows come back as plain objects; every whole number as a JavaScript
 *   number, also PostgreSQL's bigint. Money is cents, times are ms UTC, flags are 0 or 1, JSON is text.
 * - Errors are `CliError`s in the user's words: `guarded` (14) when it cannot be written or reached, `check_failed` when it
 *   is damaged. Anything else that is thrown is a bug in a statement.
 */
import type { SqlRow, SqlValue } from '../engine/connection.ts';
import type { Clock } from '../platform/host.ts';

export type { SqlRow, SqlValue } from '../engine/connection.ts';

/** One transaction. Not to be used after its work has ended. */
export interface Transaction {
  /** Rows of a query, or of a statement with `returning`. */
  all<Row = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Resolves to the number of rows that were changed. */
  run(statement: string, ...values: readonly SqlValue[]): Promise<number>;
  /** Many rows of one table: `insert('change', ['op', 'n'], rows)`. The engine chooses how many go in a statement. */
  insert(table: string, columns: readonly string[], rows: Iterable<readonly SqlValue[]>): Promise<void>;
  /** ms UTC by the clock of the store: of this machine for a file, of the server for a database. */
  now(): Promise<number>;
}

export interface Database {
  /** Several machines may use it: leases decide who works on an op, and keys are listed. */
  readonly isShared: boolean;
  /** For a person: path of the file, or address of the database without a password. */
  readonly shown: string;
  /** Behind a `select` of a row that is kept from others until the transaction ends; empty where a transaction locks all. */
  readonly lock: ' for update' | '';
  /** One transaction that may write. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * A small write that may share its commit with others of the same turn. Resolves when it is on the disk; with `soon` when others
   * can read it: the next commit, or the closing, takes it to the disk, and a power cut before it alone can lose it.
   */
  grouped<T>(work: (tx: Transaction) => Promise<T>, durability?: 'soon'): Promise<T>;
  /** Reads one state of the database; writes nothing and waits for nobody. */
  read<T>(work: (tx: Pick<Transaction, 'all' | 'now'>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Takes every statement and keeps nothing: of a journal that is not there yet, and of changes that no journal keeps. */
export function keepsNothing(clock: Pick<Clock, 'now'>): Database {
  const tx: Transaction = {
    all: async () => [],
    run: async () => 1,
    insert: async () => undefined,
    now: async () => clock.now(),
  };
  return {
    isShared: false,
    shown: '',
    lock: '',
    transaction: work => work(tx),
    grouped: work => work(tx),
    read: work => work(tx),
    close: async () => undefined,
  };
}
