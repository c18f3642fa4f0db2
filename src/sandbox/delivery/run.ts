/** Sends what is due. The same loop serves `sandbox start`, `sandbox exec`, a listening command and a move of the clock; any number of processes may run it on one store. */
import { sandboxNow } from '../clock/clock.ts';
import { sendingNow } from '../store/rows.ts';
import { type Sql, StoreBusy } from '../store/sql.ts';
import {
  type Claimed,
  type ClaimResult,
  claimNext,
  type DeliveryOptions,
  type DeliveryParts,
  LIMITS,
  record,
} from './attempt.ts';
import { isDelivered, post, systemResolve } from './send.ts';

/** The deliveries of one sandbox in one process: live in the background, or step by step while the clock is moved. */
export interface Dispatcher {
  /** Sends what is due until idle or until a signal; see `Until`. */
  deliver(until: Until): Promise<readonly DeliveryAttempt[]>;
  /** Keeps the background from sending, so that only `fireDue` does; call what it returns to let it go on. */
  hold(): () => void;
  /** When the next delivery is due; undefined when none is due by `upTo`. */
  nextDue(sql: Sql, upTo: number): number | undefined;
  /** Tries everything due at or before `upTo` once; the clock stands there already. */
  fireDue(upTo: number): Promise<readonly DeliveryAttempt[]>;
  /** Ends the background; what is in the air is cut off and goes again later. */
  stop(): Promise<void>;
}

/** With `live` it begins to send in the background at once. */
export function createDispatcher(
  sender: Omit<DeliveryParts, keyof DeliveryOptions>,
  { live, allowRemote = false, limits }: DeliveryOptions & { readonly live: boolean },
): Dispatcher {
  const parts: DeliveryParts = { ...sender, allowRemote, limits: { ...LIMITS, ...limits } };
  const stopping = new AbortController();
  let held = 0;
  const deliver = (until: Until) => runDeliveries(parts, until, () => until.kind !== 'idle' && held > 0);
  const background = live ? deliver({ kind: 'signal', signal: stopping.signal }).catch(parts.onFault) : undefined;
  return {
    deliver,
    hold() {
      held += 1;
      let isOver = false;
      return () => {
        if (!isOver) held -= 1;
        isOver = true;
      };
    },
    nextDue(sql, upTo) {
      const due = earliestDue(sql);
      return due !== undefined && due <= upTo ? due : undefined;
    },
    fireDue: upTo => deliver({ kind: 'idle', upTo }),
    async stop() {
      stopping.abort();
      await background;
    },
  };
}

/**
 * `signal`: until aborted. `due`: until nothing due is left for this process to begin; another one's attempts are not waited for.
 * `idle`: until nothing that is due at or before `upTo` (ms on the clock of the sandbox; now when left out) is left, in this process or
 * another; each overdue delivery is tried once by it.
 */
export interface Until {
  readonly kind: 'signal' | 'due' | 'idle';
  readonly signal?: AbortSignal | undefined;
  readonly upTo?: number | undefined;
}

/** One attempt, for whoever moved the clock. */
export interface DeliveryAttempt {
  readonly delivery: string;
  /** When it was due: ms UTC on the clock of the sandbox. */
  readonly dueAt: number;
  readonly isDelivered: boolean;
}

/** Subscriptions that are served at the same time. */
const MOST_AT_ONCE = 16;

/** Resolves to what was tried until idle; to nothing when it ran until a signal. Attempts in the air are cut off. */
async function runDeliveries(
  parts: DeliveryParts,
  until: Until,
  isHeld: () => boolean,
): Promise<readonly DeliveryAttempt[]> {
  const { store, clock } = parts;
  const stop = until.signal ?? new AbortController().signal;
  // Fixed once: on a fast clock the next attempt of the same delivery would be due again meanwhile.
  const upTo =
    until.kind === 'idle'
      ? (until.upTo ?? (await store.read(sql => sandboxNow(sql, clock.now()))))
      : Number.MAX_SAFE_INTEGER;
  const attempts: DeliveryAttempt[] = [];
  const inTheAir = new Set<Promise<void>>();
  const writing = new Set<Promise<void>>();
  const start = (claimed: Claimed) => {
    const flight = attempt(parts, claimed, stop).then(({ isDelivered, written }) => {
      if (until.kind === 'idle') attempts.push({ delivery: claimed.row.id, dueAt: claimed.row.due_at, isDelivered });
      inTheAir.delete(flight);
      const saved = written.finally(() => writing.delete(saved));
      writing.add(saved);
    });
    inTheAir.add(flight);
  };
  while (!stop.aborted) {
    const look =
      inTheAir.size < MOST_AT_ONCE && !isHeld()
        ? await lookForWork(parts, upTo, writing.size > 0)
        : { isPending: true };
    if (look.claimed !== undefined) {
      start(look.claimed);
      continue;
    }
    if (inTheAir.size === 0 && (until.kind === 'due' || (until.kind === 'idle' && !look.isPending))) break;
    await moment(parts, inTheAir, { stop, isWaiting: until.kind === 'idle' });
  }
  await Promise.all(inTheAir);
  await Promise.all(writing);
  return attempts;
}

/** When the next one is due; undefined when none is queued. */
function earliestDue(sql: Sql): number | undefined {
  const statement = "select due_at from deliveries where state = 'queued' order by due_at limit 1";
  return sql.get<{ due_at: number }>(statement)?.due_at;
}

/** Takes the store's lock only when there seems to be work, or when something is being written down anyway. */
async function lookForWork(parts: DeliveryParts, upTo: number, isWriting: boolean): Promise<ClaimResult> {
  const { store, clock, onFault } = parts;
  try {
    const isWork = (sql: Sql) => {
      const due = earliestDue(sql);
      return (due !== undefined && due <= Math.min(upTo, sandboxNow(sql, clock.now()))) || sendingNow(sql).length > 0;
    };
    if (!isWriting && !(await store.read(isWork))) return { isPending: false };
    return await store.write(sql => claimNext(sql, parts, upTo));
  } catch (error) {
    if (!(error instanceof StoreBusy)) throw error;
    onFault(error);
    return { isPending: true };
  }
}

/** Sends one and begins to write down what came of it; who waits for `written` knows that it lasts. */
async function attempt(parts: DeliveryParts, claimed: Claimed, signal: AbortSignal) {
  const { store, clock, allowRemote, limits, onFault } = parts;
  const began = clock.monotonic();
  const reply = await post(claimed.request, {
    resolve: systemResolve,
    allowRemote,
    clock,
    limit: limits.attempt,
    signal,
  });
  const isCutOff = reply.status === undefined && signal.aborted;
  const came = { reply, duration: clock.monotonic() - began, isCutOff };
  // Not waited for: the next claim of this subscription joins the same commit.
  const written = writtenDown(parts, () => store.write(sql => record(sql, parts, claimed, came))).catch(onFault);
  return { isDelivered: isDelivered(reply), written };
}

/** Real ms between two tries to write down what came of an attempt. */
const WRITE_AGAIN = 200;

/**
 * Tries as long as the lease lasts: else a receiver that has answered would be told again. A second time changes nothing,
 * because the lease is given up with the first.
 */
async function writtenDown({ clock, limits }: DeliveryParts, write: () => Promise<void>): Promise<void> {
  const until = clock.monotonic() + limits.lease;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreBusy) || clock.monotonic() >= until) throw error;
      await clock.sleep(WRITE_AGAIN);
    }
  }
}

/** Until one of ours has landed, it is time to look again, or the end. */
async function moment(
  { clock, limits }: DeliveryParts,
  inTheAir: ReadonlySet<Promise<void>>,
  { stop, isWaiting }: { readonly stop: AbortSignal; readonly isWaiting: boolean },
): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  if (stop.aborted) end();
  stop.addEventListener('abort', end);
  const pause = clock.sleep(isWaiting ? Math.min(10, limits.poll) : limits.poll, over.signal).catch(() => undefined);
  await Promise.race([pause, ...inTheAir]);
  stop.removeEventListener('abort', end);
  end();
}
