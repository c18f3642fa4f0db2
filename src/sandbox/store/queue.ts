/**
 * Transactions on the one connection of this process. Writes of one turn of the event loop share a transaction (group
 * commit), each in a part of its own that is undone where it throws. A busy store is tried again with jitter, because a wait
 * inside SQLite is unfair and stops the event loop (docs/design/sandbox.md, section 11).
 */
import type { Connection } from '../../engine/connection.ts';
import { closeConnection, isBusy, isFull, leftNothing, losesAll } from '../../engine/open.ts';
import type { Host } from '../../platform/host.ts';
import { between, nextTurn } from '../../platform/time.ts';
import { endsTransaction, Sql, StoreBroken, StoreBusy } from './sql.ts';

/** A piece of work that waits for the one connection. */
interface Job {
  readonly work: (sql: Sql) => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: number;
  /** Another store, whose tables stand behind `beside.` meanwhile. */
  readonly beside?: string | undefined;
}

interface StoreParts extends Pick<Host, 'clock' | 'random'> {
  readonly connection: Connection;
  readonly path: string;
  /** How long a command waits for the lock, ms. */
  readonly patience?: number;
  /** Told once when a commit failed and nobody knows whether it lasted. */
  readonly onBroken?: (error: StoreBroken) => void;
}

/** It touches nothing but the store, and gives its value at once. */
type Work<T> = (sql: Sql) => T & (T extends PromiseLike<unknown> ? never : unknown);

/** ms; less than the 30 s our client waits for a read. On a busy disk 20 processes need more than a few seconds. */
const PATIENCE = 25_000;
const LARGEST_BATCH = 64;

/** Room for pages: those that some thousand cards need again and again, and those of large work, which sorts as much once more. */
export const KIB_OF_PAGES = 8_000;
const KIB_FOR_LARGE = 16_384;

export type Store = Omit<QueuedStore, 'outside'>;

export class QueuedStore {
  /** Path of the file, or `memory`. */
  readonly path: string;
  readonly #parts: StoreParts;
  readonly #sql: Sql;
  readonly #reads: Job[] = [];
  readonly #writes: Job[] = [];
  readonly #large: Job[] = [];
  readonly #outside: Job[] = [];
  #draining: Promise<void> | undefined;
  #refusal: Error | undefined;
  #closed = false;

  constructor(parts: StoreParts) {
    this.path = parts.path;
    this.#parts = parts;
    this.#sql = new Sql(parts.connection);
  }

  /** Runs `work` on one moment of the store. */
  read<T>(work: Work<T>): Promise<T> {
    return this.#enqueue(this.#reads, work);
  }

  /**
   * Runs `work` in a transaction that takes the write lock at once; resolves after COMMIT. Throws `StoreBusy` when the
   * lock was not to be had in time or the disk is full: nothing was written.
   */
  write<T>(work: Work<T>): Promise<T> {
    return this.#enqueue(this.#writes, work);
  }

  /**
   * Runs work that goes through everything the store holds: in a transaction to itself, with more room for its pages, and with
   * files for what the engine remembers and sorts meanwhile, so that memory has a bound. It may wait for the next turn of the
   * event loop in between. The tables of another store, the file `beside`, are read as `beside.cards`.
   */
  writeLarge<T>(work: (sql: Sql) => T | Promise<T>, beside?: string): Promise<T> {
    return this.#enqueue(this.#large, work, beside);
  }

  /** Runs `work` outside of any transaction, as the engine wants it for some. Throws `StoreBusy` when it was busy too long. */
  outside<T>(work: (connection: Connection) => T): Promise<T> {
    return this.#enqueue(this.#outside, () => work(this.#parts.connection));
  }

  /** Copies one moment of the store into a new file. Throws `StoreBusy` when it cannot be read in time, or has no room. */
  async copyTo(path: string): Promise<void> {
    try {
      await this.outside(connection => void connection.prepare('vacuum into ?').get(path));
    } catch (error) {
      throw losesAll(error) ? new StoreBusy('there is no room for the copy', { cause: error }) : error;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const broken = this.#refusal !== undefined;
    this.#refusal ??= new Error('the store is closed');
    await this.#draining;
    this.#sql.clear();
    // Nothing is written to a disk that just failed.
    if (broken) this.#parts.connection.close();
    else closeConnection(this.#parts.connection, this.path);
  }

  #enqueue<T>(jobs: Job[], work: (sql: Sql) => unknown, beside?: string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#refusal !== undefined) return reject(this.#refusal);
      const deadline = this.#parts.clock.monotonic() + (this.#parts.patience ?? PATIENCE);
      jobs.push({ work, resolve, reject, deadline, beside });
      this.#draining ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    do {
      // Lets every request that arrived in this turn of the event loop join.
      await nextTurn();
      await this.#readAll(this.#reads.splice(0));
      for (const { work, resolve, reject, deadline } of this.#outside.splice(0)) {
        await this.#patiently(deadline, () => work(this.#sql)).then(value => resolve(value as never), reject);
      }
      await this.#gather();
      if (this.#writes.length > 0) await this.#writeBatch();
      for (const job of this.#large.splice(0, 1)) await this.#writeLarge(job);
    } while (this.#reads.length + this.#writes.length + this.#large.length + this.#outside.length > 0);
    this.#draining = undefined;
  }

  /** Reads of one turn share a transaction; those that met a busy store are tried again until their time is over. */
  async #readAll(jobs: readonly Job[]): Promise<void> {
    for (let left = jobs; left.length > 0; ) {
      const again: Job[] = [];
      for (const job of left) {
        try {
          if (!this.#parts.connection.isTransaction) this.#sql.begin('read');
          job.resolve(job.work(this.#sql) as never);
        } catch (error) {
          if (!isBusy(error)) job.reject(error);
          else if (this.#parts.clock.monotonic() < job.deadline) again.push(job);
          else job.reject(stillBusy(error));
        }
      }
      this.#sql.rollback();
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

  async #writeBatch(): Promise<void> {
    if (!(await this.#begin())) return;
    const batch = this.#writes.splice(0, LARGEST_BATCH);
    const settle: (() => void)[] = [];
    try {
      for (const job of batch) {
        try {
          const value = this.#sql.undoable(() => job.work(this.#sql));
          settle.push(() => job.resolve(value as never));
        } catch (error) {
          // Nobody may go on in this transaction.
          if (endsTransaction(error) || !this.#parts.connection.isTransaction) throw couldNotTake(error);
          settle.push(() => job.reject(error));
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

  /** Where the engine keeps what statements remember is asked when a transaction begins. */
  async #writeLarge({ work, resolve, reject, deadline, beside }: Job): Promise<void> {
    const { connection, clock, patience = PATIENCE } = this.#parts;
    connection.exec(`pragma temp_store = file; pragma cache_size = -${KIB_FOR_LARGE}`);
    try {
      if (this.#refusal instanceof StoreBroken) throw this.#refusal;
      if (beside !== undefined) connection.prepare('attach ? as beside').get(beside);
      try {
        await this.#patiently(deadline, () => this.#sql.begin('write'));
        const value = await work(this.#sql);
        // How long the work took is no reason to give up its end.
        await this.#commit(clock.monotonic() + patience);
        resolve(value as never);
      } finally {
        this.#undo();
        if (beside !== undefined && !connection.isTransaction) connection.exec('detach beside');
      }
    } catch (error) {
      reject(endsTransaction(error) ? couldNotTake(error) : error);
    }
    connection.exec(`pragma temp_store = memory; pragma cache_size = -${KIB_OF_PAGES}`);
  }

  /** What was written in the open transaction, if there is one. Nothing is written to a disk that just failed. */
  #undo(): void {
    if (!(this.#refusal instanceof StoreBroken)) this.#sql.rollback();
  }

  /** Takes the write lock; false when everybody who waited for it gave up. The first job is the first that does. */
  async #begin(): Promise<boolean> {
    for (let [first] = this.#writes; first !== undefined; [first] = this.#writes) {
      try {
        if (this.#refusal instanceof StoreBroken) throw this.#refusal;
        this.#sql.begin('write');
        return true;
      } catch (error) {
        if (isBusy(error) && this.#parts.clock.monotonic() < first.deadline) await this.#pause();
        else this.#writes.shift()?.reject(endsTransaction(error) ? stillBusy(error) : error);
      }
    }
    return false;
  }

  async #commit(deadline: number): Promise<void> {
    try {
      await this.#patiently(deadline, () => this.#sql.commit());
    } catch (error) {
      if (error instanceof StoreBusy || leftNothing(error)) {
        this.#sql.rollback();
        throw isFull(error) ? new StoreBusy('the disk is full', { cause: error }) : error;
      }
      const broken = new StoreBroken('a commit failed; whether it lasted is not known', { cause: error });
      this.#refusal = broken;
      this.#parts.onBroken?.(broken);
      throw broken;
    }
  }

  async #patiently<T>(deadline: number, step: () => T): Promise<T> {
    for (;;) {
      try {
        return step();
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (this.#parts.clock.monotonic() >= deadline) throw stillBusy(error);
        await this.#pause();
      }
    }
  }

  #pause(): Promise<void> {
    return this.#parts.clock.sleep(between(this.#parts.random, 2, 20));
  }
}

const stillBusy = (cause: unknown) => new StoreBusy('the store is busy', { cause });
const couldNotTake = (cause: unknown) => new StoreBusy('the store could not take the write', { cause });
