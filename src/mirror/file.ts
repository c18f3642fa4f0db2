/** The file of a copy: opened, made, refused or moved aside, and used by statements that are kept ready. */

import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CheckpointRow } from '../books/rows.ts';
import { CliError, notSent } from '../core/errors.ts';
import { bound, type Connection, plainRow, type SqlRow, type SqlValue, type Statement } from '../engine/connection.ts';
import { closeConnection, connectTo, engineCode, isDamage } from '../engine/open.ts';
import { privateFile, privateFolder } from '../files/private-files.ts';
import { APPLICATION_ID, SCHEMA, TABLES, VIEWS } from './schema.ts';

/** With where the syncs and the changes of records stood: times alone do not order them within a second. */
export type KeptCheckpoint = CheckpointRow & { readonly sync: number; readonly changes: number };

/** The file of a mirror as the rest of this folder uses it. Throws `check_failed` where SQLite cannot read it. */
export class MirrorDatabase {
  readonly path: string;
  readonly #connection: Connection;
  readonly #statements = new Map<string, Statement>();
  readonly #onCommit: (() => void) | undefined;
  /** Ids of merchants by name, so that not each record looks for its own; forgotten where a commit is undone. */
  readonly merchants = new Map<string, number>();
  /**
   * Walks that nobody has ended: they hold the file, and a reader that stops early forgets them. Each with its statement, which the
   * package's engine finalizes under the walk where nobody holds it.
   */
  readonly #walks = new Map<IterableIterator<object>, Statement>();
  #isClosed = false;

  /** `onCommit` is called before each commit; what it throws undoes the transaction, as a kill would. */
  constructor(path: string, connection: Connection, onCommit?: () => void) {
    this.path = path;
    this.#connection = connection;
    this.#onCommit = onCommit;
  }

  get<Row = SqlRow>(statement: string, ...values: readonly SqlValue[]): Row | undefined {
    const row = this.#asked(() => this.#prepared(statement).get(...values.map(bound)));
    return row === undefined ? undefined : (plainRow(row) as Row);
  }

  /** How many rows of a table there are; it may have a `where`. */
  count(table: string, ...values: readonly SqlValue[]): number {
    return this.get<{ n: number }>(`select count(*) as n from ${table}`, ...values)?.n ?? 0;
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
    const prepared = this.#asked(() => this.#connection.prepare(statement));
    const rows = this.#asked(() => prepared.iterate(...values.map(bound)));
    this.#walks.set(rows, prepared);
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

  /** Adds a row, whose members are columns of the table; `known` is done where it is there already. */
  insert(table: string, row: Readonly<Record<string, SqlValue>>, known = ''): void {
    const names = Object.keys(row);
    const values = names.map(() => '?').join(', ');
    this.run(`insert into ${table} (${names.join(', ')}) values (${values}) ${known}`, ...Object.values(row));
  }

  /** Runs `work`, which must not wait for anything, in one transaction that has the write lock from its beginning. */
  commit<T>(work: () => T): T {
    this.#asked(() => this.#connection.exec('begin immediate'));
    try {
      const value = work();
      this.#onCommit?.();
      this.#connection.exec('commit');
      return value;
    } catch (error) {
      this.merchants.clear();
      if (this.#connection.isTransaction) this.#connection.exec('rollback');
      throw isDamage(error) ? damaged(this.path, error) : error;
    }
  }

  /** A fact of the mirror about itself. */
  fact(name: FactName): string | undefined {
    return this.get<{ value: string }>('select value from facts where name = ?', name)?.value;
  }

  setFact(name: FactName, value: string | number): void {
    this.insert('facts', { name, value: String(value) }, 'on conflict (name) do update set value = excluded.value');
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

  [Symbol.dispose](): void {
    this.close();
  }

  close(): void {
    this.#isClosed = true;
    for (const rows of this.#walks.keys()) this.#endWalk(rows);
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
      throw isDamage(error) ? damaged(this.path, error) : error;
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

/** What a copy knows about itself; times are ms of the service unless another clock is named. */
export type FactName =
  // Whose it is.
  | 'origin'
  | 'mode'
  | 'salt'
  | 'key_print'
  // The copy is of this instant of the service, and was made at this one by the clock of this machine.
  | 'as_of'
  | 'synced_at'
  // Everything up to here was read complete; when cards were read.
  | 'windows_end'
  | 'cards_at'
  // Number of the sync under way, and of the last one that came to its end.
  | 'sync'
  | 'finished_sync'
  // What the first three requests showed; the fields of the wallet that changed while the last finished sync read.
  | 'seen'
  | 'moved'
  // What was found out about the service: `single` for a purchase that is one changing record.
  | 'totals'
  | 'filters'
  | 'order'
  | 'single';

// Opening the file of a mirror

export const mirrorPath = (dataFolder: string, profile: string): string =>
  join(dataFolder, 'mirror', `${profile}.sqlite`);

/** The database and what SQLite keeps beside it. */
const PARTS = ['', '-wal', '-shm'] as const;

export interface Opening {
  readonly path: string;
  readonly platform: NodeJS.Platform;
  /** Called before each commit; for tests. */
  readonly onCommit?: (() => void) | undefined;
}

/** ms that a statement waits for another process. */
const PATIENCE_MS = 10_000;

/**
 * Opens the mirror for writing; a file that is not there is made, 0600 in a 0700 folder. Throws `check_failed` for one that is
 * damaged, or of another build or program.
 */
export function openForSync({ path, platform, onCommit }: Opening): MirrorDatabase {
  privateFolder(dirname(path), platform);
  privateFile(path, platform);
  return opened(path, connection => {
    const settings = ['synchronous = full', 'secure_delete = on', 'temp_store = memory', 'wal_autocheckpoint = 8000'];
    for (const setting of settings) connection.exec(`pragma ${setting}`);
    if (isEmpty(connection)) {
      const views = VIEWS.map(({ name, select }) => `create view ${name} as ${select}`);
      const marks = [`pragma application_id = ${APPLICATION_ID}`, `pragma user_version = ${SCHEMA}`];
      connection.exec(['begin immediate', ...TABLES, ...views, ...marks, 'commit'].join(';\n'));
    }
    checkOurs(connection, path);
    connection.exec('pragma journal_mode = wal');
    return new MirrorDatabase(path, connection, onCommit);
  });
}

/**
 * Opens the mirror for reading; undefined where there is none, or none that a sync has made. Throws `check_failed` for one
 * that is damaged, or of another build or program.
 */
export function openForReading({ path }: Pick<Opening, 'path'>): MirrorDatabase | undefined {
  if (!existsSync(path)) return undefined;
  return opened(path, connection => {
    if (isEmpty(connection)) return undefined;
    checkOurs(connection, path);
    connection.exec('pragma query_only = on');
    return new MirrorDatabase(path, connection);
  });
}

/** Renames the file with what belongs to it; resolves to the new name. A later one gets the next number. */
export function moveAway(path: string): string {
  for (let number = 1; ; number += 1) {
    const target = `${path}.reset-${number}`;
    if (PARTS.some(part => existsSync(target + part))) continue;
    // What is written in the log belongs to the file: it goes with it, and first.
    for (const part of PARTS.toReversed()) if (existsSync(path + part)) renameSync(path + part, target + part);
    return target;
  }
}

/** Removes the mirror for good. */
export function removeMirror(path: string): void {
  for (const part of PARTS) rmSync(path + part, { force: true });
}

function opened<T>(path: string, prepare: (connection: Connection) => T): T {
  let connection: Connection | undefined;
  let value: T | undefined;
  try {
    connection = connectTo(path);
    connection.exec(`pragma busy_timeout = ${PATIENCE_MS}`);
    value = prepare(connection);
    return value;
  } catch (error) {
    if (isDamage(error)) throw damaged(path, error);
    if (engineCode(error) === undefined || !(error instanceof Error)) throw error;
    throw unusable(path, `cannot be opened: ${error.message}`, error);
  } finally {
    if (value === undefined) connection?.close();
  }
}

function isEmpty(connection: Connection): boolean {
  return connection.prepare('select 1 from sqlite_master limit 1').get() === undefined;
}

function checkOurs(connection: Connection, path: string): void {
  const number = (pragma: string) => Object.values(connection.prepare(`pragma ${pragma}`).get() ?? {})[0];
  if (number('application_id') === APPLICATION_ID && number('user_version') === SCHEMA) return;
  throw unusable(path, 'was not made by this build of cardwright');
}

const damaged = (path: string, cause: unknown) => unusable(path, 'is damaged', cause);

/** What only the copy knows stays in the file that is moved aside. */
function unusable(path: string, what: string, cause?: unknown): CliError {
  return notSent('check_failed', `the mirror ${path} ${what}`, {
    notes: [
      'The hint moves it aside and the next sync reads everything again; nothing is deleted.',
      'Checkpoints stand in it alone: where you have a copy of the file, put that back, and the books go on from it.',
    ],
    hint: 'cardwright books reset',
    cause,
  });
}
