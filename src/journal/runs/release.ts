/** How an op is let go: its lock and its mark stay until whoever asked for it has its answer. */
import type { AfterAnswer, JournalDependencies } from './dependencies.ts';

/**
 * Lets a run go; `ended` when its journal says END. The process may end from now on; the lock is kept, and the mark
 * among the unfinished ones stands, until the answer was written. A process that is killed before leaves the mark,
 * and the same command is then refused.
 */
export type Release = (ended: boolean) => Promise<void>;

/** `unlock` removes the lock of the op, which this process holds. */
export function releasing(
  { disk, places, hold, afterAnswer }: JournalDependencies,
  op: string,
  unlock: () => Promise<void>,
): Release {
  const letGo = hold();
  return async ended => {
    letGo();
    const last: AfterAnswer = async answer => {
      if (ended && answer === 'written') await disk.remove(places.unfinishedMark(op));
      await unlock();
    };
    if (afterAnswer === undefined) await last('written');
    else afterAnswer(last);
  };
}
