/**
 * The quiet period of a row: so long after its last sending something may still be on its way. It is looked for early and
 * with growing pauses meanwhile, for most of what comes late comes soon.
 */
import { SECOND } from '../../core/durations.ts';
import { clockIsSane } from './policy.ts';
import type { RunContext } from './run-context.ts';

export function isQuiet(context: RunContext, number: number): boolean {
  return quietPeriodLeft(context, number) === 0;
}

/** ms until the last sending has quiet; all of it when the clock cannot be trusted. */
function quietPeriodLeft(context: RunContext, number: number): number {
  const sentAt = context.row(number).lastSent?.at ?? context.plan.at;
  const moment = context.moment();
  if (!clockIsSane(moment, Math.max(context.latest, sentAt))) return context.quietPeriodMs;
  return Math.max(0, context.quietPeriodMs - (moment.now - sentAt));
}

const PAUSE_MS = { first: SECOND, most: 30 * SECOND };

export interface Patience {
  /** The quiet period was waited for, to its end. */
  isOver(): boolean;
  /** Waits for the next look: longer each time, and not beyond the end of the quiet period. Ends early when stopped. */
  rest(): Promise<void>;
}

/** Says when it begins to wait how long it may take, and again at each of the longest pauses. */
export function createPatience(context: RunContext, number: number): Patience {
  const { clock, stop, notice } = context;
  let until: number | undefined;
  let pause = PAUSE_MS.first;
  let isOver = false;
  return {
    isOver: () => isOver,
    async rest() {
      const first = until === undefined;
      until ??= clock.monotonic() + quietPeriodLeft(context, number);
      const left = Math.max(0, until - clock.monotonic());
      if (first || pause === PAUSE_MS.most) {
        const most = Math.ceil(left / SECOND);
        notice(
          `row ${number}: no trace yet; looking again, for ${most} s at most: then nothing can still be on its way`,
        );
      }
      try {
        await clock.sleep(Math.min(left, pause), stop);
      } catch (reason) {
        if (stop.aborted) return;
        throw reason;
      }
      isOver = left <= pause;
      pause = Math.min(PAUSE_MS.most, 2 * pause);
    },
  };
}
