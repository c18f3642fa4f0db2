/**
 * The error kinds, their exit codes and what a script may conclude. This table is the only place that maps
 * a failure to an exit code; help, `explain`, the JSON error and the tests are derived from it.
 */
import { type Values, withoutUndefined } from './objects.ts';

interface KindRow {
  readonly exit: number;
  readonly means: string;
  /** A script may run the very same command again without looking first. */
  readonly retryable?: true;
}

export const ERROR_KINDS = {
  internal: { exit: 1, means: 'A bug in cardwright.' },
  usage: { exit: 2, means: 'Wrong command line, or a value outside of a documented limit. Nothing was sent.' },
  not_confirmed: {
    exit: 3,
    means: 'Not confirmed: declined, or nobody could be asked. Nothing was sent.',
  },
  not_authenticated: { exit: 4, means: 'No key, or the service answered 401 or 403.' },
  not_found: { exit: 5, means: 'The service does not know this card, BIN or subscription.' },
  refused: { exit: 6, means: 'The service refused it: a state conflict or a validation error.' },
  rate_limited: { exit: 7, means: 'The service still limited the rate after all retries.', retryable: true },
  wait_expired: { exit: 8, means: 'The wait ended before the condition was met.' },
  partly_failed: { exit: 9, means: 'A run of many rows ended; some rows failed, none is unknown.' },
  insufficient_funds: {
    exit: 10,
    means: 'The wallet does not hold enough money. Nothing changed.',
  },
  outcome_unknown: {
    exit: 11,
    means: 'Sent, but no trustworthy answer came: it may or may not have happened. Find out before you repeat it.',
  },
  unreachable: {
    exit: 12,
    means: 'The service could not be reached, or a read failed after all retries. Nothing was changed.',
    retryable: true,
  },
  contract_mismatch: { exit: 13, means: 'The answer of the service lacks required data.' },
  guarded: {
    exit: 14,
    means:
      'A guard refused it: live key without --live, spend limit, key of another address, journal that cannot be written. Nothing was sent.',
  },
  check_failed: {
    exit: 15,
    means:
      'A check failed: bad signature, broken audit chain, damaged journal or store, doctor. Or the answer could not be written to standard output.',
  },
  differs: { exit: 16, means: 'What is there differs from what is wanted. Nothing was sent.' },
  pending_approval: {
    exit: 17,
    means: 'Held until other persons have approved it. Nothing was sent.',
  },
  interrupted: { exit: 130, means: 'Stopped by Ctrl-C (SIGINT).' },
  terminated: { exit: 143, means: 'Stopped by SIGTERM.' },
} as const satisfies Record<string, KindRow>;

export type ErrorKind = keyof typeof ERROR_KINDS;

/** What is known about the effect of the asked-for operation. */
export type Outcome = 'not_sent' | 'refused' | 'unknown' | 'done';

/** The service's own error, verbatim (interface 2.7). Never replaced by our words, always shown beside them. */
export interface ServiceRefusal {
  readonly error?: string;
  readonly message?: string;
  readonly code?: number;
  readonly request_id?: string;
}

export interface ErrorFacts {
  /** What failed, in the user's own numbers. One line. */
  readonly message: string;
  /** The next command to run, complete and copyable. */
  readonly hint?: string;
  /** More lines for a person, between the message and the hint. Not part of the JSON error. */
  readonly notes?: readonly string[];
  readonly outcome?: Outcome;
  /** Operation name of the contract, for example `cards.fund`. */
  readonly operation?: string;
  readonly httpStatus?: number;
  readonly service?: ServiceRefusal;
  readonly idempotencyKey?: string;
  /** Journal id of the operation. */
  readonly op?: string;
  /** An unknown outcome: what was asked, sent, looked at and concluded; the same facts as the notes. */
  readonly evidence?: Values;
  /** Every fault of a file, as the user called it, each with its place; lines and columns from 1. */
  readonly faults?: readonly Readonly<Record<'file' | 'text', string> & Record<'line' | 'column', number>>[];
  /** A request that waits for other persons: how many must agree and have, until when, the bytes that are signed, and what they say. */
  readonly approval?: Values;
  /** Our own word for why, such as the name of a limit; for the audit log, where the service said none. */
  readonly reason?: string;
  /** How long the service asked us to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/**
 * The one error a user may see. Everything thrown on purpose is a `CliError`; anything else that reaches the
 * top is reported as `internal` with exit 1.
 */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly kind: ErrorKind;
  readonly facts: ErrorFacts;

  constructor(kind: ErrorKind, facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = kind;
    this.facts = facts;
  }

  get exitCode(): number {
    return ERROR_KINDS[this.kind].exit;
  }

  /** A copy with more facts, for a caller that knows more than the thrower. */
  with(more: Partial<ErrorFacts>): CliError {
    return new CliError(this.kind, { ...this.facts, ...more });
  }
}

/** A refusal before anything was sent; `more` is the next command to run, or more facts. */
export function notSent(
  kind: ErrorKind,
  message: string,
  more: string | Omit<ErrorFacts, 'message' | 'outcome'> = {},
): CliError {
  return new CliError(kind, { message, outcome: 'not_sent', ...(typeof more === 'string' ? { hint: more } : more) });
}

/** A wrong command line, or a value that cannot be meant: exit 2. `hint` is the next command to run. */
export function usage(message: string, hint?: string): CliError {
  return notSent('usage', message, hint ?? {});
}

/** Standard output took nothing more, for another reason than a reader that left. */
export class OutputError extends CliError {}

/** Any thrown value as a `CliError`; what is not one of ours is a bug and says so. */
export function asCliError(thrown: unknown): CliError {
  if (thrown instanceof CliError) return thrown;
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  if (code === 'EMFILE' || code === 'ENFILE')
    return new CliError('guarded', {
      message: 'the system gives this process no more open files',
      notes: ['What had begun before this is in the journal: cardwright ops list'],
      hint: 'ulimit -n 1024',
      cause: thrown,
    });
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new CliError('internal', { message: `unexpected: ${text}`, cause: thrown });
}

/** The JSON error object of docs/design/cli.md, "Errors". Keys that do not apply are left out. */
export function errorDocument(error: CliError): { error: Record<string, unknown> } {
  const { kind, facts } = error;
  const row: KindRow = ERROR_KINDS[kind];
  const parts: Record<string, unknown> = {
    kind,
    message: facts.message,
    hint: facts.hint,
    notes: facts.notes?.length ? facts.notes : undefined,
    exit_code: row.exit,
    retryable: row.retryable === true,
    outcome: facts.outcome,
    operation: facts.operation,
    http_status: facts.httpStatus,
    service: facts.service,
    idempotency_key: facts.idempotencyKey,
    op: facts.op,
    retry_after_ms: facts.retryAfterMs,
    evidence: facts.evidence,
    faults: facts.faults,
    approval: facts.approval,
  };
  return { error: withoutUndefined(parts) };
}

/** What a promise comes to; undefined where it fails with that kind. Every other failure is thrown. */
export async function undefinedOn<T>(kind: ErrorKind, promise: Promise<T>): Promise<T | undefined> {
  return promise.catch((thrown: unknown) => {
    if (thrown instanceof CliError && thrown.kind === kind) return undefined;
    throw thrown;
  });
}

/** Thrown in a dry run in place of sending; the run prints what was planned and ends with 0. */
export class DryRun extends Error {
  override readonly name = 'DryRun';
}
