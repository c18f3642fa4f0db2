/**
 * Things that happen by themselves: an authorization that expires, a challenge that runs out. One row a thing; the row
 * and what it does are one transaction, so two processes never fire one timer twice
 * (docs/design/sandbox.md, section 6).
 */
import type { EventName } from '../../contract/events.ts';
import type { IdSource } from '../calls/handler.ts';
import type { Store } from '../store/queue.ts';
import { endsTransaction, type Sql } from '../store/sql.ts';

export interface Timer {
  /** Clock of the sandbox, ms UTC. */
  readonly dueAt: number;
  /** Which action of `TIMER_ACTIONS` it starts. */
  readonly kind: string;
  /** Id of what it is about; one timer for each kind and ref. */
  readonly ref: string;
}

/** What the action of a timer gets: an open transaction, its row already gone. */
export interface TimerCall {
  readonly sql: Sql;
  /** The moment the timer was due, not the moment somebody noticed: ms UTC on the clock of the sandbox. */
  readonly now: number;
  readonly ref: string;
  readonly idSource: IdSource;
  /** Records an event in this transaction. */
  emit(event: EventName, data: Readonly<Record<string, unknown>>): void;
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
    park(sql, timer, error);
    firing.onFault?.(error);
    return { ...timer, error };
  }
}

/** Longest text of an error that is kept. */
const LONGEST_ERROR = 500;

function park(sql: Sql, { kind, ref, dueAt }: Timer, error: unknown): void {
  const said = (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').toWellFormed();
  sql.insert('parked_timers', { kind, ref, due_at: dueAt, error: said.slice(0, LONGEST_ERROR) });
}

interface ParkedTimer {
  readonly kind: string;
  readonly ref: string;
  readonly due_at: number;
  readonly error: string;
}

/** Timers whose action threw, oldest first. */
export const parkedTimers = (sql: Sql) =>
  sql.all<ParkedTimer>('select kind, ref, due_at, error from parked_timers order by due_at, kind, ref limit 100');
