/** Whether a refusal is believed: one in words that nobody knows, or about the key, may follow the deed (section 1). */
import { CALLS } from '../../contract/raw.ts';
import { isDefiniteRefusal, REFUSALS } from '../../contract/refusals.ts';
import type { Delivery } from '../../contract/service.ts';
import { absenceProves, checkForEffect, type EvidenceCheck, traceOf } from './evidence.ts';
import type { RunContext } from './run-context.ts';

/**
 * Looks what came of a request that was answered: also where the run is stopped, for the row is to be settled. Then there is
 * no time to look twice.
 */
export function checkAfter(context: RunContext, number: number): Promise<EvidenceCheck> {
  const row = context.row(number);
  return checkForEffect(row, traceOf(row, context.markerUsable()), { plan: context.plan, ...context.aside });
}

/** Why a 429 is not believed to have had no effect; undefined when looking shows none. Reads at most. */
export async function doneAllTheSame(context: RunContext, number: number): Promise<string | undefined> {
  const { found, text } = await checkAfter(context, number);
  if (found === 'nothing') return undefined;
  return found === 'unclear'
    ? `whether it was done all the same is not shown: ${text}`
    : 'its effect shows all the same';
}

/** Why a refusal of the first sending is not believed; undefined when it settles the row. Reads at most. */
export async function ambiguityOf(
  context: RunContext,
  number: number,
  delivery: Delivery,
): Promise<string | undefined> {
  // A 429 before it may have followed the deed; then this may be what a second one is told.
  if (!delivery.unlooked && isDefiniteRefusal(delivery.refusal, delivery.status)) return undefined;
  if (keyMayBeUsed(context, number, delivery)) {
    return 'the key may have been used by another command for the same change';
  }
  const row = context.row(number);
  const trace = traceOf(row, context.markerUsable());
  // A change of state was read by the client already.
  if (trace === 'state') return undefined;
  if (trace === 'none') {
    const makesCard = row.item.operation === 'cards.create';
    if (makesCard) return 'a card that was made could not be distinguished from another';
    return CALLS[row.item.operation].repeat === 'never' ? 'nothing tells whether it was done all the same' : undefined;
  }
  const { found } = await checkForEffect(row, trace, context);
  if (found === 'nothing') return undefined;
  return found === 'unclear' ? 'looking does not rule out that it was done' : 'its effect shows all the same';
}

/**
 * A key that the caller gave may have been used from another machine, so that even the first sending here is a repetition
 * there. "Used with another body" is believed where the service is known to honour keys; but a create carries a marker of
 * its own in every body, so that it is true of the very same create.
 */
function keyMayBeUsed({ plan, row, capability }: RunContext, number: number, { error }: Delivery): boolean {
  const { key, operation } = row(number).item;
  // A correction after a refusal goes under a key of the op.
  if (plan.given_key === undefined || key !== plan.given_key) return false;
  const marked = plan.marker && operation === 'cards.create';
  return error?.kind !== 'internal' || marked || capability(operation).key !== 'honoured';
}

/** A refusal of a row that was sent before. */
export interface Repeated {
  readonly delivery: Delivery;
  readonly keyHonoured: boolean;
  /** The quiet period of every sending before this one was over. */
  readonly quiet: boolean;
}

/**
 * Whether a refusal of a row that was sent again holds for its first sending as well. The refusal alone never says so: it
 * may mean the repetition, be given before the key is looked at, or by a service that has forgotten the key. It does
 * where the service refuses for a reason of business that it keeps for the key, everything sent before has had the time
 * to arrive, and looking finds nothing.
 */
export async function decidesFirst(
  context: RunContext,
  number: number,
  { delivery, keyHonoured, quiet }: Repeated,
): Promise<boolean> {
  const refusal = delivery.refusal === undefined ? undefined : REFUSALS[delivery.refusal];
  if (!quiet || refusal === undefined || !('storedForKey' in refusal)) return false;
  const row = context.row(number);
  const trace = traceOf(row, context.markerUsable());
  if (!keyHonoured && !absenceProves(context, trace)) return false;
  return trace !== 'none' && (await checkForEffect(row, trace, context)).found === 'nothing';
}
