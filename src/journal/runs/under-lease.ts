/**
 * An op in the way of another one that may end by itself in a moment: it is in the hands of a lease, and its process lives or
 * does not. Where it lives, two commands at once are both meant; where it does not, a second one would do the change twice.
 */
import { SECOND } from '../../core/durations.ts';
import type { CliError } from '../../core/errors.ts';
import type { JournalDependencies } from './dependencies.ts';

/** Most a command waits for ops of others, ms; theirs usually takes less than a second. */
export const PATIENCE_MS = 20 * SECOND;

/** Thrown by rules for an op that is worth waiting for. */
export class UnderLease {
  readonly op: string;
  /** What is said where it does not end. */
  readonly refusal: CliError;

  constructor(op: string, refusal: CliError) {
    this.op = op;
    this.refusal = refusal;
  }
}

/** Asks the rules again each time that an op in the way has ended. Throws what they say, with ops that do not end in time. */
export async function outlasting(
  { store, clock, stop, notice }: Pick<JournalDependencies, 'store' | 'clock' | 'stop' | 'notice'>,
  refuse: () => Promise<void>,
): Promise<void> {
  let until: number | undefined;
  for (;;) {
    const inTheWay = await refusing(refuse);
    if (inTheWay === undefined) return;
    const { op } = inTheWay;
    until ??= clock.monotonic() + PATIENCE_MS;
    const mostMs = until - clock.monotonic();
    const most = Math.ceil(mostMs / SECOND);
    const ended = await store.outlast?.(op, {
      mostMs,
      signal: stop,
      told: ({ holder, host }) =>
        notice(`note: ${holder} on ${host} is doing the same: ${op}; waiting for its end, ${most} s at most`),
    });
    if (ended === true) continue;
    // The seconds of its lease as they are now.
    const still = stop.aborted ? inTheWay : await refusing(refuse);
    if (still === undefined) return;
    throw still.refusal;
  }
}

async function refusing(refuse: () => Promise<void>): Promise<UnderLease | undefined> {
  try {
    await refuse();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof UnderLease) return thrown;
    throw thrown;
  }
}
