/**
 * Timers and time as they were when the program was loaded. A test suite may put others in their place afterwards
 * (`vi.useFakeTimers()`, `jest.useFakeTimers()`); what runs inside of it as a library must go on all the same.
 */
import { setTimeout as after } from 'node:timers/promises';

const { setImmediate: soon } = globalThis;
const { now } = Date;
const sinceStart = performance.now.bind(performance);
const wait = after;

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise(resolve => void soon(resolve));

/** Calls in the next turn of the event loop. */
export const inNextTurn = (work: () => void): void => void soon(work);

/** Wall clock, a clock that never jumps, and waiting. */
export const SYSTEM_CLOCK = {
  now: (): number => now(),
  monotonic: (): number => sinceStart(),
  sleep: (ms: number, signal?: AbortSignal): Promise<void> => wait(ms, undefined, signal && { signal }),
};
