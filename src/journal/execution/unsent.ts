/** Outcomes of rows of which nothing was sent. */
import { CliError } from '../../core/errors.ts';
import type { RowOutcome } from '../row-outcome.ts';
import type { RowHistory } from '../wal/replay.ts';
import { factsOf, recordedOutcome } from './outcome.ts';
import type { RunContext } from './run-context.ts';
import type { Sending } from './step.ts';

export function unsent(context: RunContext, row: RowHistory, error: CliError | undefined): RowOutcome {
  const { item } = row;
  const reason =
    error ?? new CliError('unreachable', { message: `${item.operation} was not sent`, outcome: 'not_sent' });
  const limited = reason.kind === 'rate_limited';
  const failure = limited ? reason : reason.with({ outcome: 'not_sent' });
  return {
    ...factsOf(row),
    outcome: 'not_sent',
    error: named(context, item.row, failure),
    ...(['not_authenticated', 'guarded', 'usage', 'contract_mismatch'].includes(reason.kind) && { stops: true }),
  };
}

export function stopped(context: RunContext, number: number, { resent }: Sending): RowOutcome {
  const { reason } = context.stop as { reason: unknown };
  const row = context.row(number);
  if (resent) return recordedOutcome(row, context.plan) ?? unsent(context, row, undefined);
  return { ...unsent(context, row, reason instanceof CliError ? reason : undefined), stops: true };
}

/** The error with the op and the key of the row. */
export function named(context: RunContext, number: number, error: CliError): CliError {
  const { key } = context.row(number).item;
  return error.with({ op: context.plan.op, ...(key !== undefined && { idempotencyKey: key }) });
}
