/** What one transaction record does to the sums of its card. */
import { isInDollars } from '../contract/currency.ts';

/** Columns of a record that decide its effect; `cents` is never negative. */
export interface EffectColumns {
  readonly tx_id: string;
  readonly type: string;
  readonly status: string | null;
  readonly cents: number;
  readonly authorization_id: string | null;
  /** USD when left out. */
  readonly currency?: string | null;
}

/** Integer cents, each 0 or the record's amount. */
export interface Effect {
  readonly settled: number;
  readonly refunded: number;
  /** Authorized and still pending; an upper bound of the hold, as partial reversals leave no trace. */
  readonly pending: number;
  readonly declined: number;
}

const NOTHING: Effect = { settled: 0, refunded: 0, pending: 0, declined: 0 };
const KNOWN_TYPES: ReadonlySet<string> = new Set(['authorization', 'settlement', 'refund', 'decline']);

/** A record that is its own authorization: a purchase in one changing record. */
export function isChangingRecord({ tx_id, authorization_id }: EffectColumns): boolean {
  return authorization_id === tx_id;
}

/** Types that the interface does not name count as nothing. */
export function isKnownType(type: string): boolean {
  return KNOWN_TYPES.has(type);
}

/** Other services write the state in upper case, or call it authorized. */
export function isPending({ status }: { readonly status: string | null }): boolean {
  return status === 'pending' || (status !== null && /^(?:pending|authorized)$/i.test(status));
}

/**
 * An authorization counts as long as it is pending: settled, it has a record of its own; reversed, it is nothing. A
 * refund that is its own authorization is a purchase in one changing record: both settled and given back. An amount in
 * another currency is no amount of dollars, and nobody tells the rate: it counts as nothing.
 */
export function effectOf(record: EffectColumns): Effect {
  const { type, cents } = record;
  if (!isInDollars(record)) return NOTHING;
  if (type === 'settlement') return { ...NOTHING, settled: cents };
  if (type === 'refund') return { ...NOTHING, refunded: cents, settled: isChangingRecord(record) ? cents : 0 };
  if (type === 'decline') return { ...NOTHING, declined: cents };
  return type === 'authorization' && isPending(record) ? { ...NOTHING, pending: cents } : NOTHING;
}

/** Settled less refunded: what the record took off its card for good, negative for a refund. */
export function spentBy(record: EffectColumns): number {
  const { settled, refunded } = effectOf(record);
  return settled - refunded;
}
