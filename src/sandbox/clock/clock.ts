/** The clock of the sandbox: one row. Real time is handed in; leases and rate limits never come here. */
import type { Sql } from '../store/sql.ts';

export interface ClockRow {
  readonly mode: 'real' | 'offset' | 'frozen' | 'scaled';
  /** frozen: the time; offset: ms ahead of real time; scaled: the time at `real_since`; real: unused. */
  readonly at: number;
  /** Real time at which a scaled clock was set, ms UTC. */
  readonly real_since: number;
  /** Sandbox ms in 1,000 real ms, for a scaled clock. */
  readonly rate_milli: number;
}

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

interface Advance {
  readonly owner: string;
  readonly token: string;
  /** ms UTC on the clock of the sandbox. */
  readonly moves_to: number;
}

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
