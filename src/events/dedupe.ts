/** Ids that came before, the newest of them: a view that runs for days must not grow. */

export interface DedupeSet {
  has(id: string): boolean;
  /** True when it was not there. */
  add(id: string): boolean;
  readonly size: number;
}

const MOST = 10_000;

/** Forgets the oldest beyond `most`. */
export function createDedupeSet(most = MOST): DedupeSet {
  const ids = new Set<string>();
  return {
    has: id => ids.has(id),
    add(id) {
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
