/** The total time of one attempt, connection and body included (RELIABILITY, section 2). */
import type { Clock } from '../host.ts';

export const CONNECT_MS = 5_000;
const TOTAL_MS = { read: 30_000, write: 75_000 };
const HEADERS_MS = { read: 30_000, write: 60_000 };

/** The reason a deadline's signal is aborted with when time is up. */
export class TimeIsUp extends Error {
  override readonly name = 'TimeIsUp';
  readonly totalMs: number;

  constructor(totalMs: number) {
    super(`no complete answer within ${seconds(totalMs)}`);
    this.totalMs = totalMs;
  }
}

/** An abort without a reason makes an exception with a stack, for nobody to see. */
const IN_TIME = 'in time';

export interface Deadline {
  readonly totalMs: number;
  readonly headersMs: number;
  /** Aborted with `TimeIsUp`, or with the reason of a signal that was handed in. */
  readonly signal: AbortSignal;
  /** Milliseconds since it began. */
  elapsed(): number;
  /** Lets the timer go; must be called in every case. */
  end(): void;
}

export interface DeadlineFacts {
  readonly write: boolean;
  /** `--timeout`, in milliseconds, in place of the default total. */
  readonly totalMs?: number | undefined;
  readonly signals: readonly (AbortSignal | undefined)[];
}

/** Starts the clock. A long total for writes means fewer unknown outcomes. */
export function startDeadline(clock: Clock, facts: DeadlineFacts): Deadline {
  const kind = facts.write ? 'write' : 'read';
  const totalMs = facts.totalMs ?? TOTAL_MS[kind];
  const began = clock.monotonic();
  const over = new AbortController();
  const ended = new AbortController();
  const stop = (reason: unknown) => over.abort(reason);
  const listeners = facts.signals.filter(signal => signal !== undefined).map(signal => listen(signal, stop));
  clock.sleep(totalMs, ended.signal).then(
    () => stop(new TimeIsUp(totalMs)),
    // Cancelled by `end`: the answer was there in time.
    () => undefined,
  );
  return {
    totalMs,
    headersMs: Math.min(totalMs, facts.totalMs ?? HEADERS_MS[kind]),
    signal: over.signal,
    elapsed: () => clock.monotonic() - began,
    end: () => {
      ended.abort(IN_TIME);
      for (const unlisten of listeners) unlisten();
    },
  };
}

function listen(signal: AbortSignal, stop: (reason: unknown) => void): () => void {
  if (signal.aborted) stop(signal.reason);
  const onAbort = () => stop(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}

/** One signal for several; mostly they are the same one. */
export function anyOf(signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  const distinct = [...new Set(signals)].filter(signal => signal !== undefined);
  const [only] = distinct;
  return distinct.length === 1 && only !== undefined ? only : AbortSignal.any(distinct);
}

/** `30 s`, `0.5 s`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
