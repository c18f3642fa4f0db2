/** Outcomes of rows of which nothing was sent. */
import { CliError } from '../../core/errors.ts';
import type { RowOutcome } from '../types.ts';
import type { RowHistory } from '../wal/replay.ts';
import { factsOf, toldOutcome } from './outcome.ts';
import type { Desk } from './run-context.ts';
import type { Sending } from './step.ts';

export function unsent(desk: Desk, row: RowHistory, error: CliError | undefined): RowOutcome {
  const { item } = row;
  const reason =
    error ?? new CliError('unreachable', { message: `${item.operation} was not sent`, outcome: 'not_sent' });
  const limited = reason.kind === 'rate_limited';
  const told = limited ? reason : reason.with({ outcome: 'not_sent' });
  return {
    ...factsOf(row),
    outcome: 'not_sent',
    error: named(desk, item.row, told),
    ...(['not_authenticated', 'guarded', 'usage'].includes(reason.kind) && { stops: true }),
  };
}

export function stopped(desk: Desk, number: number, { resent }: Sending): RowOutcome {
  const { reason } = desk.stop as { reason: unknown };
  const row = desk.row(number);
  if (resent) return toldOutcome(row, desk.plan) ?? unsent(desk, row, undefined);
  return { ...unsent(desk, row, reason instanceof CliError ? reason : undefined), stops: true };
}

/** The error with the op and the key of the row. */
export function named(desk: Desk, number: number, error: CliError): CliError {
  const { key } = desk.row(number).item;
  return error.with({ op: desk.plan.op, ...(key !== undefined && { idempotencyKey: key }) });
}
