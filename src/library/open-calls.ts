/** The calls of a client that are under way, and the end of the client: none begins behind it. */
import { wrongly } from './given-values.ts';

export interface OpenCalls {
  /** Begins at once. Rejects with `usage` after `end()`, and as the work does. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when those under way have ended, however. */
  end(): Promise<void>;
}

export function openCalls(): OpenCalls {
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    async run(work) {
      if (isClosed) throw wrongly('this client is closed');
      const done = work();
      underWay.add(done);
      try {
        return await done;
      } finally {
        underWay.delete(done);
      }
    },
    async end() {
      isClosed = true;
      await Promise.allSettled(underWay);
    },
  };
}
