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

const HELD_BY_ACCOUNT = 'approval_rule';

/** A rule of the account holds a plan that asks nobody. */
export function pendingByAccount(rule: string): CliError {
  return new CliError('pending_approval', {
    message: `the rule ${rule} of the shared journal holds this until other persons have approved it`,
    reason: HELD_BY_ACCOUNT,
    hint: 'cardwright journal status',
    outcome: 'not_sent',
  });
}

export function isPendingByAccount(thrown: unknown): boolean {
  return thrown instanceof CliError && thrown.facts.reason === HELD_BY_ACCOUNT;
}

/** A request that stood until now. */
export function requestExpired(op: string): CliError {
  return new CliError('guarded', {
    message: `the request for ${op} has expired`,
    reason: 'approval_expired',
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
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
