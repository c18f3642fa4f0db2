/** clock.show, clock.set. Moving it forward takes many transactions: advance.ts. */

import { type AdminHandlers, impossible, Refused } from '../calls/handler.ts';
import { type ClockRow, clockRate, clockShowing, REAL_CLOCK, readClock, setClock } from '../clock/clock.ts';
import { instantOf, isoTime } from '../rules/dates.ts';
import type { MomentHandler } from '../service/service.ts';
import { advanceTarget, forgetAdvance, isAdvanceRunning } from '../store/advances.ts';
import { sendingNow } from '../store/deliveries.ts';

/** What the clock says about itself when it shows `now`. */
export function wireClock(clock: ClockRow, now: number) {
  return { mode: clock.mode, now: isoTime(now), rate: clockRate(clock) };
}

export const showClock: MomentHandler<'clock.show'> = async ({ sql, account, now }) => {
  const target = await advanceTarget(sql, account);
  const shown = wireClock(await readClock(sql, account), now);
  if (target === undefined) return { ...shown, moving_to: null, awaited_deliveries: 0 };
  const sending = await sendingNow(sql, account);
  return { ...shown, moving_to: isoTime(target), awaited_deliveries: sending.length };
};

/** Backwards too. What becomes due by it happens before the next request, at its own time. */
export const changeClock: AdminHandlers['clock.set'] = async ({ sql, account, now, real, isGone, input }) => {
  const { mode, at, rate } = input;
  if (mode === 'real' && at !== undefined) throw new Refused('invalid_request', 'at: a real clock shows real time');
  if ((mode === 'scaled') !== (rate !== undefined)) {
    throw new Refused('invalid_request', 'rate: needed for a scaled clock, and for no other');
  }
  if (await isAdvanceRunning(sql, account, isGone)) {
    throw impossible('the clock is being moved forward: wait for that to end');
  }
  const shown = at === undefined ? now : instantOf(at);
  const kind: ClockRow = { ...REAL_CLOCK, mode, rate_milli: Math.round((rate ?? 1) * 1000) };
  const clock = mode === 'real' ? REAL_CLOCK : clockShowing(kind, shown, real);
  await forgetAdvance(sql, account);
  await setClock(sql, account, clock);
  return wireClock(clock, mode === 'real' ? real : shown);
};
