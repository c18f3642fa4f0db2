/** A derived key that another apply has used with another body: for the same card, by an older file. */
import type { Delivery } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import { absenceProves, traceOf } from './evidence.ts';
import { factsOf } from './outcome.ts';
import { checkAfter } from './refusal.ts';
import type { RunContext } from './run-context.ts';
import { ended, reconcileOnce, type Step } from './step.ts';
import { named } from './unsent.ts';

/** Not a bug of ours: other machines send the same key for the same intention, and may have another file. */
export function isKeyTaken(context: RunContext, number: number, { refusal }: Delivery): boolean {
  return context.row(number).item.chain !== undefined && refusal === 'idempotency_key_reused';
}

/**
 * The card is there: done, by its marker. Not there, where the list is exact: the next key of the chain follows. Else the row
 * is unknown until a person says that it is to be sent.
 */
export async function recordKeyTaken(context: RunContext, number: number, error: CliError): Promise<Step> {
  const row = context.row(number);
  const at = context.clock.now();
  const message = 'another apply has used the key for another request';
  const trace = traceOf(row, context.markerUsable());
  const { found } = await checkAfter(context, number);
  if (found !== 'nothing' || !(absenceProves(context, trace) || context.resendAbsent)) {
    await context.write({ t: 'AMBIG', row: number, reason: message, at });
    return reconcileOnce();
  }
  const { service, httpStatus: status } = error.facts;
  await context.write({ t: 'FAILED', row: number, kind: 'refused', message, status, service, next: true, at });
  const refusal = new CliError('refused', { ...error.facts, message, outcome: 'refused' });
  return ended({ ...factsOf(row), outcome: 'refused', error: named(context, number, refusal) });
}
