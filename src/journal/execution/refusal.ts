/** What the journal adds to a refusal: a key of the caller, and bytes that were sent before (section 1). */
import { REFUSALS } from '../../contract/refusals.ts';
import type { Delivery } from '../../contract/service.ts';
import { absenceProves, checkForEffect, type EvidenceCheck, traceOf } from './evidence.ts';
import type { RunContext } from './run-context.ts';
import { walletAgrees } from './wallet-before.ts';

/**
 * Looks what came of a request that was answered: also where the run is stopped, for the row is to be settled. Then there is
 * no time to look twice.
 */
export function checkAfter(context: RunContext, number: number): Promise<EvidenceCheck> {
  const row = context.row(number);
  context.unrecordedLooks.set(number, (context.unrecordedLooks.get(number) ?? 0) + 1);
  return checkForEffect(row, traceOf(row, context.markerUsable()), { plan: context.plan, ...context.aside });
}

/** How often a row was looked for by `checkAfter` until now, for the doubt that is about to be written; undefined for never. */
export function checksUntilNow(context: RunContext, number: number): number | undefined {
  const looks = (context.row(number).doubt?.looks ?? 0) + (context.unrecordedLooks.get(number) ?? 0);
  context.unrecordedLooks.delete(number);
  return looks === 0 ? undefined : looks;
}

export const SHOWS = 'its effect shows all the same';
export const NOT_SHOWN = 'whether it was done all the same is not shown';

/**
 * The same behind a 429, where one look decides whether it is sent again: a card may be listed late, so that for a single
 * create whose key is not known to be honoured the wallet must be what it was as well.
 */
export async function checkAfterLimit(context: RunContext, number: number): Promise<EvidenceCheck> {
  const look = await checkAfter(context, number);
  return look.found === 'nothing' ? walletAgrees(context, number, look) : look;
}

/** Why a 429 is not believed to have had no effect; undefined when looking shows none. Reads at most. */
export async function doneAllTheSame(context: RunContext, number: number): Promise<string | undefined> {
  const { found, text } = await checkAfterLimit(context, number);
  if (found === 'nothing') return undefined;
  return found === 'unclear' ? `${NOT_SHOWN}: ${text}` : SHOWS;
}

/**
 * Why a refusal of the first sending that looking does not deny is not believed; undefined when it settles the row. A key
 * that the caller gave may have been used from another machine, so that even the first sending here is a repetition there.
 */
export function ambiguityOf(context: RunContext, number: number, delivery: Delivery): string | undefined {
  if (delivery.weight === 'definite' || !isKeyOfCaller(context, number)) return undefined;
  const { plan, row, capability } = context;
  const { operation } = row(number).item;
  // A create carries a marker of its own in every body, so that "used with another body" is true of the very same create.
  const marked = plan.marker && operation === 'cards.create';
  const isReused = delivery.error?.kind === 'internal' && !marked && capability(operation).key === 'honoured';
  return isReused ? undefined : 'the key may have been used by another command for the same change';
}

/**
 * Whether somebody else may have used the key before: the caller's own, or one that follows from an intention. A correction
 * after a refusal goes under a key of the op.
 */
export function isKeyOfCaller({ plan, row }: RunContext, number: number): boolean {
  const { chain, key } = row(number).item;
  return chain !== undefined || (plan.given_key !== undefined && key === plan.given_key);
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
  if (delivery.weight !== 'definite') return false;
  if (!quiet || refusal === undefined || !('storedForKey' in refusal)) return false;
  const row = context.row(number);
  const trace = traceOf(row, context.markerUsable());
  if (!keyHonoured && !absenceProves(context, trace)) return false;
  return trace !== 'none' && (await checkForEffect(row, trace, context)).found === 'nothing';
}
