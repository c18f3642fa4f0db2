/**
 * Which operations of a journal may be of the account that a command acts for. An account has one address in a profile, but
 * may be reached at several (`localhost`, another port, a proxy): its API key tells it there.
 */
import { CliError } from '../../core/errors.ts';
import type { OpStore } from '../store/op-store.ts';
import type { PlanRecord } from '../wal/records.ts';

/** Who acts: the address, and the kind of the API key. */
export type Account = Pick<PlanRecord, 'origin' | 'mode'>;

/**
 * True for operations at the same address, whichever key they were begun with, because a key may be replaced; and for those
 * of the same key at any address. An embedded sandbox has no key but its address.
 */
export function mayBeOf(store: Pick<OpStore, 'isOwnPlan'>, { origin, mode }: Account) {
  /** By the print of a key. */
  const known = new Map<string, Promise<boolean>>();
  return async (plan: PlanRecord): Promise<boolean> => {
    if (plan.origin === origin) return true;
    if (mode === 'sandbox' || plan.mode !== mode) return false;
    const own = known.get(plan.key_print) ?? isOwn(store, plan);
    known.set(plan.key_print, own);
    return own;
  };
}

/** Where nobody can tell any more whose plans these are, no plan is begun at all while one is not finished. */
async function isOwn(store: Pick<OpStore, 'isOwnPlan'>, plan: PlanRecord): Promise<boolean> {
  try {
    return await store.isOwnPlan(plan);
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind === 'guarded') return false;
    throw thrown;
  }
}

/** The same refusal; of an operation at another address it says where that was begun. */
export function withAddress(refusal: CliError, plan: Pick<PlanRecord, 'op' | 'origin'>, { origin }: Account): CliError {
  if (plan.origin === origin) return refusal;
  const here = `${plan.op} was begun at ${plan.origin} with the API key that is used at ${origin} now: it is one account.`;
  return refusal.with({ notes: [here, ...(refusal.facts.notes ?? [])] });
}
