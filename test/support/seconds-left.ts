/** Time limits whose rest a message counts in seconds. */
import { expect } from 'vitest';
import type { Clock } from '../../src/platform/host.ts';
import { realClock } from './clocks.ts';

/** A lease of the shared journal, and what is waited for until nothing can be on its way any more. */
export const [LEASE_S, QUIET_S] = [180, 150];

/**
 * Looks at a limit that begins after this call. However slow the machine is, no more of it is gone than has passed since by
 * the clock; so a message that counts from another moment is seen.
 */
export function secondsLeft(limit: number, clock: Pick<Clock, 'monotonic'> = realClock) {
  const began = clock.monotonic();
  /** The words hold one group: the number. */
  return (text: string, words: RegExp): void => {
    const least = Math.floor(limit - (clock.monotonic() - began) / 1000);
    expect(text).toMatch(words);
    const told = Number(words.exec(text)?.[1]);
    expect(told, text).toBeGreaterThanOrEqual(least);
    expect(told, text).toBeLessThanOrEqual(limit);
  };
}
