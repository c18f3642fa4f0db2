/** The file of a mirror as the rest of this folder uses it: statements kept ready, transactions, plain rows. */
import { CliError } from '../core/errors.ts';
import { bound, plainRow } from '../engine/bind.ts';
import type { Connection, SqlRow, SqlValue, Statement } from '../engine/connection.ts';
import { isDamage } from '../engine/faults.ts';
import { closeConnection } from '../engine/open.ts';

interface DatabaseSettings {
  /** What is thrown where SQLite cannot read the file. */
  readonly damaged: (cause: unknown) => Error;
  /** Called before each commit; what it throws undoes the transaction, as a kill would. */
  readonly onCommit?: (() => void) | undefined;
}

export class MirrorDatabase {
  readonly path: string;
  readonly #connection: Connection;
  readonly #statements = new Map<string, Statement>();
  readonly #settings: DatabaseSettings;
  /** Ids of merchants by name, so that not each record looks for its own; forgotten where a commit is undone. */
  readonly merchants = new Map<string, number>();
  /** Walks that nobody has ended: they hold the file, and a reader that stops early forgets them. */
  readonly #walks = new Set<IterableIterator<object>>();
  #isClosed = false;

  constructor(path: string, connection: Connection, settings: DatabaseSettings) {
    this.path = path;
    this.#connection = connection;
    this.#settings = settings;
  }

  get<Row = SqlRow>(statement: string, ...values: readonly SqlValue[]): Row | undefined {
    const row = this.#asked(() => this.#prepared(statement).get(...values.map(bound)));
    return row === undefined ? undefined : (plainRow(row) as Row);
  }

  all<Row = SqlRow>(statement: string, ...values: readonly SqlValue[]): Row[] {
    const rows = this.#asked(() => this.#prepared(statement).all(...values.map(bound)));
    return rows.map(row => plainRow(row) as Row);
  }

  /**
   * Rows one after the other. The statement is its own, so that another walk may be under way. A walk that goes on after
   * the copy was closed throws: it would look as if it had come to its end.
   */
  *each<Row = SqlRow>(statement: string, ...values: readonly SqlValue[]): Generator<Row> {
    const rows = this.#asked(() => this.#connection.prepare(statement).iterate(...values.map(bound)));
    this.#walks.add(rows);
    try {
      for (;;) {
        const { value, done } = this.#asked(() => rows.next());
        if (done === true) return;
        yield plainRow(value) as Row;
      }
    } finally {
      this.#endWalk(rows);
    }
  }

  /** Resolves to the number of rows it changed. */
  run(statement: string, ...values: readonly SqlValue[]): number {
    return Number(this.#asked(() => this.#prepared(statement).run(...values.map(bound))).changes);
  }

  /** Runs `work`, which must not wait for anything, in one transaction that has the write lock from its beginning. */
  commit<T>(work: () => T): T {
    this.#asked(() => this.#connection.exec('begin immediate'));
    try {
      const value = work();
      this.#settings.onCommit?.();
      this.#connection.exec('commit');
      return value;
    } catch (error) {
      this.merchants.clear();
      if (this.#connection.isTransaction) this.#connection.exec('rollback');
      throw isDamage(error) ? this.#settings.damaged(error) : error;
    }
  }

  /** A fact of the mirror about itself. */
  fact(name: FactName): string | undefined {
    return this.get<{ value: string }>('select value from facts where name = ?', name)?.value;
  }

  setFact(name: FactName, value: string | number): void {
    this.run(
      'insert into facts (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
      name,
      String(value),
    );
  }

  /** A fact that is a number; undefined where there is none. */
  number(name: FactName): number | undefined {
    const value = this.fact(name);
    return value === undefined ? undefined : Number(value);
  }

  #endWalk(rows: IterableIterator<object>): void {
    // One that the end of the copy has ended must not be ended again: SQLite would speak of a closed connection.
    if (this.#walks.delete(rows)) rows.return?.();
  }

  close(): void {
    this.#isClosed = true;
    for (const rows of this.#walks) this.#endWalk(rows);
    this.#statements.clear();
    try {
      closeConnection(this.#connection, this.path);
    } catch (error) {
      // Whoever read it was told so; what stands in the log stays there.
      if (!isDamage(error)) throw error;
    }
  }

  #asked<T>(ask: () => T): T {
    if (this.#isClosed)
      throw new CliError('internal', { message: `the mirror ${this.path} was read after it was closed` });
    try {
      return ask();
    } catch (error) {
      throw isDamage(error) ? this.#settings.damaged(error) : error;
    }
  }

  #prepared(statement: string): Statement {
    const known = this.#statements.get(statement);
    if (known !== undefined) return known;
    const made = this.#connection.prepare(statement);
    this.#statements.set(statement, made);
    return made;
  }
}

/**
 * `origin`, `mode`, `salt`, `key_print`: whose it is. `as_of`: the copy is of this instant of the service, ms.
 * `synced_at`: the same by the clock of this machine. `windows_end`: everything up to here was read complete.
 * `cards_at`, `days_at`, `full_at`: when cards were read, days audited, everything read. `sync`: number of the sync under
 * way; `finished_sync`: of the last one that came to its end. `seen`: what the first three requests showed.
 * `totals`, `filters`, `order`: what was found out about the service. `walked`: the list was once read to its end.
 * `single`: a purchase is one changing record. `spent_gap`: how far `total_spent` is from the records, cents.
 * `kept_since`: older records of closed purchases were left out, ms. `folded_sync`, `folded_changes`: the newest sync and
 * change of those.
 * `moved`: fields of the wallet that changed while the last finished sync read; empty when nothing did.
 */
export type FactName =
  | 'lost_cuts'
  | 'origin'
  | 'mode'
  | 'salt'
  | 'key_print'
  | 'as_of'
  | 'synced_at'
  | 'windows_end'
  | 'cards_at'
  | 'days_at'
  | 'full_at'
  | 'sync'
  | 'finished_sync'
  | 'seen'
  | 'totals'
  | 'filters'
  | 'order'
  | 'walked'
  | 'single'
  | 'spent_gap'
  | 'kept_since'
  | 'folded_sync'
  | 'folded_changes'
  | 'moved';
