/** A live view: what is new since the last look, each once, until a signal, a count or a time. */
import { MINUTE } from '../core/durations.ts';
import type { CliError } from '../core/errors.ts';
import { createDedupeSet, type DedupeSet } from './dedupe.ts';
import { patient, pollTimes, type Waiting } from './poll.ts';

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
