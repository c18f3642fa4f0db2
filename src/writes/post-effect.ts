/** A failure of ours after the service has done something: it says so first, whatever its own words are. */
import { CliError } from '../core/errors.ts';

/** `what` failed after `operation` was done: exit 15 with `outcome: done`. Returns the error to throw; a thrown value that is no `CliError` is returned unchanged. */
export function afterwards(thrown: unknown, operation: string, what: string, op?: string): unknown {
  if (!(thrown instanceof CliError)) return thrown;
  return new CliError('check_failed', {
    message: `${operation} is done, but ${what}: ${thrown.message}`,
    notes: ['Do not run the command again: look at what it did.'],
    hint: op === undefined ? 'cardwright ops list' : `cardwright ops show ${op}`,
    outcome: 'done',
    operation,
    ...(op !== undefined && { op }),
    cause: thrown,
  });
}
