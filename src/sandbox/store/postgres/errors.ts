/** What an error of PostgreSQL means for the transaction it hit: by its SQLSTATE, and by when it came. */
import { PostgresRefusal } from '../../../postgres/refusal.ts';
import { CommitUnknown, StatementRefused, TransactionLost } from '../faults.ts';
import { StoreBusy } from '../sql.ts';

/**
 * The server cannot do this now: a lock that was not to be had (55P03), a statement that was stopped (57014), no room
 * (53), two transactions in each other's way (40001, 40P01), a server that has become one that only reads (25006).
 */
const BUSY = /^(?:55P03|57014|53\w{3}|40001|40P01|25006)$/;
/** The connection ends: the server stops (57P), or the protocol broke (08). */
const ENDING = /^(?:57P\w{2}|08\w{3})$/;
/** Said of every statement after one that failed. */
const AFTER_A_FAILURE = '25P02';

/** Whether this connection can be used again. */
export function endsConnection(error: unknown): boolean {
  return !(error instanceof PostgresRefusal) || ENDING.test(error.code);
}

/** Whether the same may succeed in a moment: nothing of it happened. */
export function mayPass(error: unknown): boolean {
  return endsConnection(error) || (error instanceof PostgresRefusal && BUSY.test(error.code));
}

/** Somebody else held what a transaction waited for. */
export function isLockTaken(error: unknown): boolean {
  return error instanceof TransactionLost && error.cause instanceof PostgresRefusal && error.cause.code === '55P03';
}

/** It only repeats that something before it failed. */
export function isAftermath(error: unknown): boolean {
  return error instanceof PostgresRefusal && error.code === AFTER_A_FAILURE;
}

/** What the work that ran the statement is told. */
export function failureOf(error: unknown): Error {
  if (mayPass(error)) {
    return new TransactionLost('the transaction is lost', { cause: error });
  }
  const { code, message } = error as PostgresRefusal;
  return new StatementRefused(code, message, { cause: error });
}

/** What those who wait for the end of a transaction are told, when its COMMIT failed. */
export function commitFailure(error: unknown): Error {
  if (endsConnection(error)) return new CommitUnknown('whether a commit lasted is not known', { cause: error });
  const failure = failureOf(error);
  return failure instanceof TransactionLost ? busy(failure) : failure;
}

/** Nothing of the work happened. */
export function busy(cause: unknown): StoreBusy {
  return new StoreBusy('the database could not take the work', { cause });
}
