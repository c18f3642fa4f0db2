/** Time and chance for code that runs outside of a world. */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, Randomness } from '../../src/platform/host.ts';

export const random: Randomness = { bytes: count => randomBytes(count), fraction: () => 0 };

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => wait(ms, undefined, { ref: false, ...(signal && { signal }) }),
};

/** Time that only waiting moves. */
export function waitingClock(
  start = Date.parse('2026-11-20T14:00:00Z'),
): Clock & { advance(ms: number): void; jump(ms: number): void } {
  let [wall, monotonic] = [start, 0];
  const advance = (ms: number) => {
    wall += ms;
    monotonic += ms;
  };
  return {
    now: () => wall,
    monotonic: () => monotonic,
    sleep: async ms => advance(ms),
    advance,
    jump: ms => {
      wall += ms;
    },
  };
}
