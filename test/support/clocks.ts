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
