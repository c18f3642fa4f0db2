/** When a failed delivery is tried again and when a subscription is given up. */
import { fractionOf } from '../chance.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** ms on the clock of the sandbox from one attempt to the next. */
export const RETRY_AFTER = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR] as const;
export const MOST_ATTEMPTS = RETRY_AFTER.length + 1;
/** So long nothing but failures, and the subscription is disabled. */
export const GIVEN_UP_AFTER = 120 * HOUR;

/** Largest part of a wait that chance takes away or adds. */
const JITTER = 0.1;

/**
 * Wait in ms after attempt `attempt` (from 1) failed; undefined after the last one. The same seed, delivery and attempt
 * give the same wait.
 */
export function retryWait(attempt: number, { seed, delivery }: { seed: number; delivery: string }): number | undefined {
  const wait = RETRY_AFTER[attempt - 1];
  if (wait === undefined) return undefined;
  const drawn = fractionOf(`${seed} jitter ${delivery} ${attempt}`);
  return Math.round(wait * (1 - JITTER + 2 * JITTER * drawn));
}
