/**
 * Moving the clock forward (docs/design/sandbox.md, section 6): the earliest due timer, the clock on its time, its
 * effect in the same transaction, the next one, and at the end the clock on the time that was asked for.
 */

import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin.ts';
import { durationOf, instantOf } from '../../core/durations.ts';
import { type Call, impossible, Refused } from '../calls/handler.ts';
import {
  advanceOf,
  beginAdvance,
  clockShowing,
  isAdvanceRunning,
  nextDue,
  readClock,
  sandboxNow,
  setClock,
} from '../clock/clock.ts';
import { earliestDue } from '../delivery/dispatcher.ts';
import { isoTime } from '../rules/dates.ts';
import { type Fired, fireOne, type ServiceParts } from '../service/service.ts';
import type { Sql } from '../store/sql.ts';
import { wireClock } from './state.ts';

type Row = AdminOperations['clock.advance'];

/** Last moment that ISO 8601 writes with four digits of the year. */
const END_OF_TIME = Date.UTC(10_000, 0, 1) - 1;

/** Throws `invalid_request`: 400 for a time that is none or lies behind, 409 while another one moves the clock. */
export async function advanceClock(parts: ServiceParts, input: Call<Row>['input']): Promise<ReplyOf<Row>> {
  const { store, clock, owner, isGone, random, dispatcher } = parts;
  const token = Buffer.from(random.bytes(16)).toString('hex');
  const { from, to } = await store.write(sql => {
    if (isAdvanceRunning(sql, isGone)) throw impossible('the clock is being moved already');
    const shown = sandboxNow(sql, clock.now());
    const target = targetOf(input, shown);
    beginAdvance(sql, { owner, token, moves_to: target });
    return { from: shown, to: target };
  });
  const goOn = dispatcher?.hold();
  try {
    // What is due already goes first, and what is in the air lands: else an attempt that fails on the way would be
    // queued behind a clock that has gone past it.
    const overdue = (await dispatcher?.deliver({ kind: 'idle', upTo: from })) ?? [];
    const fired = [...overdue, ...(await fireUntil(parts, { to, token }))];
    return await store.write(sql => {
      refuseLost(sql, token);
      const row = clockShowing(readClock(sql), to, clock.now());
      setClock(sql, row);
      const { mode, now } = wireClock(row, to);
      return { mode, now, fired: fired.map(each => ({ ...each, due_at: isoTime(each.due_at) })) };
    });
  } finally {
    goOn?.();
    // Unless somebody else has it meanwhile.
    await store.write(sql => sql.run('delete from advances where token = ?', token));
  }
}

function targetOf({ by, to }: Call<Row>['input'], now: number): number {
  const target = instantOf(to) ?? now + (durationOf(by ?? '') ?? 0);
  if (target < now) {
    throw new Refused('invalid_request', `to: ${isoTime(target)} is behind the clock, which shows ${isoTime(now)}`);
  }
  if (target > END_OF_TIME) throw new Refused('invalid_request', 'the clock ends with the year 9999');
  return target;
}

/**
 * Everything due up to `to`, with the clock on the time of each while it happens. Deliveries too where this process
 * sends them; elsewhere they wait and are then tried once, however late.
 */
async function fireUntil(parts: ServiceParts, { to, token }: { to: number; token: string }): Promise<readonly Fired[]> {
  const { store, clock, dispatcher } = parts;
  const fired: Fired[] = [];
  // A delivery that nobody could try now does not hold time up.
  let stuckAt: number | undefined;
  for (;;) {
    const step = await store.write(sql => {
      refuseLost(sql, token);
      const row = readClock(sql);
      const onTime = (due: number) => {
        // One that was overdue already does not set the clock back.
        if (due > sandboxNow(sql, clock.now())) setClock(sql, clockShowing(row, due, clock.now()));
      };
      const timer = nextDue(sql, to);
      const delivery = dispatcher && earliestDue(sql);
      if (delivery === undefined || delivery > (timer?.due_at ?? to) || delivery === stuckAt)
        return fireOne(sql, parts, to, onTime);
      onTime(delivery);
      return delivery;
    });
    if (step === undefined) return fired;
    if (typeof step !== 'number') fired.push(step);
    else {
      const attempts = (await dispatcher?.deliver({ kind: 'idle', upTo: step })) ?? [];
      stuckAt = attempts.length === 0 ? step : undefined;
      fired.push(...attempts);
    }
  }
}

/** A process that was thought dead must not move a clock that is not its own any more. */
function refuseLost(sql: Sql, token: string): void {
  if (advanceOf(sql)?.token === token) return;
  throw impossible('another process moves the clock now');
}
