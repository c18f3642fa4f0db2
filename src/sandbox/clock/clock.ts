/** The clock of the sandbox, one row, and what it sets off. Real time is handed in; leases and rate limits never come here. */

import type { Call } from '../calls/handler.ts';
import type { RowOf } from '../store/schema.ts';
import type { Sql } from '../store/sql.ts';

export type ClockRow = Omit<RowOf<'clock'>, 'one'>;

export const REAL_CLOCK: ClockRow = { mode: 'real', at: 0, real_since: 0, rate_milli: 1000 };

/** What the clock shows at the real time `real`; whole ms UTC. */
export function shownTime(clock: ClockRow, real: number): number {
  switch (clock.mode) {
    case 'frozen':
      return clock.at;
    case 'offset':
      return real + clock.at;
    case 'scaled':
      return clock.at + Math.round(((real - clock.real_since) * clock.rate_milli) / 1000);
    default:
      return real;
  }
}

/** Seconds of the clock in one real second. */
export function clockRate({ mode, rate_milli }: Pick<ClockRow, 'mode' | 'rate_milli'>): number {
  return { real: 1, offset: 1, frozen: 0, scaled: rate_milli / 1000 }[mode];
}

/**
 * A clock showing `at` at the real time `real`. A real clock becomes one with an offset
 * (docs/design/sandbox.md, section 6).
 */
export function clockShowing(clock: ClockRow, at: number, real: number): ClockRow {
  switch (clock.mode) {
    case 'frozen':
      return { ...clock, at };
    case 'scaled':
      return { ...clock, at, real_since: real };
    default:
      return { ...REAL_CLOCK, mode: 'offset', at: at - real };
  }
}

export const readClock = (sql: Sql): ClockRow =>
  sql.get<ClockRow>('select mode, at, real_since, rate_milli from clock') ?? REAL_CLOCK;

export function setClock(sql: Sql, { mode, at, real_since, rate_milli }: ClockRow): void {
  sql.run('delete from clock');
  sql.insert('clock', { mode, at, real_since, rate_milli });
}

/** Time of the sandbox now, ms UTC. */
export function sandboxNow(sql: Sql, real: number): number {
  return shownTime(readClock(sql), real);
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

let last = { second: Number.NaN, text: '' };

/**
 * @param now in ms. Most answers are of the second of the one before. Not by `toUTCString`: with the first date it writes
 * V8 looks up the time zone of the machine, a tenth of what a bare Node takes to start.
 */
export function dateText(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== last.second) last = { second, text: written(new Date(second * 1000)) };
  return last.text;
}

function written(date: Date): string {
  const two = (count: number) => String(count).padStart(2, '0');
  const day = `${DAYS[date.getUTCDay()]}, ${two(date.getUTCDate())} ${MONTHS[date.getUTCMonth()]}`;
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
  return `${day} ${year} ${time} GMT`;
}

// Who is moving the clock forward, at most one, and where to.

type Advance = Omit<RowOf<'advances'>, 'one'>;

/** Who moves it, whether alive or gone. */
export const advanceOf = (sql: Sql) => sql.get<Advance>('select owner, token, moves_to from advances');

/** Whether somebody moves the clock; one that is gone, as a process by its name, moves it no more. */
export function isAdvanceRunning(sql: Sql, isGone: (owner: string) => boolean): boolean {
  const found = advanceOf(sql);
  return found !== undefined && !isGone(found.owner);
}

/** Takes the clock, also from one that is gone; the caller has looked before, in the same transaction. */
export function beginAdvance(sql: Sql, advance: Advance): void {
  forgetAdvance(sql);
  sql.insert('advances', advance);
}

/** What was left on its way is not gone on with: the clock was set otherwise. */
export const forgetAdvance = (sql: Sql) => sql.run('delete from advances');

// Things that happen by themselves: an authorization that expires, a challenge that runs out. One row a thing; the row and what it does are one transaction, so two processes never fire one timer twice (docs/design/sandbox.md, section 6).

/** `kind` is the action of `TIMER_ACTIONS` that it starts, `ref` the id of what it is about; one timer for each kind and ref. */
export type Timer = RowOf<'timers'>;

/** What the action of a timer gets: its row is gone already, and `now` is when it was due, not when somebody noticed. */
export interface TimerCall extends Pick<Call, 'sql' | 'now' | 'idSource' | 'emit'> {
  readonly ref: string;
}

export type TimerActions = Readonly<Record<string, (call: TimerCall) => void>>;

/** Sets the timer of `kind` and `ref`; one that is set already is moved, one that is parked is tried again. */
export function schedule(sql: Sql, timer: Timer): void {
  sql.run('delete from parked_timers where kind = ? and ref = ?', timer.kind, timer.ref);
  unschedule(sql, timer);
  sql.insert('timers', timer);
}

/** Takes a timer away; one that is not set is no mistake. */
export const unschedule = (sql: Sql, { kind, ref }: Omit<Timer, 'due_at'>) =>
  sql.run('delete from timers where kind = ? and ref = ?', kind, ref);

/** The earliest timer due at or before `upTo`; ties go by kind and ref. */
export function nextDue(sql: Sql, upTo: number): Timer | undefined {
  return sql.get<Timer>(
    'select due_at, kind, ref from timers where due_at <= ? order by due_at, kind, ref limit 1',
    upTo,
  );
}

/** Timers whose action threw, oldest first. */
export const parkedTimers = (sql: Sql) =>
  sql.all<RowOf<'parked_timers'>>(
    'select kind, ref, due_at, error from parked_timers order by due_at, kind, ref limit 100',
  );
