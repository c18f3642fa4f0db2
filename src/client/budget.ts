/**
 * What all requests of a process share, so that a service in trouble is not made worse
 * (docs/design/reliability.md, section 2).
 */
import type { Clock } from '../platform/host.ts';

const FULL = 500;
/** Longer than most services take for an answer. */
const PASSING_MS = 30_000;

export interface RetryBudget {
  /** Takes tokens for a repetition; false when there are too few, and then there must be none. */
  spend(tokens: number): boolean;
  /** A clean success gives one back. */
  refund(): void;
  /** An attempt leaves. */
  leave(): void;
  /** It is over. `letThrough`: the service looked at it; whether it then refused it does not matter. */
  end(letThrough: boolean): void;
  /** How many it has let through: a limit under which this number grows is worth waiting for. */
  passed(): number;
  /** One was let through not long ago, and others are on their way, so that more may be. */
  mayPass(): boolean;
  /** The service asked for a pause: nobody begins an attempt before it is over. */
  pauseAll(ms: number): void;
  /** Whether attempts must wait. */
  paused(): boolean;
  /** Resolves when attempts may begin, or at once when stopped. */
  untilAllowed(stop: AbortSignal): Promise<void>;
}

export function createBudget(clock: Clock): RetryBudget {
  let tokens = FULL;
  let [passed, passedAt, underWay] = [0, Number.NEGATIVE_INFINITY, 0];
  let pausedUntil = Number.NEGATIVE_INFINITY;
  return {
    spend(wanted) {
      if (tokens < wanted) return false;
      tokens -= wanted;
      return true;
    },
    refund() {
      tokens = Math.min(FULL, tokens + 1);
    },
    leave() {
      underWay += 1;
    },
    end(letThrough) {
      underWay -= 1;
      if (!letThrough) return;
      passed += 1;
      passedAt = clock.monotonic();
    },
    passed: () => passed,
    mayPass: () => underWay > 0 && clock.monotonic() - passedAt < PASSING_MS,
    pauseAll(ms) {
      pausedUntil = Math.max(pausedUntil, clock.monotonic() + ms);
    },
    paused: () => pausedUntil > clock.monotonic(),
    async untilAllowed(stop) {
      for (let until = Number.NEGATIVE_INFINITY; until < pausedUntil && !stop.aborted; ) {
        until = pausedUntil;
        const left = until - clock.monotonic();
        if (left <= 0) return;
        await clock.sleep(left, stop).catch((reason: unknown) => {
          if (!stop.aborted) throw reason;
        });
      }
    },
  };
}
