/**
 * Transactions on the one connection of this process. Writes of one turn of the event loop share a transaction (group
 * commit); where one of them has to be undone, each has its own. A busy store is tried again with jitter, because a wait
 * inside SQLite is unfair and stops the event loop (docs/design/sandbox.md, section 11).
 */
import { bound, type Connection, placeholders, plainRow, type Statement } from '../../engine/connection.ts';
import { closeConnection, isBusy, isFull, leftNothing, losesAll } from '../../engine/open.ts';
import type { Clock, Randomness } from '../../platform/host.ts';
import { between, nextTurn } from '../../platform/time.ts';
import { type Sql, type SqlRow, type SqlValue, type Store, StoreBroken, StoreBusy } from './sql.ts';

/** A piece of work that waits for the one connection. */
interface Job {
  readonly work: (sql: Sql) => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: number;
}

interface QueueParts {
  readonly connection: Connection;
  readonly path: string;
  readonly clock: Clock;
  readonly random: Randomness;
  /** How long a command waits for the lock, ms. */
  readonly patience?: number;
  /** Told once when a commit failed and nobody knows whether it lasted. */
  readonly onBroken?: (error: StoreBroken) => void;
}

/** ms; less than the 30 s our client waits for a read. On a busy disk 20 processes need more than a few seconds. */
const PATIENCE = 25_000;
const LARGEST_BATCH = 64;

export class QueuedStore implements Store {
  readonly path: string;
  readonly #parts: QueueParts;
  readonly #statements: Statements;
  readonly #reads: Job[] = [];
  readonly #writes: Job[] = [];
  readonly #large: Job[] = [];
  readonly #copies: Job[] = [];
  #draining: Promise<void> | undefined;
  #refusal: Error | undefined;
  #closed = false;

  constructor(parts: QueueParts) {
    this.path = parts.path;
    this.#parts = parts;
    this.#statements = new Statements(parts.connection);
  }

  read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#enqueue(this.#reads, work);
  }

  write<T>(work: (sql: Sql) => Promise<T>, how?: 'large'): Promise<T> {
    return this.#enqueue(how === 'large' ? this.#large : this.#writes, work);
  }

  copyTo(path: string): Promise<void> {
    return this.#enqueue(this.#copies, async () => void this.#parts.connection.prepare('vacuum into ?').get(path));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const broken = this.#refusal !== undefined;
    this.#refusal ??= new Error('the store is closed');
    await this.#draining;
    this.#statements.clear();
    // Nothing is written to a disk that just failed.
    if (broken) this.#parts.connection.close();
    else closeConnection(this.#parts.connection, this.path);
  }

  #enqueue<T>(jobs: Job[], work: (sql: Sql) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#refusal !== undefined) return reject(this.#refusal);
      const deadline = this.#parts.clock.monotonic() + (this.#parts.patience ?? PATIENCE);
      jobs.push({ work, resolve, reject, deadline });
      this.#draining ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    do {
      // Lets every request that arrived in this turn of the event loop join.
      await nextTurn();
      await this.#readAll(this.#reads.splice(0));
      for (const job of this.#copies.splice(0)) await this.#copy(job);
      await this.#gather();
      if (this.#writes.length > 0) await this.#writeBatch();
      if (this.#large.length > 0) await this.#writeLarge();
    } while (this.#reads.length + this.#writes.length + this.#large.length + this.#copies.length > 0);
    this.#draining = undefined;
  }

  /** Outside of any transaction, as the engine wants it. */
  async #copy({ work, resolve, reject, deadline }: Job): Promise<void> {
    const { sql, end } = this.#statements.open('read');
    try {
      resolve((await this.#patiently(deadline, () => work(sql))) as never);
    } catch (error) {
      reject(losesAll(error) ? new StoreBusy('there is no room for the copy', { cause: error }) : error);
    } finally {
      end();
    }
  }

  /** Reads of one turn share a transaction; those that met a busy store are tried again until their time is over. */
  async #readAll(jobs: readonly Job[]): Promise<void> {
    const { connection, clock } = this.#parts;
    for (let left = jobs; left.length > 0; ) {
      const again: Job[] = [];
      const settle: (() => void)[] = [];
      for (const job of left) {
        const now = clock.monotonic();
        const { sql, end } = this.#statements.open('read');
        try {
          if (!connection.isTransaction) {
            // Prepared, for a page is little work, and to parse this each time would be a good part of it.
            this.#statements.exec('begin');
            this.#statements.begun();
          }
          const value = await job.work(sql);
          settle.push(() => job.resolve(value as never));
        } catch (error) {
          if (!isBusy(error)) settle.push(() => job.reject(error));
          else if (now < job.deadline) again.push(job);
          else settle.push(() => job.reject(new StoreBusy('the store is busy', { cause: error })));
        } finally {
          end();
        }
      }
      if (connection.isTransaction) this.#statements.exec('rollback');
      for (const done of settle) done();
      if (again.length > 0) await this.#pause();
      left = again;
    }
  }

  /** Waits while every turn brings more writes: those who were answered together ask again one after the other. */
  async #gather(): Promise<void> {
    for (let before = 0; before < this.#writes.length && this.#writes.length < LARGEST_BATCH; ) {
      before = this.#writes.length;
      await nextTurn();
    }
  }

  /** Without savepoints, for which the engine copies every page that is touched. */
  async #writeBatch(): Promise<void> {
    if (!(await this.#begin(this.#writes))) return;
    const batch = this.#writes.splice(0, LARGEST_BATCH);
    const settle: (() => void)[] = [];
    try {
      for (const job of batch) {
        const { sql, end } = this.#statements.open('write');
        try {
          const value = await job.work(sql);
          settle.push(() => job.resolve(value as never));
        } catch (error) {
          if (losesAll(error)) throw new StoreBusy('the store could not take the write', { cause: error });
          if (sql.written() > 0 || !this.#parts.connection.isTransaction) {
            // What it wrote is undone, and with it what the others did: each of them once more, alone.
            this.#undo();
            for (const each of batch) if (await this.#begin([each])) await this.#runAlone(each, 'alone');
            return;
          }
          settle.push(() => job.reject(error));
        } finally {
          end();
        }
      }
      await this.#commit(Math.max(...batch.map(job => job.deadline)));
    } catch (error) {
      this.#undo();
      for (const job of batch) job.reject(error);
      return;
    }
    for (const done of settle) done();
  }

  /** Runs one large work. Where the engine keeps what statements remember is asked when a transaction begins. */
  async #writeLarge(): Promise<void> {
    const { connection } = this.#parts;
    connection.exec('pragma temp_store = file');
    try {
      if (await this.#begin(this.#large))
        for (const job of this.#large.splice(0, 1)) await this.#runAlone(job, 'write');
    } finally {
      connection.exec('pragma temp_store = memory');
    }
  }

  /** One work in the transaction that was begun for it. Large ones use no savepoint: it would remember all they touch. */
  async #runAlone({ work, resolve, reject }: Job, access: 'write' | 'alone'): Promise<void> {
    const { connection, clock, patience = PATIENCE } = this.#parts;
    const { sql, end } = this.#statements.open(access);
    try {
      const value = await work(sql).catch((error: unknown) => {
        if (connection.isTransaction && !losesAll(error)) throw error;
        throw new StoreBusy('the store could not take the write', { cause: error });
      });
      // How long the work took is no reason to give up its end.
      await this.#commit(clock.monotonic() + patience);
      resolve(value as never);
    } catch (error) {
      this.#undo();
      reject(error);
    } finally {
      end();
    }
  }

  #undo(): void {
    const { connection } = this.#parts;
    this.#statements.undone();
    if (this.#refusal === undefined && connection.isTransaction) connection.exec('rollback');
  }

  /** Takes the write lock; false when everybody who waited for it gave up. */
  async #begin(jobs: Job[]): Promise<boolean> {
    const { clock, connection } = this.#parts;
    while (jobs.length > 0) {
      if (this.#refusal instanceof StoreBroken) {
        for (const job of jobs.splice(0)) job.reject(this.#refusal);
        return false;
      }
      try {
        connection.exec('begin immediate');
        this.#statements.begun();
        return true;
      } catch (error) {
        const given = isBusy(error) || losesAll(error) ? new StoreBusy('the store is busy', { cause: error }) : error;
        const now = isBusy(error) ? clock.monotonic() : Number.POSITIVE_INFINITY;
        for (const late of jobs.filter(job => job.deadline <= now)) late.reject(given);
        jobs.splice(0, jobs.length, ...jobs.filter(job => job.deadline > now));
        if (jobs.length > 0) await this.#pause();
      }
    }
    return false;
  }

  async #commit(deadline: number): Promise<void> {
    const { connection, onBroken } = this.#parts;
    try {
      await this.#patiently(deadline, async () => connection.exec('commit'));
    } catch (error) {
      if (error instanceof StoreBusy || leftNothing(error)) {
        if (connection.isTransaction) connection.exec('rollback');
        throw isFull(error) ? new StoreBusy('the disk is full', { cause: error }) : error;
      }
      const broken = new StoreBroken('a commit failed; whether it lasted is not known', { cause: error });
      this.#refusal = broken;
      onBroken?.(broken);
      throw broken;
    }
  }

  async #patiently<T>(deadline: number, step: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (this.#parts.clock.monotonic() >= deadline) throw new StoreBusy('the store is busy', { cause: error });
        await this.#pause();
      }
    }
  }

  #pause(): Promise<void> {
    return this.#parts.clock.sleep(between(this.#parts.random, 2, 20));
  }
}

// Prepared statements of one connection, and the answers that hold until something is written.

interface Prepared {
  readonly statement: Statement;
  /** How many values it asks for. */
  readonly count: number;
  readonly writes: boolean;
}

const READS = /^\s*(?:select|with|values|pragma|savepoint|release)\b/i;
/** Answers remembered; a page of cards may be 60 KB. */
const MOST_KNOWN = 64;
const OVER = 'the transaction of this statement is over';

/** Kept for the life of the connection. */
export class Statements {
  readonly #connection: Connection;
  readonly #prepared = new Map<string, Prepared>();
  /** Text of a row that is added, by its table and columns. */
  readonly #inserts = new Map<string, string>();
  readonly #known = new Map<string, readonly SqlRow[]>();
  #othersVersion: unknown;
  /** Whether others wrote was asked in this transaction. */
  #isCurrent = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Statements for one work. `end()` makes them useless, so that none runs outside of it by mistake. */
  open(access: 'read' | 'write' | 'alone'): { readonly sql: Sql; end(): void } {
    let over = false;
    let written = 0;
    const ready = (text: string, values: readonly SqlValue[]): Prepared => {
      // After an error the engine may have ended the transaction; a statement now would commit on its own.
      if (over || !this.#connection.isTransaction) throw new Error(OVER);
      const prepared = this.#prepare(text);
      if (prepared.count !== values.length) {
        throw new TypeError(`the statement asks for ${prepared.count} values and got ${values.length}`);
      }
      if (prepared.writes) {
        if (access === 'read') throw new Error('a reading transaction cannot write');
        written += 1;
        this.#known.clear();
      }
      return prepared;
    };
    const first = (text: string, values: readonly SqlValue[]): SqlRow | undefined => {
      const prepared = ready(text, values);
      const row = prepared.statement.get(...values.map(bound));
      if (row !== undefined) return plainRow(row);
      // It returns what it changed, and changed nothing.
      if (prepared.writes) written -= 1;
      return undefined;
    };
    const every = (text: string, values: readonly SqlValue[]): readonly SqlRow[] =>
      ready(text, values)
        .statement.all(...values.map(bound))
        .map(plainRow);
    const wrote = (text: string, values: readonly SqlValue[]) =>
      ready(text, values).statement.run(...values.map(bound));
    const remembered = (text: string, values: readonly SqlValue[]): readonly SqlRow[] => {
      if (over) throw new Error(OVER);
      this.#forgetWhatOthersChanged();
      const name = `${text}\0${values.join('\0')}`;
      const known = this.#known.get(name);
      if (known !== undefined) return known;
      const rows = every(text, values);
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(name, rows);
      return rows;
    };
    const sql: Sql = {
      get: async <Row = SqlRow>(text: string, ...values: readonly SqlValue[]) => first(text, values) as Row | undefined,
      all: async <Row = SqlRow>(text: string, ...values: readonly SqlValue[]) => every(text, values) as readonly Row[],
      known: async <Row>(text: string, ...values: readonly SqlValue[]) =>
        remembered(text, values) as unknown as readonly Row[],
      run: async (text, ...values) => Number(wrote(text, values).changes),
      insert: async (table, row) => {
        const values = Object.values(row) as SqlValue[];
        return Number(wrote(this.#insertInto(table, Object.keys(row)), values).lastInsertRowid);
      },
      update: async (table, key, change) => {
        const equal = (columns: object, between: string) => Object.keys(columns).join(` = ?${between}`);
        const text = `update ${table} set ${equal(change, ', ')} = ? where ${equal(key, ' and ')} = ?`;
        return Number(wrote(text, [...Object.values(change), ...Object.values(key)] as SqlValue[]).changes);
      },
      written: () => written,
      isAlone: access === 'alone',
    };
    return {
      sql,
      end: () => {
        over = true;
      },
    };
  }

  /** To be called when a transaction begins. */
  begun(): void {
    this.#isCurrent = false;
  }

  /** To be called when something is undone: what was read meanwhile may have seen it. */
  undone(): void {
    this.#known.clear();
  }

  /** Runs a statement of the queue itself, such as a savepoint, that is run again and again. */
  exec(text: string): void {
    this.#prepare(text).statement.get();
  }

  /** Lets go of all statements; the connection cannot close for good before. */
  clear(): void {
    this.#known.clear();
    this.#prepared.clear();
  }

  /** What a transaction sees of others does not change while it lasts, so that it is asked once in each. */
  #forgetWhatOthersChanged(): void {
    if (this.#isCurrent) return;
    const { data_version: version } = this.#prepare('pragma data_version').statement.get() as { data_version: unknown };
    if (version !== this.#othersVersion) this.#known.clear();
    this.#othersVersion = version;
    this.#isCurrent = true;
  }

  #insertInto(table: string, columns: readonly string[]): string {
    const name = `${table} ${columns.join()}`;
    const known = this.#inserts.get(name);
    if (known !== undefined) return known;
    const text = `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`;
    this.#inserts.set(name, text);
    return text;
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const prepared = {
      statement: this.#connection.prepare(text),
      count: placeholders(text),
      writes: !READS.test(text),
    };
    this.#prepared.set(text, prepared);
    return prepared;
  }
}
