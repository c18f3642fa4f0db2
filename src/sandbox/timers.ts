/**
 * Things that happen by themselves: an authorization that expires, a challenge that runs out. One row a thing; the
 * row and what it does are one transaction, so two processes never fire one timer twice (SANDBOX, section 6).
 */
import type { EventName } from '../contract/events.ts';
import type { Chance } from './handler.ts';
import type { Sql, Store } from './store/sql.ts';

export interface Timer {
  readonly account: string;
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
  readonly account: string;
  /** The moment the timer was due, not the moment somebody noticed: ms UTC on the clock of the sandbox. */
  readonly now: number;
  readonly ref: string;
  readonly chance: Chance;
  /** Records an event in this transaction. */
  emit(event: EventName, data: Readonly<Record<string, unknown>>): Promise<void>;
  /** Sets a timer in this transaction. */
  schedule(timer: Omit<Timer, 'account'>): Promise<void>;
}

export type TimerActions = Readonly<Record<string, (call: TimerCall) => Promise<void>>>;

/** Sets the timer of `kind` and `ref`; one that is set already is moved. */
export async function schedule(sql: Sql, timer: Timer): Promise<void> {
  await sql.run(
    `insert into timers (account_id, kind, ref, due_at) values (?, ?, ?, ?)
     on conflict (account_id, kind, ref) do update set due_at = excluded.due_at`,
    timer.account,
    timer.kind,
    timer.ref,
    timer.dueAt,
  );
}

/** Takes a timer away; one that is not set is no mistake. */
export async function unschedule(sql: Sql, timer: Omit<Timer, 'dueAt'>): Promise<void> {
  await sql.run(
    'delete from timers where account_id = ? and kind = ? and ref = ?',
    timer.account,
    timer.kind,
    timer.ref,
  );
}

/** The earliest timer due at or before `upTo`; ties go by kind and ref. */
export async function nextDue(sql: Sql, account: string, upTo: number): Promise<Timer | undefined> {
  const row = await sql.get<{ kind: string; ref: string; due_at: number }>(
    `select kind, ref, due_at from timers where account_id = ? and due_at <= ?
     order by due_at, kind, ref limit 1`,
    account,
    upTo,
  );
  return row && { account, kind: row.kind, ref: row.ref, dueAt: row.due_at };
}

export interface Firing {
  readonly account: string;
  readonly upTo: number;
  readonly actions: TimerActions;
  /** Completes the call of an action inside its transaction. */
  readonly surroundings: (sql: Sql, timer: Timer) => Pick<TimerCall, 'chance' | 'emit'>;
  /** Told in the transaction, before the effect. */
  readonly onTime?: (timer: Timer) => Promise<void>;
}

/** Runs everything due up to `upTo`, earliest first, each in its own transaction. Resolves to what fired. */
export async function fireDue(store: Store, firing: Firing): Promise<readonly Timer[]> {
  const fired: Timer[] = [];
  for (;;) {
    const timer = await store.write(sql => fireOne(sql, firing));
    if (timer === undefined) return fired;
    fired.push(timer);
  }
}

/** Runs the earliest one in the open transaction; undefined when nothing is due. */
export async function fireOne(
  sql: Sql,
  { account, upTo, actions, surroundings, onTime }: Firing,
): Promise<Timer | undefined> {
  const timer = await nextDue(sql, account, upTo);
  if (timer === undefined) return undefined;
  const action = Object.hasOwn(actions, timer.kind) ? actions[timer.kind] : undefined;
  if (action === undefined) throw new Error(`a timer of the unknown kind ${timer.kind} is due`);
  await unschedule(sql, timer);
  await onTime?.(timer);
  await action({
    sql,
    account,
    now: timer.dueAt,
    ref: timer.ref,
    ...surroundings(sql, timer),
    schedule: next => schedule(sql, { ...next, account }),
  });
  return timer;
}
