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
  /** Told when the service cannot be asked, once until it can again. */
  readonly onTrouble?: ((error: CliError) => void) | undefined;
}

/** Between the end of one look and the next; also within a look that takes several requests. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5_000;
const GROWTH = 1.5;

/**
 * What was found each time: at once, after pauses, and a last time when time is over. Outlives a service which goes away, refuses or
 * breaks connections for a while, from the first look on: then nothing is found, and `trouble` says why. An address where nobody
 * ever answered is an error at once. Throws the reason of the signal.
 */
export async function* looks<T>(waiting: Waiting, pace: Pace, look: () => Promise<T | undefined>) {
  const { clock, random, signal } = waiting;
  const { timeoutMs = Number.POSITIVE_INFINITY, firstMs = SHORTEST_PAUSE_MS, longestMs = LONGEST_PAUSE_MS } = pace;
  const ends = clock.monotonic() + timeoutMs;
  let trouble: CliError | undefined;
  let isFirst = true;
  for (let pause = firstMs; ; pause = Math.min(longestMs, pause * GROWTH)) {
    signal.throwIfAborted();
    let found: T | undefined;
    try {
      found = await look();
      trouble = undefined;
    } catch (error) {
      if (!(error instanceof CliError && mayPass(error, isFirst))) throw error;
      if (trouble === undefined) pace.onTrouble?.(error);
      trouble = error;
    }
    isFirst = false;
    yield { found, trouble };
    const left = ends - clock.monotonic();
    if (left <= 0) return;
    // Up to a tenth more, so that many who wait do not come at the same moments. The last look comes when time is over,
    // or a second after the one before. The service may want none of us for a while.
    const wished = Math.max(Math.ceil(pause * (1 + random.fraction() * 0.1)), trouble?.facts.retryAfterMs ?? 0);
    await clock.sleep(Math.max(SHORTEST_PAUSE_MS, Math.min(wished, left)), signal);
  }
}

/** Whether another look may go better. */
function mayPass({ kind, facts }: CliError, isFirst: boolean): boolean {
  if (kind === 'rate_limited') return true;
  // Answers that say the operation is not there will be the same again.
  if (kind !== 'unreachable' || facts.httpStatus === 501 || facts.httpStatus === 505) return false;
  // Nothing was sent: refused, no such name, no trust. At the first look that speaks for a wrong address.
  return !isFirst || facts.outcome !== 'not_sent';
}

/** Another request within the same look. */
export function nextRequest({ clock, signal }: Waiting): Promise<void> {
  return clock.sleep(SHORTEST_PAUSE_MS, signal);
}

export interface Wait<T> extends Pace {
  readonly timeoutMs: number;
  /** Looks once, with the signal in every request. Undefined: not yet. */
  readonly look: (signal: AbortSignal) => Promise<T | undefined>;
}

/**
 * What `look` found, or undefined when time is over. A service that still cannot be asked at the end is an error, for what was
 * waited for may have happened. A look that hangs is cut off soon after time is over.
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
  let trouble: CliError | undefined;
  for await (const looked of looks(waiting, wait, look)) {
    if (looked.found !== undefined) return looked.found;
    trouble = looked.trouble;
  }
  if (trouble !== undefined) throw trouble;
  return undefined;
}

/** How long a look may take that begins when time is over. */
const LAST_LOOK_MS = 10_000;

// A live view: what is new since the last look, each once, until a signal, a count or a time.

export interface LiveView<T> extends Pick<Pace, 'onTrouble'> {
  readonly everyMs: number;
  /** Ends after so long, after so many. */
  readonly forMs?: number | undefined;
  readonly count?: number | undefined;
  /** Looks once: what may be new, in the order it is to be shown. */
  readonly look: (seen: DedupeSet) => Promise<readonly T[]>;
}

/** A view that shows nothing any more must not look alive: so long it waits for a service to come back. */
const GIVE_UP_MS = 5 * MINUTE;

/** Batches of rows that were not shown before, empty ones where nothing is new. A signal ends it quietly. */
export async function* live<T extends { readonly id: string }>(
  waiting: Waiting,
  view: LiveView<T>,
): AsyncGenerator<readonly T[]> {
  const { everyMs, forMs, count = Number.POSITIVE_INFINITY, onTrouble } = view;
  const { clock, signal } = waiting;
  const seen = createDedupeSet();
  let left = count;
  let answeredAt = clock.monotonic();
  const pace = { timeoutMs: forMs, firstMs: everyMs, longestMs: everyMs, onTrouble };
  try {
    for await (const { found, trouble } of looks(waiting, pace, () => view.look(seen))) {
      if (found !== undefined) answeredAt = clock.monotonic();
      else if (clock.monotonic() - answeredAt > GIVE_UP_MS) throw trouble;
      const fresh = (found ?? []).filter(({ id }) => seen.add(id)).slice(0, left);
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
