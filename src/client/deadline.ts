/** The total time of one attempt, connection and body included (docs/design/reliability.md, section 2). */
import { setMaxListeners } from 'node:events';
import { REQUEST_TOTAL_MS } from '../core/durations.ts';
import type { Clock } from '../platform/host.ts';

export const CONNECT_MS = 5_000;
const HEADERS_MS = { read: 30_000, write: 60_000 };

/** The reason of a deadline whose time is up. */
export class TimeIsUp extends Error {
  override readonly name = 'TimeIsUp';
  readonly totalMs: number;

  constructor(totalMs: number) {
    super(`no complete answer within ${seconds(totalMs)}`);
    this.totalMs = totalMs;
  }
}

export interface Deadline {
  readonly totalMs: number;
  readonly headersMs: number;
  /** Over by time or by a signal. */
  isOver(): boolean;
  /** `TimeIsUp`, or the reason of the signal; undefined while it is not over. */
  reason(): unknown;
  /** The one who is told when it is over. */
  onOver(listener: () => void): void;
  /** Milliseconds since it began. */
  elapsed(): number;
  /** Nobody is told any more; must be called in every case. */
  end(): void;
}

export interface DeadlineFacts {
  readonly write: boolean;
  /** `--timeout`, in milliseconds, in place of the default total. */
  readonly totalMs?: number | undefined;
  readonly signals: readonly (AbortSignal | undefined)[];
}

export interface Deadlines {
  /** Starts the clock. A long total for writes means fewer unknown outcomes. */
  start(facts: DeadlineFacts): Deadline;
}

interface Open {
  readonly at: number;
  readonly totalMs: number;
  readonly signals: readonly (AbortSignal | undefined)[];
  /** Where it stands among the open ones; -1 when it is closed. */
  index: number;
  expire(reason: unknown): void;
}

/**
 * The deadlines of one client. One sleep, until the earliest of them, serves all: a timer and two abort controllers
 * for each request cost a tenth of the time that a run of many rows takes.
 */
export function createDeadlines(clock: Clock): Deadlines {
  const open: Open[] = [];
  const heard = new WeakSet<AbortSignal>();
  let isLeaving = false;
  let sleeping: { readonly until: number; readonly wake: AbortController } | undefined;

  /** Once for each signal, whatever the number of requests under it. */
  function hear(signal: AbortSignal): void {
    if (heard.has(signal)) return;
    heard.add(signal);
    const onAbort = () => {
      for (const each of [...open]) if (each.signals.includes(signal)) each.expire(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  }

  function sleepUntil(until: number): void {
    sleeping?.wake.abort(OVERTAKEN);
    const wake = new AbortController();
    sleeping = { until, wake };
    clock.sleep(Math.max(0, until - clock.monotonic()), wake.signal).then(
      () => {
        if (sleeping?.wake !== wake) return;
        sleeping = undefined;
        expireDue();
      },
      // Another sleep has taken its place, or nothing is waited for.
      () => undefined,
    );
  }

  function expireDue(): void {
    let earliest = Number.POSITIVE_INFINITY;
    const now = clock.monotonic();
    for (const each of [...open]) {
      if (each.at <= now) each.expire(new TimeIsUp(each.totalMs));
      else earliest = Math.min(earliest, each.at);
    }
    if (open.length > 0 && earliest < (sleeping?.until ?? Number.POSITIVE_INFINITY)) sleepUntil(earliest);
  }

  function close(each: Open): void {
    const last = open.at(-1);
    if (each.index === -1 || last === undefined) return;
    open[each.index] = last;
    last.index = each.index;
    each.index = -1;
    open.pop();
    if (open.length === 0 && !isLeaving) {
      isLeaving = true;
      // The next page of a list is asked for before this comes, and the same timer serves it.
      setImmediate(leave);
    }
  }

  /** The timer would keep the process waiting. */
  function leave(): void {
    isLeaving = false;
    if (open.length > 0) return;
    sleeping?.wake.abort(OVERTAKEN);
    sleeping = undefined;
  }

  return {
    start({ write, totalMs: given, signals }) {
      const kind = write ? 'write' : 'read';
      const totalMs = given ?? REQUEST_TOTAL_MS[kind];
      const began = clock.monotonic();
      let [over, ended] = [false, false];
      let reason: unknown;
      let onEnd: (() => void) | undefined;
      const mine: Open = {
        at: began + totalMs,
        totalMs,
        signals,
        index: open.length,
        expire(why) {
          close(mine);
          if (over || ended) return;
          [over, reason] = [true, why];
          onEnd?.();
        },
      };
      open.push(mine);
      for (const signal of signals) {
        if (signal?.aborted) mine.expire(signal.reason);
        else if (signal !== undefined) hear(signal);
      }
      if (!over && mine.at < (sleeping?.until ?? Number.POSITIVE_INFINITY)) sleepUntil(mine.at);
      return {
        totalMs,
        headersMs: Math.min(totalMs, given ?? HEADERS_MS[kind]),
        isOver: () => over,
        reason: () => reason,
        onOver(listener) {
          onEnd = listener;
          if (over) listener();
        },
        elapsed: () => clock.monotonic() - began,
        end() {
          ended = true;
          close(mine);
        },
      };
    },
  };
}

/** An abort without a reason makes an exception with a stack, for nobody to see. */
const OVERTAKEN = 'overtaken';

const combinations = new WeakMap<AbortSignal, WeakMap<AbortSignal, AbortSignal>>();

/** Every worker of a run may wait under one signal at the same time; Node takes more than ten for a leak. */
function manyListeners(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}

/** One signal for several; mostly they are the same one, and the same two come with every request. */
export function anyOf(signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  const [first, second] = signals;
  if (signals.length === 2 && first !== undefined && second !== undefined && first !== second)
    return bothOf(first, second);
  const distinct = [...new Set(signals)].filter(signal => signal !== undefined);
  const [one, other] = distinct;
  if (one !== undefined && other === undefined) return one;
  if (one === undefined || other === undefined || distinct.length > 2) return AbortSignal.any(distinct);
  return bothOf(one, other);
}

function bothOf(one: AbortSignal, other: AbortSignal): AbortSignal {
  const known = combinations.get(one) ?? new WeakMap<AbortSignal, AbortSignal>();
  combinations.set(one, known);
  const combined = known.get(other) ?? manyListeners(AbortSignal.any([one, other]));
  known.set(other, combined);
  return combined;
}

/** `30 s`, `0.5 s`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
