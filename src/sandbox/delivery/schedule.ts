/** When a failed delivery is tried again. */
import { DELIVERY_RETRIES } from '../../contract/spans.ts';
import { fractionOf } from '../calls/deterministic-ids.ts';

/** Largest random part of a wait, taken away or added. */
const JITTER = 0.1;

/**
 * Wait in ms after attempt `attempt` (from 1) failed; undefined after the last one. The same seed, delivery and attempt
 * give the same wait. On the clock of the sandbox.
 */
export function retryWait(attempt: number, { seed, delivery }: { seed: number; delivery: string }): number | undefined {
  const wait = DELIVERY_RETRIES[attempt - 1];
  if (wait === undefined) return undefined;
  const drawn = fractionOf(`${seed} jitter ${delivery} ${attempt}`);
  return Math.round(wait * (1 - JITTER + 2 * JITTER * drawn));
}
