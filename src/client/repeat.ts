/**
 * The one place that sends again: what was never sent, and reads. A write is never repeated after its send event
 * (RELIABILITY, section 2); waits after 429 and settling by key belong to whoever holds the journal.
 */
import type { Clock, Randomness } from '../host.ts';
import type { Verdict } from './judge.ts';

const ATTEMPTS = 3;
const BASE_MS = 100;
const CEILING_MS = 20_000;

export interface Repeating {
  readonly clock: Clock;
  readonly random: Randomness;
  readonly signals: readonly (AbortSignal | undefined)[];
}

/** Attempts until one ends in a class that must not or need not be repeated. Rejects when a signal is aborted. */
export async function repeatWhileSafe(once: () => Promise<Verdict>, repeating: Repeating): Promise<Verdict> {
  for (let tried = 1; ; tried += 1) {
    const verdict = await once();
    const safe = (verdict.class === 'not_sent' || verdict.class === 'read_failed') && verdict.again;
    if (!safe || tried === ATTEMPTS || repeating.signals.some(signal => signal?.aborted)) return verdict;
    const wait = repeating.random.fraction() * Math.min(CEILING_MS, BASE_MS * 2 ** tried);
    const stop = AbortSignal.any(repeating.signals.filter(signal => signal !== undefined));
    await repeating.clock.sleep(wait, stop);
  }
}
