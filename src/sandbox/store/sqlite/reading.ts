/** Reads of one turn of the event loop share a transaction. */

import type { Connection } from '../../../engine/connection.ts';
import { isBusy } from '../../../engine/faults.ts';
import type { Clock } from '../../../platform/host.ts';
import { type Sql, StoreBusy } from '../sql.ts';
import type { Statements } from './statements.ts';

/** A piece of work that waits for the one connection. */
export interface Job {
  readonly work: (sql: Sql) => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: number;
  readonly isRepeatable: boolean;
}

/** What reading needs of the queue. */
export interface Reading {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly statements: Statements;
  begin(): void;
  /** A moment between two tries. */
  pause(): Promise<void>;
}

/** Carries out all of them and then tells them; those that met a busy store again, until their time is over. */
export async function readAll(jobs: readonly Job[], reading: Reading): Promise<void> {
  const { connection, clock, statements, pause } = reading;
  for (let left = jobs; left.length > 0; ) {
    const again: Job[] = [];
    const settle: (() => void)[] = [];
    for (const job of left) {
      const done = await readOne(job, clock.monotonic(), reading);
      if (done === undefined) again.push(job);
      else settle.push(done);
    }
    if (connection.isTransaction) statements.exec('rollback');
    for (const done of settle) done();
    if (again.length > 0) await pause();
    left = again;
  }
}

/** Resolves to what is to be told once the transaction is over; undefined when it is worth another try. */
async function readOne(
  job: Job,
  now: number,
  { connection, statements, begin }: Reading,
): Promise<(() => void) | undefined> {
  const { sql, end } = statements.open('read');
  try {
    if (!connection.isTransaction) begin();
    const value = await job.work(sql);
    return () => job.resolve(value as never);
  } catch (error) {
    if (!isBusy(error)) return () => job.reject(error);
    return now < job.deadline ? undefined : () => job.reject(new StoreBusy('the store is busy', { cause: error }));
  } finally {
    end();
  }
}
