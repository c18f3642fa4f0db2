/** Works of one name go one after the other, in the order in which they came; those of other names beside them. */
export type Queue = <T>(name: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * A work that waits and is cancelled begins at once: it sees its signal, and says itself what that means. Rejects as the
 * work does.
 */
export function oneAtATime(): Queue {
  const last = new Map<string, Promise<unknown>>();
  return (name, work, signal) => {
    const before = last.get(name);
    const done = before === undefined ? work() : endOf(before, signal).then(work);
    // Those behind a cancelled one still wait for the one before it.
    const both = Promise.allSettled([before, done]);
    last.set(name, both);
    void both.then(() => last.get(name) === both && last.delete(name));
    return done;
  };
}

/** Resolves when all before have ended, however, or when the signal is given. */
function endOf(before: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise(resolve => {
    const go = () => {
      signal?.removeEventListener('abort', go);
      resolve();
    };
    void before.then(go);
    if (signal?.aborted === true) go();
    signal?.addEventListener('abort', go);
  });
}
