/** What a server of the sandbox is made of, and what every transaction of it shares. */
import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminName, AdminOperations, DataSet, LoadSize } from '../../contract/sandbox/admin.ts';
import type { Cents } from '../../core/money.ts';
import type { Secret } from '../../core/secret.ts';
import type { Host } from '../../platform/host.ts';
import { rest } from '../../platform/time.ts';
import type { Archives } from '../archive/archives.ts';
import { deterministicIds } from '../calls/deterministic-ids.ts';
import type { AdminHandlers, Call, Handlers, PartialReply } from '../calls/handler.ts';
import { nextDue, sandboxNow, type Timer, type TimerActions, unschedule } from '../clock/clock.ts';
import type { Dispatcher, SendingParts } from '../delivery/dispatcher.ts';
import type { LimitsKept } from '../http/answer.ts';
import { recordEvent } from '../outbox/outbox.ts';
import type { InspectorSessions } from '../page/inspector-sessions.ts';
import { endsTransaction, type Sql, StoreBroken, StoreBusy } from '../store/sql.ts';
import type { RequestLog } from './logs.ts';

/** What takes the whole service: many transactions, or none. */
export type ServiceHandlers = {
  readonly [N in AdminName]: (
    parts: ServiceParts,
    input: Call<AdminOperations[N]>['input'],
  ) => PartialReply<AdminOperations[N]> | Promise<PartialReply<AdminOperations[N]>>;
};

/** What a look sees: one moment of the store, and what this process has not written yet. */
export interface StoreMoment {
  readonly sql: Sql;
  /** Clock of the sandbox, ms UTC. */
  readonly now: number;
  readonly parts: ServiceParts;
}

/** What serves an operation in one transaction, or in one moment where it leaves no trace. */
export type StoreHandlers = {
  readonly [N in AdminName]: 'leavesNoTrace' extends keyof AdminOperations[N]
    ? (look: StoreMoment & Pick<Call<AdminOperations[N]>, 'input'>) => ReplyOf<AdminOperations[N]>
    : AdminHandlers[N];
};

/** Opens the account of a name, made on first use; its keys are the same each time. Throws `invalid_request`. */
export type OpenAccount = (
  wish: Call<AdminOperations['accounts.open']>['input'],
) => Promise<ReplyOf<AdminOperations['accounts.open']>>;

/** Of the machine it has real time alone; the clock of the sandbox is a row of the store. */
export interface ServiceParts extends SendingParts, Pick<Host, 'platform' | 'pid'> {
  readonly handlers: Handlers;
  readonly timerActions: TimerActions;
  readonly key: Secret;
  readonly adminToken: Secret;
  /** Makes accounts, each a sandbox of its own; the admin token is then good for nothing else. */
  readonly accounts?: OpenAccount | undefined;
  /** The data set that it was started with, the size of `load` and the wallet of `empty`. */
  readonly startedWith: {
    readonly data: DataSet;
    readonly size?: LoadSize | undefined;
    readonly wallet?: Cents | undefined;
  };
  readonly rateLimits: LimitsKept;
  /** Rate limits count on the clock of the sandbox. */
  readonly virtualLimits?: boolean | undefined;
  readonly requestLog: RequestLog;
  /** Plays scenarios; without it this sandbox plays none. */
  readonly scenarios?: ScenarioPlayer | undefined;
  /** Snapshots of the store. */
  readonly archives: Archives;
  /** Secret of subscriptions that name none; generated when left out. */
  readonly webhookSecret?: Secret | undefined;
  /** Where deliveries are sent; without it they wait in their queue. */
  readonly dispatcher?: Dispatcher | undefined;
  /** The way into the inspector; without it there is none. */
  readonly inspector?: InspectorSessions | undefined;
  /** Begins the end of a server that others may end. */
  readonly onStop?: (() => void) | undefined;
}

// Playing scenarios, which stand above the sandbox: whoever puts the program together hands a player in.

export type ScenarioRun = ReplyOf<AdminOperations['scenarios.show']>;

/** The server in which a scenario plays. */
export interface Stage {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly key: Secret;
  readonly adminToken: Secret;
}

export interface ScenarioPlayer {
  examples(): Promise<readonly { readonly name: string; readonly text: string }[]>;
  check(text: string): Promise<ReplyOf<AdminOperations['scenarios.check']>>;
  /** Begins it. Undefined while another one is running. */
  play(text: string, stage: Stage): Promise<ScenarioRun | undefined>;
  /** One of the runs of this process; undefined for an unknown or a forgotten one. */
  find(id: string): ScenarioRun | undefined;
}

// What falls due.

/** A timer that was taken off the list, and what its action said; then it is parked and had no effect. */
export interface Fired extends Timer {
  readonly error?: string;
}

/** Longest text of an error that is kept. */
const LONGEST_ERROR = 500;

/**
 * Runs the earliest timer due up to `upTo` in the open transaction; undefined when there is none. `onTime` is told when it was due, before the effect.
 * An action that throws is undone and its timer parked: one thing that cannot happen must not stand in the way of every request after it.
 */
export function fireOne(
  sql: Sql,
  { timerActions, onFault }: ServiceParts,
  upTo: number,
  onTime?: (due_at: number) => void,
): Fired | undefined {
  const timer = nextDue(sql, upTo);
  if (timer === undefined) return undefined;
  const { kind, ref, due_at: now } = timer;
  onTime?.(now);
  const action = Object.hasOwn(timerActions, kind) ? timerActions[kind] : undefined;
  try {
    sql.undoable(() => {
      if (action === undefined) throw new Error(`a timer of the unknown kind ${kind} is due`);
      unschedule(sql, timer);
      const idSource = deterministicIds({ sql });
      const emit: Call['emit'] = (event, data) => recordEvent({ sql, now, idSource }, event, data);
      action({ sql, now, ref, idSource, emit });
    });
    return timer;
  } catch (error) {
    // Of these the transaction itself is lost, or must be tried again.
    if (endsTransaction(error)) throw error;
    unschedule(sql, timer);
    const said = (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').toWellFormed();
    const parked = { ...timer, error: said.slice(0, LONGEST_ERROR) };
    sql.insert('parked_timers', parked);
    onFault(error);
    return parked;
  }
}

// Timers that go off by themselves, for a sandbox that is left running: nobody has to ask for something first.

/** Real ms between two looks: timers are set by other processes too, and a scaled clock makes them due any time. */
const LOOK_EVERY = 250;

/**
 * Fires what is due on the clock of the sandbox until `signal` is aborted; the step in hand is finished first. Errors
 * are told to `onFault` and tried again, a store that is busy untold: another process may fill it for minutes. A broken one ends it.
 */
export async function runTimersUntil(parts: ServiceParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      // Looked for by reading: where nothing is due nobody has to wait for the write lock.
      const upTo = await parts.store.read(sql => {
        const now = sandboxNow(sql, parts.clock.now());
        return nextDue(sql, now) && now;
      });
      // Each in its own transaction.
      if (upTo !== undefined) while ((await parts.store.write(sql => fireOne(sql, parts, upTo))) !== undefined);
    } catch (error) {
      if (!(error instanceof StoreBusy)) parts.onFault(error);
      if (error instanceof StoreBroken) return;
    }
    await rest(LOOK_EVERY, parts.clock, signal);
  }
}
