/** How an op is let go: it stays in our hands, and unfinished, until whoever asked for it has its answer. */
import type { Tape } from '../store/op-store.ts';
import type { AfterAnswer, JournalDependencies } from './dependencies.ts';

/**
 * Lets a run go; `ended` when its journal says END. The process may end from now on; the op is held, and stands among the
 * unfinished ones, until the answer was written. A process that is killed before leaves it there, and the same command is
 * then refused.
 */
export type Release = (ended: boolean) => Promise<void>;

/** `letGo` says that the process may end. */
export function releasing({ afterAnswer }: JournalDependencies, tape: Tape, letGo: () => void): Release {
  return async ended => {
    letGo();
    const last: AfterAnswer = answer => tape.release(ended && answer === 'written');
    if (afterAnswer === undefined) await last('written');
    else afterAnswer(last);
  };
}
