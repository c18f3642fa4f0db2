/** Who has a say when a signal comes: a child at the terminal, a write on the wire, a card on the screen. */

import { setMaxListeners } from 'node:events';
import { kill } from 'node:process';

/** True while a process of this number runs: signal 0 reaches nobody, and one of another user is there all the same. */
export function isRunning(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export function signalHolders() {
  const restorers = new Set<() => void>();
  const children = new Set<(signal: NodeJS.Signals) => void>();
  const cutting = new AbortController();
  setMaxListeners(0, cutting.signal);
  let writing = 0;
  return {
    /** Hands signals to a child that has the terminal, until the returned function is called. */
    handOver(onSignal: (signal: NodeJS.Signals) => void): () => void {
      children.add(onSignal);
      return () => children.delete(onSignal);
    },
    /** Hands a signal to the child that has the terminal; false when there is none. */
    passOn(name: NodeJS.Signals): boolean {
      // Whoever takes it may take no more after it.
      const takers = [...children];
      for (const onSignal of takers) onSignal(name);
      return takers.length > 0;
    },
    get cut(): AbortSignal {
      return cutting.signal;
    },
    /** Says that a write is on the wire, until the returned function is called. */
    holdCut(): () => void {
      writing += 1;
      return () => {
        writing -= 1;
      };
    },
    /** Cuts off what is on the wire; false when nothing is, or it was cut off before. */
    cutOff(reason: unknown): boolean {
      if (writing === 0 || cutting.signal.aborted) return false;
      cutting.abort(reason);
      return true;
    },
    /** Has the terminal put back at every way out, until the returned function is called. */
    onCrash(restore: () => void): () => void {
      restorers.add(restore);
      return () => restorers.delete(restore);
    },
    /** Puts the terminal back as it was; for every way out. */
    restoreScreen(): void {
      for (const restore of restorers) restore();
    },
  };
}
