/**
 * Looking again and again, politely: never two requests within a second, pauses that grow, a limit in the time that this machine ran
 * (docs/design/security.md, G15).
 */

import type { ListPage } from '../contract/operation.ts';
import { instantOf, MINUTE } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import type { Host } from '../platform/host.ts';
import { within } from '../platform/time.ts';

/** The reason of the signal, of Ctrl-C and SIGTERM, is thrown. */
export type Waiting = Pick<Host, 'clock' | 'random' | 'signal'>;

interface Pace {
  /** Milliseconds until time is over; for ever when left out. */
  readonly timeoutMs?: number | undefined;
  /** The first pause, and the one they grow to. */
  readonly firstMs?: number;
  readonly longestMs?: number;
  /** Asked before each pause: the service wants none of us for so many ms. */
  readonly atLeastMs?: () => number;
}

/** Between the end of one look and the next; also within a look that takes several requests. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5_000;
const GROWTH = 1.5;

/**
 * Yields each time it is time to look: at once, after pauses, and a last time when time is over. Throws the reason of
 * the signal.
 */
export async function* pollTimes(waiting: Waiting, pace: Pace = {}): AsyncGenerator<undefined> {
  const { clock, random, signal } = waiting;
  const { timeoutMs = Number.POSITIVE_INFINITY, firstMs = SHORTEST_PAUSE_MS, longestMs = LONGEST_PAUSE_MS } = pace;
  const { atLeastMs = () => 0 } = pace;
  const ends = clock.monotonic() + timeoutMs;
  for (let pause = firstMs; ; pause = Math.min(longestMs, pause * GROWTH)) {
    signal.throwIfAborted();
    yield undefined;
    const left = ends - clock.monotonic();
    if (left <= 0) return;
    // Up to a tenth more, so that many who wait do not come at the same moments. The last look comes when time is over,
    // or a second after the one before.
    const wished = Math.max(Math.ceil(pause * (1 + random.fraction() * 0.1)), atLeastMs());
    await clock.sleep(Math.max(SHORTEST_PAUSE_MS, Math.min(wished, left)), signal);
  }
}

/** Another request within the same look. */
export function nextRequest({ clock, signal }: Waiting): Promise<void> {
  return clock.sleep(SHORTEST_PAUSE_MS, signal);
}

export interface Wait<T> extends Pace {
  readonly timeoutMs: number;
  /** Looks once, with the signal in every request. Undefined: not yet. */
  readonly look: (signal: AbortSignal) => Promise<T | undefined>;
  /** Told when the service cannot be asked, once until it can again. */
  readonly onTrouble?: (error: CliError) => void;
}

/**
 * What `look` found, or undefined when time is over. A service that refuses for a while, or breaks connections, is asked
 * again; when it still does at the end, that error is thrown, for what was waited for may have happened. A look that
 * hangs is cut off soon after time is over.
 */
export async function waitFor<T>(waiting: Waiting, wait: Wait<T>): Promise<T | undefined> {
  const { clock, signal } = waiting;
  const ends = clock.monotonic() + wait.timeoutMs;
  const late = new CliError('unreachable', { message: 'the service did not answer before the wait was over' });
  const look = () =>
    within(
      Math.max(0, ends - clock.monotonic()) + LAST_LOOK_MS,
      clock,
      isLate => wait.look(AbortSignal.any([isLate, signal])),
      late,
    );
  const asked = patient(look, wait.onTrouble);
  for await (const _ of pollTimes(waiting, { ...wait, atLeastMs: () => asked.trouble?.facts.retryAfterMs ?? 0 })) {
    const found = await asked.look();
    if (found !== undefined) return found;
  }
  if (asked.trouble !== undefined) throw asked.trouble;
  return undefined;
}

/** How long a look may take that begins when time is over. */
const LAST_LOOK_MS = 10_000;

/**
 * A look that outlives a service which goes away, refuses or breaks connections for a while, from the first look on. An
 * address where nobody ever answered is an error at once.
 */
export function patient<T>(look: () => Promise<T | undefined>, onTrouble: (error: CliError) => void = () => undefined) {
  let trouble: CliError | undefined;
  let wasThere = false;
  return {
    /** Undefined also while the service cannot be asked. */
    async look(): Promise<T | undefined> {
      try {
        const found = await look();
        trouble = undefined;
        wasThere = true;
        return found;
      } catch (error) {
        if (!(error instanceof CliError && mayPass(error, wasThere))) throw error;
        wasThere = true;
        if (trouble === undefined) onTrouble(error);
        trouble = error;
        return undefined;
      }
    },
    /** Why the newest look failed. */
    get trouble(): CliError | undefined {
      return trouble;
    },
  };
}

/** Whether another look may go better. */
function mayPass({ kind, facts }: CliError, wasThere: boolean): boolean {
  if (kind === 'rate_limited') return true;
  // Answers that say the operation is not there will be the same again.
  if (kind !== 'unreachable' || facts.httpStatus === 501 || facts.httpStatus === 505) return false;
  // Nothing was sent: refused, no such name, no trust. At the first look that speaks for a wrong address.
  return wasThere || facts.outcome !== 'not_sent';
}

// A live view: what is new since the last look, each once, until a signal, a count or a time.

export interface LiveView<T> {
  readonly everyMs: number;
  /** Ends after so long, after so many. */
  readonly forMs?: number | undefined;
  readonly count?: number | undefined;
  /** Looks once: what may be new, in the order it is to be shown. */
  readonly look: (seen: DedupeSet) => Promise<readonly T[]>;
  readonly onTrouble?: (error: CliError) => void;
}

/** A view that shows nothing any more must not look alive: so long it waits for a service to come back. */
const GIVE_UP_MS = 5 * MINUTE;

/** Batches of rows that were not shown before, empty ones where nothing is new. A signal ends it quietly. */
export async function* live<T extends { readonly id: string }>(
  waiting: Waiting,
  view: LiveView<T>,
): AsyncGenerator<readonly T[]> {
  const { everyMs, forMs, count = Number.POSITIVE_INFINITY } = view;
  const { clock, signal } = waiting;
  const seen = createDedupeSet();
  const asked = patient(() => view.look(seen), view.onTrouble);
  let left = count;
  let answeredAt = clock.monotonic();
  try {
    const atLeastMs = () => asked.trouble?.facts.retryAfterMs ?? 0;
    for await (const _ of pollTimes(waiting, { timeoutMs: forMs, firstMs: everyMs, longestMs: everyMs, atLeastMs })) {
      const rows = await asked.look();
      if (rows !== undefined) answeredAt = clock.monotonic();
      else if (clock.monotonic() - answeredAt > GIVE_UP_MS) throw asked.trouble;
      const fresh = (rows ?? []).filter(({ id }) => seen.add(id)).slice(0, left);
      left -= fresh.length;
      yield fresh;
      if (left <= 0) return;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

// The newest rows of a list that grows at its head: as many pages as it takes to meet one that is known.

interface Tail<T> {
  /** Pages from the newest on. */
  readonly pages: () => AsyncIterable<ListPage<T>>;
  /** So many of those that were there before are shown too. */
  readonly last: number;
  /** Told when more came than are looked through. */
  readonly onGap: () => void;
}

const MOST_PAGES = 20;

/** A look for `live`: new rows, oldest first. The first look takes note of what is there. */
export function pollTail<T extends { readonly id: string; readonly created_at?: string | null }>(
  waiting: Waiting,
  tail: Tail<T>,
): (seen: DedupeSet) => Promise<readonly T[]> {
  const timeOf = ({ created_at }: T) => instantOf(created_at) ?? Number.NEGATIVE_INFINITY;
  let isFirst = true;
  let since = Number.NEGATIVE_INFINITY;
  return async seen => {
    const fresh: T[] = [];
    let number = 0;
    for await (const { data } of tail.pages()) {
      if (isFirst) {
        isFirst = false;
        since = Math.max(...data.map(timeOf), since);
        for (const { id } of data.slice(tail.last)) seen.add(id);
        return data.slice(0, tail.last).reverse();
      }
      number += 1;
      const known = data.findIndex(({ id }) => seen.has(id));
      // Records of one moment have no order among themselves: a new one may stand behind one that is known. Behind those
      // of a later page are also the ones that were there before all this.
      const isNew = (row: T, at: number) =>
        !seen.has(row.id) && (known < 0 || at < known || number === 1 || timeOf(row) >= since);
      fresh.push(...data.filter(isNew));
      if (known >= 0 || data.length === 0) break;
      if (number === MOST_PAGES) {
        tail.onGap();
        break;
      }
      await nextRequest(waiting);
    }
    return fresh.reverse();
  };
}

// Ids that came before, the newest of them: a view that runs for days must not grow.

const MOST = 10_000;

type DedupeSet = ReturnType<typeof createDedupeSet>;

/** Forgets the oldest beyond `most`. */
export function createDedupeSet(most = MOST) {
  const ids = new Set<string>();
  return {
    has: (id: string) => ids.has(id),
    /** True when it was not there. */
    add(id: string): boolean {
      if (ids.has(id)) return false;
      ids.add(id);
      if (ids.size > most) for (const oldest of ids) return ids.delete(oldest);
      return true;
    },
    get size() {
      return ids.size;
    },
  };
}
