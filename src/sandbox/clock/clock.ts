/** The clock of the sandbox, one row, and what it sets off. Real time is handed in; leases and rate limits never come here. */

import type { Call } from '../calls/handler.ts';
import type { Store } from '../store/queue.ts';
import type { ADVANCES, CLOCK, PARKED_TIMERS, RowOf } from '../store/schema.ts';
import { endsTransaction, type Sql } from '../store/sql.ts';

export type ClockRow = Omit<RowOf<typeof CLOCK>, 'one'>;

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

type Advance = Omit<RowOf<typeof ADVANCES>, 'one'>;

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

export interface Timer {
  /** Clock of the sandbox, ms UTC. */
  readonly dueAt: number;
  /** Which action of `TIMER_ACTIONS` it starts. */
  readonly kind: string;
  /** Id of what it is about; one timer for each kind and ref. */
  readonly ref: string;
}

/** What the action of a timer gets: its row is gone already, and `now` is when it was due, not when somebody noticed. */
export interface TimerCall extends Pick<Call, 'sql' | 'now' | 'idSource' | 'emit'> {
  readonly ref: string;
}

export type TimerActions = Readonly<Record<string, (call: TimerCall) => void>>;

/** A timer that was taken off the list, and what its action threw; then it is parked and had no effect. */
export interface Fired extends Timer {
  readonly error?: unknown;
}

/** Sets the timer of `kind` and `ref`; one that is set already is moved, one that is parked is tried again. */
export function schedule(sql: Sql, timer: Timer): void {
  const { kind, ref, dueAt } = timer;
  sql.run('delete from parked_timers where kind = ? and ref = ?', kind, ref);
  unschedule(sql, timer);
  sql.insert('timers', { kind, ref, due_at: dueAt });
}

/** Takes a timer away; one that is not set is no mistake. */
export const unschedule = (sql: Sql, { kind, ref }: Omit<Timer, 'dueAt'>) =>
  sql.run('delete from timers where kind = ? and ref = ?', kind, ref);

/** The earliest timer due at or before `upTo`; ties go by kind and ref. */
export function nextDue(sql: Sql, upTo: number): Timer | undefined {
  return sql.get<Timer>(
    'select kind, ref, due_at as dueAt from timers where due_at <= ? order by due_at, kind, ref limit 1',
    upTo,
  );
}

export interface Firing {
  readonly upTo: number;
  readonly actions: TimerActions;
  /** Completes the call of an action inside its transaction. */
  readonly callParts: (sql: Sql, timer: Timer) => Pick<TimerCall, 'idSource' | 'emit'>;
  /** Told in the transaction, before the effect. */
  readonly onTime?: (timer: Timer) => void;
  /** Told what an action threw. */
  readonly onFault?: (error: unknown) => void;
}

/** Runs everything due up to `upTo`, earliest first, each in its own transaction. Resolves to what fired. */
export async function fireDue(store: Store, firing: Firing): Promise<readonly Fired[]> {
  const fired: Fired[] = [];
  for (;;) {
    const timer = await store.write(sql => fireOne(sql, firing));
    if (timer === undefined) return fired;
    fired.push(timer);
  }
}

/** Runs everything due in the open transaction, earliest first. */
export function fireAllDue(sql: Sql, firing: Firing): void {
  while (fireOne(sql, firing) !== undefined);
}

/**
 * Runs the earliest one in the open transaction; undefined when nothing is due. An action that throws is undone and
 * its timer parked: one thing that cannot happen must not stand in the way of every request after it.
 */
export function fireOne(sql: Sql, firing: Firing): Fired | undefined {
  const timer = nextDue(sql, firing.upTo);
  if (timer === undefined) return undefined;
  firing.onTime?.(timer);
  const action = Object.hasOwn(firing.actions, timer.kind) ? firing.actions[timer.kind] : undefined;
  try {
    sql.undoable(() => {
      if (action === undefined) throw new Error(`a timer of the unknown kind ${timer.kind} is due`);
      unschedule(sql, timer);
      action({ sql, now: timer.dueAt, ref: timer.ref, ...firing.callParts(sql, timer) });
    });
    return timer;
  } catch (error) {
    // Of these the transaction itself is lost, or must be tried again.
    if (endsTransaction(error)) throw error;
    unschedule(sql, timer);
    const said = (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').toWellFormed();
    const { kind, ref, dueAt } = timer;
    sql.insert('parked_timers', { kind, ref, due_at: dueAt, error: said.slice(0, LONGEST_ERROR) });
    firing.onFault?.(error);
    return { ...timer, error };
  }
}

/** Longest text of an error that is kept. */
const LONGEST_ERROR = 500;

/** Timers whose action threw, oldest first. */
export const parkedTimers = (sql: Sql) =>
  sql.all<RowOf<typeof PARKED_TIMERS>>(
    'select kind, ref, due_at, error from parked_timers order by due_at, kind, ref limit 100',
  );
