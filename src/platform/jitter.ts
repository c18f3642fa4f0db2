/** Waits of different lengths, so that processes that wait for the same thing do not come back at the same moment. */
import type { Randomness } from './host.ts';

/** ms from `least` up to `most`, all equally likely. */
export function between(random: Pick<Randomness, 'fraction'>, least: number, most: number): number {
  return least + random.fraction() * (most - least);
}

/** `ms`, longer by up to the part `share` of it. */
export function stretched(random: Pick<Randomness, 'fraction'>, ms: number, share: number): number {
  return ms * (1 + random.fraction() * share);
}
