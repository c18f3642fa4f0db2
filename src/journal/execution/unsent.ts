/** Outcomes of rows of which nothing was sent. */
import { CliError } from '../../core/errors.ts';
import { resolveCommand } from '../../core/row-words.ts';
import type { RowOutcome } from '../row-outcome.ts';
import type { RowHistory } from '../wal/replay.ts';
import { factsOf, recordedOutcome } from './outcome.ts';
import type { RowOwner, RunContext } from './run-context.ts';
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

/** Never sent, and another op has its name by now, or has the same change: that one is the purchase. The other rows go on. */
export function keptBack(context: RunContext, row: RowHistory, owner: RowOwner): RowOutcome {
  const { op } = context.plan;
  const { row: number } = row.item;
  const error = new CliError('guarded', {
    message: `${belongsTo(row, owner)}, so that it is not sent: it would make the purchase once more`,
    notes: [
      `Look at both. The other one: cardwright ops show ${owner.op}`,
      `This row did not happen: ${resolveCommand(op, [number], 'not-done')}`,
      ...(owner.begun === undefined ? [] : [`It happened: ${resolveCommand(op, [number], 'done')}`]),
    ],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
  });
  return { ...factsOf(row), outcome: 'not_sent', error: named(context, number, error), next: 'decide' };
}

function belongsTo({ item }: RowHistory, { op, begun }: RowOwner): string {
  if (begun !== undefined) return `the same change is in ${op}, ${begun}`;
  const { intent } = item;
  const what = intent === undefined ? 'its idempotency key' : `its intent ${JSON.stringify(intent)}`;
  return `${what} belongs to ${op}`;
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
