/** Outcomes of rows from their records: for rows that another process, or an earlier moment, has settled. */
import { CliError } from '../../core/errors.ts';
import { cents } from '../../core/money.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { RowOutcome } from '../row-outcome.ts';
import type { PlanRecord } from '../wal/records.ts';
import { cardOf, type RowHistory } from '../wal/replay.ts';
import { byWhom } from './by-hand.ts';
import { unknownError } from './unknown-error.ts';

/** What every outcome of a row says. */
export function factsOf(row: RowHistory): Omit<RowOutcome, 'outcome'> {
  const { item, done, firstSent } = row;
  const amount = done?.amount ?? item.amount;
  // One form for all: a run makes one for each of its rows.
  return {
    row: item.row,
    cardId: cardOf(row),
    amount: amount === undefined ? undefined : cents(amount),
    last4: done?.last4 ?? firstSent?.before?.last4,
    requestId: done?.request_id,
  };
}

/** The outcome as the journal has it; undefined for an open row. */
export function recordedOutcome(row: RowHistory, plan: PlanRecord): RowOutcome | undefined {
  const facts = factsOf(row);
  switch (row.state) {
    case 'open':
      return undefined;
    case 'done':
      return {
        ...facts,
        outcome: 'done',
        changed: row.done?.changed ?? true,
        ...(row.done?.otherwise !== undefined && { error: otherwiseFrom(row, plan, row.done.otherwise) }),
        ...(row.duplicate && { cardId: row.duplicate.ids[0], duplicate: row.duplicate.ids }),
      };
    case 'refused':
      return { ...facts, outcome: 'refused', error: errorFrom(row, plan) };
    case 'not_sent':
      return { ...facts, outcome: 'not_sent', error: errorFrom(row, plan) };
    case 'unknown':
      return { ...facts, outcome: 'unknown', error: recordedUnknown(row, plan) };
  }
}

function otherwiseFrom({ item, done }: RowHistory, { op }: PlanRecord, message: string): CliError {
  const hint = done?.id === undefined ? {} : { hint: `cardwright cards get ${shellWord(done.id)}` };
  return new CliError('contract_mismatch', { operation: item.operation, message, outcome: 'done', op, ...hint });
}

export function recordedUnknown(row: RowHistory, plan: PlanRecord): CliError {
  const { doubt } = row;
  return unknownError({
    plan,
    row,
    reason: doubt?.reason ?? 'the process ended before an answer was written down',
    requestId: doubt?.request_id,
    lookedAt: row.looks.at(-1)?.at,
  });
}

function errorFrom({ item, failed, notSent, resolved }: RowHistory, { op }: PlanRecord): CliError {
  const known = { op, operation: item.operation, ...(item.key === undefined ? {} : { idempotencyKey: item.key }) };
  if (resolved !== undefined) {
    const message = `${item.operation} was declared not done${byWhom(resolved)}: ${resolved.note}`;
    return new CliError('not_confirmed', { ...known, message, outcome: 'not_sent' });
  }
  if (failed !== undefined) {
    return new CliError(failed.kind, {
      ...known,
      message: failed.message,
      outcome: 'refused',
      ...(failed.status !== undefined && { httpStatus: failed.status }),
      ...(failed.service !== undefined && { service: failed.service }),
    });
  }
  const { kind = 'unreachable', message = `${item.operation} was not sent` } = notSent ?? {};
  return new CliError(kind, { ...known, message, outcome: kind === 'rate_limited' ? 'refused' : 'not_sent' });
}
