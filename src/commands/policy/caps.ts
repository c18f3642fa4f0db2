/** How many cards one run of a policy may touch where nothing else is said, and the flags that allow more. */
import type { CapsBroken } from '../../books/policy/plan.ts';

export const USUAL_CARDS = 20;
/** Percent of the cards that are not terminated. */
export const USUAL_SHARE = 30;

/** `--max-cards 27`, for what a plan would touch. */
export function flagsThatAllow({ touched, of, broken }: CapsBroken): readonly string[] {
  const share = Math.ceil((touched * 100) / Math.max(1, of));
  return broken.map(cap => (cap === 'maxCards' ? `--max-cards ${touched}` : `--max-share ${share}%`));
}
