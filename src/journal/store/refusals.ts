/** What every store says to whoever comes second. */
import { CliError } from '../../core/errors.ts';

/** `thrown` is how the store knows; what is no refusal is thrown on. */
export function opInUse(op: string, thrown: unknown): unknown {
  if (!(thrown instanceof CliError)) return thrown;
  return new CliError('guarded', {
    ...thrown.facts,
    message: `another process works on ${op}: ${thrown.message}`,
    hint: `cardwright ops show ${op}`,
    op,
  });
}

/** As `opInUse`, of a key of the caller's. */
export function keyInUse(key: string, thrown: unknown): unknown {
  if (!(thrown instanceof CliError)) return thrown;
  return new CliError('guarded', {
    message: `the idempotency key ${JSON.stringify(key)} is being used by another command right now`,
    notes: [thrown.message, 'When that command has ended, the same one says what became of it.'],
    hint: 'cardwright ops list',
    outcome: 'not_sent',
    idempotencyKey: key,
    cause: thrown,
  });
}

/** An op that waits for no approval: it was used, rejected or never held. */
export function notPending(op: string): CliError {
  return new CliError('guarded', {
    message: `${op} is not held for approval any longer`,
    reason: 'approval_used',
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}
