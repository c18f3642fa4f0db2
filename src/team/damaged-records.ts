/** Ops of a shared journal whose records nobody can read: how they are seen, and what an admin does about them. */
import { CliError } from '../core/errors.ts';
import { decodeLines } from '../journal/wal/codec.ts';
import type { StoredRecord } from '../journal/wal/records.ts';
import { historyOf } from '../journal/wal/replay.ts';
import type { Statements } from './statements.ts';

const PAGE = 1000;

/** What an admin of the journal runs in its database when it is known what the op has done. */
export function sqlForDamaged(account: string, op: string): string {
  return `select cardwright.set_aside('${account}', '${op}', true, 'why');`;
}

/** The end of a sentence that begins with "When you know what it has done,". */
export function wordsForDamaged(account: string, op: string): string {
  return `an admin of the shared journal sets it aside in the database (false in place of true where nothing was done): ${sqlForDamaged(account, op)}`;
}

/** The records of an op, or the error that says what of them is damaged. */
export function recordsOrError(bytes: Uint8Array, op: string): readonly StoredRecord[] | CliError {
  try {
    const { written } = decodeLines(bytes, op);
    // Throws for what a newer cardwright has written.
    historyOf(written);
    return written;
  } catch (thrown) {
    if (thrown instanceof CliError) return thrown;
    throw thrown;
  }
}

/** Throws `check_failed` for an op that one machine could not read, finished or not: it would do all of that once more. */
export async function refuseDamaged(statements: Statements, account: string): Promise<void> {
  for (let skip = 0; ; skip += PAGE) {
    const heads = await statements.heads(account, { skip, most: PAGE });
    for (const { op, size } of heads) {
      const segments = await statements.readOp(account, op, 1);
      const records = recordsOrError(Buffer.concat(segments.map(({ bytes }) => bytes)), op);
      // What a former holder has brought later is counted nowhere.
      const counted = segments.reduce((all, { n, bytes }) => (n > 0 ? all + bytes.length : all), 0);
      if (records instanceof CliError || records[0]?.record.t !== 'PLAN' || counted !== size)
        throw notMoved(account, op);
    }
    if (heads.length < PAGE) return;
  }
}

function notMoved(account: string, op: string): CliError {
  return new CliError('check_failed', {
    message: `the records of ${op} in the shared journal are damaged, and one machine could not know what it has done; nothing was moved`,
    notes: [`When you know what it has done, ${wordsForDamaged(account, op)}`],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}

/** A look that is quick: what is in the way of others, and no more of it than that. */
const MOST = { ops: 20, bytes: 4 << 20 } as const;

/**
 * Ops that are not finished, that nobody works on and whose records are damaged. Not all are looked at where there are many, or
 * long ones: `journal check` reads everything.
 */
export async function damagedOps(statements: Statements, account: string): Promise<readonly string[]> {
  const heads = await statements.heads(account, { unfinished: true, most: MOST.ops });
  const damaged: string[] = [];
  for (const { op, size, lease_ms: leaseMs } of heads) {
    if (size > MOST.bytes || leaseMs > 0) continue;
    const bytes = Buffer.concat((await statements.readOp(account, op, 1)).map(segment => segment.bytes));
    if (recordsOrError(bytes, op) instanceof CliError) damaged.push(op);
  }
  return damaged;
}
