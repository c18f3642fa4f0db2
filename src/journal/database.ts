/**
 * The seam between the journal and the engine that keeps it. Two engines implement it, `sqlite.ts` and `postgres.ts`; no
 * rule above it asks which one it has. Statements are the SQL that both engines take; `sql` puts values where they are used.
 *
 * What an engine guarantees:
 * - A transaction that resolves is on the disk. One that rejects has left nothing behind, unless it rejects with
 *   `outcome_unknown` (the connection broke within COMMIT); callers repeat only work that may be repeated.
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

/** A statement, or a part of one, with its values: `texts` are what stands before, between and behind them. */
export interface Sql {
  readonly texts: readonly string[];
  readonly values: readonly SqlValue[];
}

type Part = SqlValue | undefined | Sql | readonly SqlValue[];

const isSql = (part: Part): part is Sql => typeof part === 'object' && part !== null && 'texts' in part;

/** A statement with values in it: an array is a list of them, undefined is null, and a part is put in as it is. */
export function sql(strings: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  if (!parts.some(part => typeof part === 'object' && part !== null))
    return { texts: strings, values: parts.map(part => (part as SqlValue | undefined) ?? null) };
  const [texts, values]: [string[], SqlValue[]] = [[strings[0] ?? ''], []];
  for (const [index, part = null] of parts.entries()) {
    const list = Array.isArray(part) && part.length > 0 ? part : [Array.isArray(part) ? null : part];
    const { texts: within, values: more } = isSql(part)
      ? part
      : { texts: ['', ...list.slice(1).fill(', '), ''], values: list as readonly SqlValue[] };
    texts.push(`${texts.pop()}${within[0]}`, ...within.slice(1));
    texts.push(`${texts.pop()}${strings[index + 1]}`);
    values.push(...more);
  }
  return { texts, values };
}

/** The text of a statement; `place` names the nth value, from 1. */
export function textOf({ texts }: Sql, place: (nth: number) => string): string {
  return texts.map((text, nth) => (nth === 0 ? text : `${place(nth)}${text}`)).join('');
}

/** One transaction. Not to be used after its work has ended. */
export interface Transaction {
  /** Rows of a query, or of a statement with `returning`. */
  all<Row = SqlRow>(statement: string | Sql): Promise<readonly Row[]>;
  /** Resolves to the number of rows that were changed. */
  run(statement: string | Sql): Promise<number>;
  /** Many rows of one table: `insert('change', ['op', 'n'], rows)`. The engine chooses how many go in a statement. */
  insert(table: string, columns: readonly string[], rows: Iterable<readonly SqlValue[]>): Promise<void>;
  /** ms UTC by the clock of the store: of this machine for a file, of the server for a database. */
  now(): Promise<number>;
}

export type Reading = Pick<Transaction, 'all' | 'now'>;

export interface Database {
  /** Random value that it was made with: salt of the prints of keys on one machine. */
  readonly id: string;
  /** Several machines may use it: leases decide who works on an op, and keys are listed. */
  readonly isShared: boolean;
  /** For a person: path of the file, or address of the database without a password. */
  readonly shown: string;
  /** Behind a `select` of a row that is kept from others until the transaction ends; empty where a transaction locks all. */
  readonly lock: Sql;
  /** One transaction that may write. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * A small write that may share its commit with others of the same turn. Resolves when it is on the disk; with `soon` when others
   * can read it: the next commit, or the closing, takes it to the disk, and a power cut before it alone can lose it.
   */
  grouped<T>(work: (tx: Transaction) => Promise<T>, durability?: 'soon'): Promise<T>;
  /** Reads one state of the database; writes nothing and waits for nobody. */
  read<T>(work: (tx: Reading) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A work that waits for its transaction. */
export interface Job {
  readonly kind: 'alone' | 'grouped' | 'read';
  readonly isSoon: boolean;
  run(tx: Transaction): Promise<unknown>;
  resolve(value: never): void;
  reject(thrown: unknown): void;
}

/** An engine that takes one transaction at a time; grouped works of one turn share one. */
export abstract class QueuedDatabase implements Database {
  id = '';
  abstract readonly isShared: boolean;
  abstract readonly lock: Database['lock'];
  abstract readonly shown: string;
  readonly #queue: Job[] = [];
  #draining: Promise<void> | undefined;

  /** One transaction of one job, or of several grouped ones. Resolves, when it is on the disk, to what each came to. */
  protected abstract commit(jobs: readonly Job[]): Promise<readonly unknown[]>;
  /** Whether nothing is left of a transaction that failed, and a smaller one may succeed. */
  protected abstract maySplit(thrown: unknown): boolean;
  /** An error of the engine in the user's words; anything else as it is. */
  protected abstract inWords(thrown: unknown): unknown;
  abstract close(): Promise<void>;

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#queued('alone', work);
  }

  grouped<T>(work: (tx: Transaction) => Promise<T>, durability?: 'soon'): Promise<T> {
    return this.#queued('grouped', work, durability === 'soon');
  }

  read<T>(work: (tx: Reading) => Promise<T>): Promise<T> {
    return this.#queued('read', work);
  }

  /** Resolves when what was asked for has ended. */
  protected async ended(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  #queued<T>(kind: Job['kind'], run: (tx: Transaction) => Promise<T>, isSoon = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ kind, isSoon, run, resolve, reject });
      // What else this turn wants to write joins it.
      this.#draining ??= new Promise(drained => setImmediate(() => void this.#drain().then(drained)));
    });
  }

  async #drain(): Promise<void> {
    for (let job = this.#queue[0]; job !== undefined; job = this.#queue[0]) {
      let count = 1;
      if (job.kind === 'grouped') while (this.#queue[count]?.kind === 'grouped') count += 1;
      await this.#settle(this.#queue.splice(0, count));
    }
    this.#draining = undefined;
  }

  async #settle(jobs: readonly Job[]): Promise<void> {
    try {
      const values = await this.commit(jobs);
      for (const [index, job] of jobs.entries()) job.resolve(values[index] as never);
    } catch (thrown) {
      // Each has a transaction of its own then, and the one that throws is taken back alone.
      if (jobs.length > 1 && this.maySplit(thrown)) for (const job of jobs) await this.#settle([job]);
      else for (const job of jobs) job.reject(this.inWords(thrown));
    }
  }
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
    id: '',
    isShared: false,
    shown: '',
    lock: sql``,
    transaction: work => work(tx),
    grouped: work => work(tx),
    read: work => work(tx),
    close: async () => undefined,
  };
}
