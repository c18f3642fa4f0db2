/**
 * Transactions of one account on PostgreSQL. Whoever writes holds the lock of the account's own row, so that one account
 * has one writer whatever the number of processes; writes that wait for it share a transaction (docs/design/sandbox.md,
 * section 11).
 */

import type { Clock, Randomness } from '../../../platform/host.ts';
import { between } from '../../../platform/jitter.ts';
import type { PostgresPipeline } from '../../../postgres/client.ts';
import { CommitUnknown, endsTransaction, StatementRefused } from '../faults.ts';
import { AccountGone, type Manner, type Sql, type Store, StoreBusy, type WantedRow } from '../sql.ts';
import type { Connections } from './connect.ts';
import { busy, commitFailure, endsConnection, isLockTaken } from './errors.ts';
import { checkSchemaNumber } from './migrate.ts';
import { type Hints, Transaction } from './statements.ts';

export interface AccountParts {
  readonly account: string;
  /** Of the tables. */
  readonly schema: string;
  readonly connections: Connections;
  readonly mayPrepare: boolean;
  readonly clock: Clock;
  readonly random: Randomness;
  /** Told the time of the server each time it is read, ms UTC. */
  readonly onServerTime: (now: number) => void;
}

/** A piece of work that waits for the account. */
interface Job {
  readonly work: (sql: Sql) => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly isRepeatable: boolean;
  readonly asks: readonly WantedRow[];
  /** When it came, on the monotonic clock. */
  readonly since: number;
}

const LARGEST_BATCH = 64;
/** How long the lock is waited for, ms: less than the 30 s our client waits for a read. */
const LOCK_PATIENCE = 25_000;
/** How often works are looked at that wait behind a large one of this process, ms. */
const LOOK_EVERY = 1_000;
/** How long a connection waits for it, ms: then it serves another account first. */
const LOCK_MS = 500;
/**
 * How long a server may stand still within a transaction, ms: it keeps its account locked, and the database ends that. Between
 * two of its statements there is the disk of a server at most.
 */
const STANDS_STILL_MS = 15_000;
/** How long a server that is not there is asked again, ms; nothing has begun then. */
const PATIENCE = 5_000;

/** What others than a superuser may have set so that a COMMIT is answered before it lasts. */
const LASTING =
  "case when current_setting('synchronous_commit') in ('off', 'local') then 'on' else current_setting('synchronous_commit') end";
const SETTINGS = `select set_config('search_path', ?, true), set_config('cardwright.account', ?, true),
  set_config('lock_timeout', '${LOCK_MS}', true), set_config('synchronous_commit', ${LASTING}, true),
  set_config('idle_in_transaction_session_timeout', '${STANDS_STILL_MS}', true)`;
const LOCK = 'select account_id from accounts where account_id = ? for update';
/** Asked once the lock is held: in one statement with it the time would be that before the wait. */
const FACTS = `select cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint) as now, schema_number, generation
  from store_schema left join accounts on account_id = ?`;
const BEGIN = {
  read: 'begin isolation level repeatable read read only',
  write: 'begin isolation level read committed',
};

export class AccountStore implements Store {
  readonly path: string;
  readonly #parts: AccountParts;
  readonly #writes: Job[] = [];
  readonly #large: Job[] = [];
  readonly #reads: Job[] = [];
  /** What the last transaction asked that the next one will ask too. */
  #hints: Hints = {};
  #writing: Promise<void> | undefined;
  readonly #reading = new Set<Promise<void>>();
  #isLookingForReads = false;
  #isClosed = false;

  constructor(parts: AccountParts) {
    // Whoever has an account is told nothing of the database.
    this.path = parts.account;
    this.#parts = parts;
  }

  read<T>(work: (sql: Sql) => Promise<T>, how?: 'large'): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#isClosed) return reject(new Error('the store is closed'));
      const job: Job = { work, resolve, reject, isRepeatable: true, asks: [], since: 0 };
      if (how === 'large') return this.#readUntilDone(this.#readAlone(job));
      this.#reads.push(job);
      if (!this.#isLookingForReads) this.#readSoon();
    });
  }

  write<T>(work: (sql: Sql) => Promise<T>, how?: Manner, asks: readonly WantedRow[] = []): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#isClosed) return reject(new Error('the store is closed'));
      const jobs = how === 'large' ? this.#large : this.#writes;
      const since = this.#parts.clock.monotonic();
      const done = how === 'large' ? plannedForMany(work) : work;
      jobs.push({ work: done, resolve, reject, isRepeatable: how === 'repeatable', asks, since });
      this.#writing ??= this.#drain();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    await Promise.all(this.#reading);
  }

  /** Reads of one turn see one moment; those that come later do not wait for them. */
  #readSoon(): void {
    this.#isLookingForReads = true;
    this.#readUntilDone(this.#readBatch());
  }

  #readUntilDone(batch: Promise<void>): void {
    const reading = batch.finally(() => this.#reading.delete(reading));
    this.#reading.add(reading);
  }

  /** Of a large one nobody else waits for the end. */
  async #readAlone(job: Job): Promise<void> {
    const connection = await this.#connection().catch((error: unknown) => job.reject(busy(error)));
    if (connection === undefined) return;
    try {
      await this.#readSome(connection, [job], FOR_MANY);
    } finally {
      this.#parts.connections.give(connection);
    }
  }

  async #readBatch(): Promise<void> {
    await turn();
    const connection = await this.#connection().catch((error: unknown) => {
      this.#isLookingForReads = false;
      for (const job of this.#reads.splice(0)) job.reject(busy(error));
    });
    this.#isLookingForReads = false;
    const jobs = this.#reads.splice(0);
    if (connection === undefined) return;
    try {
      for (let left = jobs; left.length > 0; ) left = await this.#readSome(connection, left);
    } finally {
      this.#parts.connections.give(connection);
    }
  }

  /** Until one fails whose failure ends the transaction; resolves to those that are left. `first` is sent before them. */
  async #readSome(connection: PostgresPipeline, jobs: readonly Job[], first: readonly string[] = []): Promise<Job[]> {
    const { mayPrepare } = this.#parts;
    const transaction = new Transaction({ connection, access: 'read', mayPrepare });
    const left = [...jobs];
    try {
      await this.#begin(transaction, 'read');
      for (const text of first) await transaction.send(text);
    } catch (error) {
      for (const job of left) job.reject(error instanceof StoreBusy ? error : busy(error));
      await undo(transaction);
      return [];
    }
    for (let job = left.shift(); job !== undefined; job = left.shift()) {
      const { work, resolve, reject } = job;
      const { sql, end } = transaction.open();
      await work(sql)
        .then(value => resolve(value as never))
        .catch((error: unknown) => reject(endsTransaction(error) ? busy(error) : error))
        .finally(end);
      if (transaction.failure !== undefined) break;
    }
    void undo(transaction);
    if (connection.alive) return left;
    for (const job of left) job.reject(busy(transaction.failure));
    return [];
  }

  async #drain(): Promise<void> {
    do {
      // Lets every request that arrived in this turn of the event loop join.
      await turn();
      await this.#gather();
      if (this.#writes.length > 0) await this.#writeOnce(this.#writes, LARGEST_BATCH);
      if (this.#large.length > 0) await this.#refusingLate(this.#writeOnce(this.#large, 1));
    } while (this.#writes.length + this.#large.length > 0);
    this.#writing = undefined;
  }

  /** Refuses works that have waited as long for a large one of this process as they would for one of another process. */
  async #refusingLate(large: Promise<void>): Promise<void> {
    const { clock } = this.#parts;
    const over = new AbortController();
    const done = large.finally(() => over.abort());
    for (;;) {
      await Promise.race([done, clock.sleep(LOOK_EVERY, over.signal).catch(() => undefined)]);
      await turn();
      if (over.signal.aborted) break;
      const latest = clock.monotonic() - LOCK_PATIENCE;
      while (this.#writes[0] !== undefined && this.#writes[0].since <= latest)
        this.#writes.shift()?.reject(new StoreBusy('a large change of the account is under way'));
    }
    await done;
  }

  /** Waits while every turn brings more writes: those who were answered together ask again one after the other. */
  async #gather(): Promise<void> {
    for (let before = 0; before < this.#writes.length && this.#writes.length < LARGEST_BATCH; ) {
      before = this.#writes.length;
      await turn();
    }
  }

  /** One transaction of waiting works: at most `most`, those that came while the lock was waited for among them. */
  async #writeOnce(jobs: Job[], most: number): Promise<void> {
    const { connections, mayPrepare } = this.#parts;
    let connection: PostgresPipeline;
    let transaction: Transaction;
    try {
      ({ connection, transaction } = await this.#locked(jobs));
    } catch (error) {
      for (const job of jobs.splice(0)) job.reject(error instanceof StoreBusy ? error : busy(error));
      return;
    }
    const batch = jobs.splice(0, most);
    // Of those too that came while the lock was waited for.
    void transaction.ask(asksOf(batch));
    try {
      let settle = await this.#tryTogether(transaction, batch);
      if (settle === undefined) {
        // Nobody's failure is another's: from the start, each of them in its savepoint.
        await undo(transaction);
        transaction = new Transaction({ connection, access: 'write', mayPrepare });
        await this.#begin(transaction, 'write', batch);
        settle = await this.#runApart(transaction, batch);
        await commit(transaction);
      }
      this.#hints = transaction.hints;
      for (const done of settle) done();
    } catch (error) {
      if (!(error instanceof CommitUnknown)) await undo(transaction);
      const told = endsTransaction(error) ? busy(error) : error;
      for (const job of batch) job.reject(told);
    } finally {
      connections.give(connection);
    }
  }

  /** Undefined when a statement of one of several was refused: then nothing of any of them has happened. */
  async #tryTogether(transaction: Transaction, batch: readonly Job[]): Promise<(() => void)[] | undefined> {
    const isAlone = batch.length === 1;
    try {
      const mayShare = isAlone || batch.every(job => job.isRepeatable);
      const settle = await (mayShare ? this.#runTogether(transaction, batch) : this.#runApart(transaction, batch));
      if (settle !== undefined) await commit(transaction);
      return settle;
    } catch (error) {
      if (isAlone || !(error instanceof StatementRefused)) throw error;
      return undefined;
    }
  }

  /** A transaction that holds the lock of the account. A server that is away, or a lock, is asked again: nothing has begun. */
  async #locked(
    jobs: readonly Job[],
  ): Promise<{ readonly connection: PostgresPipeline; readonly transaction: Transaction }> {
    const { connections, mayPrepare, clock, random } = this.#parts;
    const begun = clock.monotonic();
    for (;;) {
      const connection = await this.#connection();
      const transaction = new Transaction({ connection, access: 'write', mayPrepare });
      try {
        await this.#begin(transaction, 'write', jobs);
        return { connection, transaction };
      } catch (error) {
        await undo(transaction);
        connections.give(connection);
        const patience = isLockTaken(error) ? LOCK_PATIENCE : connection.alive ? 0 : PATIENCE;
        if (this.#isClosed || clock.monotonic() - begun >= patience) throw error;
        if (!connection.alive) await clock.sleep(between(random, 20, 200));
      }
    }
  }

  async #connection(): Promise<PostgresPipeline> {
    const { connections, clock, random } = this.#parts;
    const until = clock.monotonic() + PATIENCE;
    for (;;) {
      try {
        return await connections.take();
      } catch (error) {
        if (this.#isClosed || !endsConnection(error) || clock.monotonic() >= until) throw error;
        await clock.sleep(between(random, 20, 200));
      }
    }
  }

  /** Begins, and takes the lock to write: all in one packet, with what the last transaction asked first and jobs ask for. */
  async #begin(transaction: Transaction, access: 'read' | 'write', jobs: readonly Job[] = []): Promise<void> {
    const { account, schema, onServerTime } = this.#parts;
    const steps = [transaction.send(BEGIN[access]), transaction.send(SETTINGS, schema, account)];
    if (access === 'write') steps.push(transaction.send(LOCK, account));
    const { statements = [], rows = [] } = access === 'write' ? this.#hints : {};
    const hints = { statements, rows: [...rows, ...(asksOf(jobs).rows ?? [])] };
    const facts = transaction.ask(hints, { text: FACTS, values: [account] });
    const [[row]] = await Promise.all([facts, ...steps]);
    checkSchemaNumber(row?.['schema_number']);
    const generation = row?.['generation'] ?? null;
    // The one without a name is nobody's: what is read of it is nothing.
    if (generation === null && account !== '') throw new AccountGone(`the account ${account} was removed`);
    transaction.generation = Number(generation ?? 0);
    onServerTime(Number(row?.['now']));
  }

  /**
   * Runs works without savepoints. Resolves to undefined when one of them has to be undone alone, or may not be repeated:
   * an error of a statement ends the whole transaction here.
   */
  async #runTogether(transaction: Transaction, batch: readonly Job[]): Promise<(() => void)[] | undefined> {
    const isAlone = batch.length === 1;
    const settle: (() => void)[] = [];
    for (const job of batch) {
      const { sql, end } = transaction.open();
      try {
        const value = await job.work(sql);
        settle.push(() => job.resolve(value as never));
      } catch (error) {
        if (isAlone || endsTransaction(error)) throw error;
        if (sql.written() > 0 || transaction.failure !== undefined) return undefined;
        settle.push(() => job.reject(error));
      } finally {
        end();
      }
      if (transaction.failure !== undefined && !isAlone) return undefined;
    }
    return settle;
  }

  async #runApart(transaction: Transaction, batch: readonly Job[]): Promise<(() => void)[]> {
    const settle: (() => void)[] = [];
    for (const job of batch) {
      const { sql, end } = transaction.open();
      transaction.flush();
      void transaction.send('savepoint work').catch(() => undefined);
      try {
        const value = await job.work(sql);
        transaction.flush();
        await transaction.send('release work');
        settle.push(() => job.resolve(value as never));
      } catch (error) {
        if (endsTransaction(error)) throw error;
        transaction.undone();
        await transaction.send('rollback to work');
        await transaction.send('release work');
        settle.push(() => job.reject(error));
      } finally {
        end();
      }
    }
    return settle;
  }
}

/**
 * Within a transaction nothing tells the database that a table has grown, and for a minute nothing does behind it: plans made
 * for a small one go through all of it for each row, those of foreign keys among them, and joins go through all of it for each
 * row of the other one. What is avoided so is given such a cost that every plan would be compiled.
 */
const FOR_MANY: readonly string[] = [
  `select set_config('enable_seqscan', 'off', true), set_config('enable_nestloop', 'off', true),
  set_config('jit', 'off', true)`,
  'discard plans',
];

function plannedForMany<T>(work: (sql: Sql) => Promise<T>): (sql: Sql) => Promise<T> {
  return async sql => {
    for (const text of FOR_MANY) await sql.put(text);
    return work(sql);
  };
}

function asksOf(jobs: readonly Job[]): Hints {
  return { rows: jobs.slice(0, LARGEST_BATCH).flatMap(({ asks }) => asks) };
}

/** Sends what waits and the end in one packet. Throws the first failure of the transaction, or `CommitUnknown`. */
async function commit(transaction: Transaction): Promise<void> {
  transaction.flush();
  const { command } = await transaction.send('commit').catch((error: unknown) => {
    throw commitFailure(error instanceof Error && error.cause !== undefined ? error.cause : error);
  });
  if (command !== 'COMMIT') throw transaction.failure ?? new Error(`the transaction ended with ${command}`);
}

/** Ends a transaction of which nothing is to last. */
async function undo(transaction: Transaction): Promise<void> {
  await transaction.send('rollback').catch(() => undefined);
}

const turn = () => new Promise(resolve => setImmediate(resolve));
