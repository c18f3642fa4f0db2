/**
 * The quiet period of a row: so long after its last sending something may still be on its way. It is looked for early and
 * with growing pauses meanwhile, for most of what comes late comes soon.
 */
import { READ_LAG } from '../../contract/spans.ts';
import { SECOND } from '../../core/durations.ts';
import { clockIsSane } from './policy.ts';
import type { RunContext } from './run-context.ts';

export function isQuiet(context: RunContext, number: number): boolean {
  return quietPeriodLeft(context, number) === 0;
}

/** ms until the last sending has quiet; all of it when the clock cannot be trusted. */
function quietPeriodLeft(context: RunContext, number: number): number {
  const { quietPeriodMs, plan, sentUntil } = context;
  const sentAt = context.row(number).lastSent?.at ?? plan.at;
  return leftOf(context, quietPeriodMs, Math.max(sentAt, sentUntil(number)));
}

/** ms until readings have caught up with what the last sending may have done. */
export function readLagLeft(context: RunContext, number: number): number {
  const { lastSent, doubt } = context.row(number);
  // What was answered, or lost, was done by then.
  return leftOf(context, READ_LAG, Math.max(lastSent?.at ?? context.plan.at, doubt?.at ?? 0));
}

function leftOf(context: RunContext, ms: number, since: number): number {
  const moment = context.moment();
  if (!clockIsSane(moment, Math.max(context.latest, since))) return ms;
  return Math.max(0, ms - (moment.now - since));
}

const PAUSE_MS = { first: SECOND, most: 30 * SECOND };

export interface Patience {
  /** The quiet period was waited for, to its end. */
  isOver(): boolean;
  /** Waits for the next look: longer each time, and not beyond the end of the quiet period. Ends early when stopped. */
  rest(waiting: Waiting): Promise<void>;
}

export interface Waiting {
  /** What the latest look has shown, in a clause. */
  readonly seen: string;
  /** ms until the row may be sent again, where that is before the end of the quiet period. */
  readonly resendIn?: number | undefined;
}

/** Whether a run has not just said this, of another row. */
function isNews({ waitsTold, clock }: RunContext, text: string): boolean {
  const [told, now] = [waitsTold.get(text), clock.monotonic()];
  if (told !== undefined && now - told < PAUSE_MS.most) return false;
  waitsTold.set(text, now);
  return true;
}

/** Says when it begins to wait how long it may take, and again at each of the longest pauses; once for rows that are alike. */
export function createPatience(context: RunContext, number: number): Patience {
  const { clock, stop, notice } = context;
  let until: number | undefined;
  let pause = PAUSE_MS.first;
  let isOver = false;
  return {
    isOver: () => isOver,
    async rest({ seen, resendIn = Number.POSITIVE_INFINITY }) {
      const first = until === undefined;
      until ??= clock.monotonic() + quietPeriodLeft(context, number);
      const left = Math.max(0, until - clock.monotonic());
      if (first || pause === PAUSE_MS.most) {
        const most = Math.ceil(Math.min(left, resendIn) / SECOND);
        const then = resendIn < left ? 'it is sent again under its own key' : 'nothing can still be on its way';
        if (isNews(context, `${seen}; ${then}`)) {
          const which = context.rowIndex.size > 1 ? `row ${number} and rows like it` : `row ${number}`;
          notice(`${which}: ${seen}; looking again, for ${most} s at most: then ${then}`);
        }
      }
      try {
        await clock.sleep(Math.min(left, pause, resendIn), stop);
      } catch (reason) {
        if (stop.aborted) return;
        throw reason;
      }
      isOver = left <= pause;
      pause = Math.min(PAUSE_MS.most, 2 * pause);
    },
  };
}
