/**
 * Timers and time as they were when the program was loaded. A test suite may put others in their place afterwards
 * (`vi.useFakeTimers()`, `jest.useFakeTimers()`); what runs inside of it as a library must go on all the same.
 */
import { hrtime } from 'node:process';
import { setTimeout as after } from 'node:timers/promises';
import type { Clock, Randomness } from './host.ts';

const { setImmediate: soon } = globalThis;
const { now } = Date;
const { bigint: sinceStart } = hrtime;
const wait = after;

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise(resolve => void soon(resolve));

/** Calls in the next turn of the event loop. */
export const inNextTurn = (work: () => void): void => void soon(work);

/** Wall clock, a clock that never jumps, and waiting. */
export const SYSTEM_CLOCK = {
  now: (): number => now(),
  monotonic: (): number => Number(sinceStart()) / 1e6,
  sleep: (ms: number, signal?: AbortSignal): Promise<void> => wait(ms, undefined, signal && { signal }),
};

/** Waits, unless it is stopped; true when the time is over. */
export async function rest(ms: number, clock: Pick<Clock, 'sleep'>, stop: AbortSignal | undefined): Promise<boolean> {
  if (stop?.aborted) return false;
  try {
    await clock.sleep(ms, stop);
    return true;
  } catch (reason) {
    if (stop?.aborted) return false;
    throw reason;
  }
}

/** What `work` makes of a signal that fires after so many ms. */
export async function within<T>(
  ms: number,
  clock: Pick<Clock, 'sleep'>,
  work: (late: AbortSignal) => Promise<T>,
  reason?: unknown,
): Promise<T> {
  const [late, inTime] = [new AbortController(), new AbortController()];
  const timer = rest(ms, clock, inTime.signal).then(isLate => isLate && late.abort(reason));
  try {
    return await work(late.signal);
  } finally {
    inTime.abort();
    await timer;
  }
}

// Waits of different lengths, so that processes that wait for the same thing do not come back at the same moment.

/** ms from `least` up to `most`, all equally likely. */
export function between(random: Pick<Randomness, 'fraction'>, least: number, most: number): number {
  return least + random.fraction() * (most - least);
}
