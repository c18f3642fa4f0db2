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

/** Real time whose pauses are over at once; the clock has then gone on by them. Time limits are longer, and are kept. */
export function skippingClock(): Clock {
  const [SHORT_MS, LONG_MS] = [200, 10_000];
  let skipped = 0;
  return {
    now: () => realClock.now() + skipped,
    monotonic: () => realClock.monotonic() + skipped,
    async sleep(ms, signal) {
      if (ms < SHORT_MS || ms > LONG_MS) return realClock.sleep(ms, signal);
      await realClock.sleep(0, signal);
      skipped += ms;
    },
  };
}

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
