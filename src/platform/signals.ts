/** Who has a say when a signal comes: a child at the terminal, a write on the wire, a card on the screen. */

import { setMaxListeners } from 'node:events';

export interface SignalHolders {
  /** Hands signals to a child that has the terminal, until the returned function is called. */
  handOver(onSignal: (signal: NodeJS.Signals) => void): () => void;
  /** Hands a signal to the child that has the terminal; false when there is none. */
  passOn(signal: NodeJS.Signals): boolean;
  readonly cut: AbortSignal;
  /** Says that a write is on the wire, until the returned function is called. */
  holdCut(): () => void;
  /** Cuts off what is on the wire; false when nothing is, or it was cut off before. */
  cutOff(reason: unknown): boolean;
  /** Has the terminal put back at every way out, until the returned function is called. */
  onCrash(restore: () => void): () => void;
  /** Puts the terminal back as it was; for every way out. */
  restoreScreen(): void;
}

export function signalHolders(): SignalHolders {
  const restorers = new Set<() => void>();
  const children = new Set<(signal: NodeJS.Signals) => void>();
  const cutting = new AbortController();
  setMaxListeners(0, cutting.signal);
  let writing = 0;
  return {
    handOver(onSignal) {
      children.add(onSignal);
      return () => children.delete(onSignal);
    },
    passOn(name) {
      // Whoever takes it may take no more after it.
      const takers = [...children];
      for (const onSignal of takers) onSignal(name);
      return takers.length > 0;
    },
    cut: cutting.signal,
    holdCut() {
      writing += 1;
      return () => {
        writing -= 1;
      };
    },
    cutOff(reason) {
      if (writing === 0 || cutting.signal.aborted) return false;
      cutting.abort(reason);
      return true;
    },
    onCrash(restore) {
      restorers.add(restore);
      return () => restorers.delete(restore);
    },
    restoreScreen() {
      for (const restore of restorers) restore();
    },
  };
}
