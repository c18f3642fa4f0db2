/** The ids that came last, exact and in memory that does not grow: a list may have millions of rows. */

export interface RecentIds {
  /** Remembers an id, `bytes` from `begin` to `end`; true when it was not there. */
  add(bytes: Uint8Array, begin: number, end: number): boolean;
}

/** Rows move to later pages by as many as are new, so the ids of the pages before are enough, however long the list. */
const MOST_RECENT = 2_000;
/** Twice as many and more, so that a free place is near; a power of two. */
const SLOTS = 4_096;

export function recentIds(): RecentIds {
  let [recent, before] = [generation(), generation()];
  return {
    add(bytes, begin, end) {
      const hash = hashOf(bytes, begin, end);
      if (recent.has(hash, bytes, begin, end) || before.has(hash, bytes, begin, end)) return false;
      if (recent.count() === MOST_RECENT) {
        [recent, before] = [before, recent];
        recent.clear();
      }
      recent.add(hash, bytes, begin, end);
      return true;
    },
  };
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array, begin: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = begin; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  // Its last bits depend on the last bytes alone.
  return hash ^ (hash >>> 15);
}

/** A table of so many ids, one behind the other in one store. */
function generation() {
  /** Number of the id that has this place, plus one. */
  const slots = new Int32Array(SLOTS);
  const hashes = new Int32Array(MOST_RECENT);
  const ends = new Int32Array(MOST_RECENT);
  let store = new Uint8Array(32 * MOST_RECENT);
  let count = 0;
  const beginOf = (index: number) => (index === 0 ? 0 : (ends[index - 1] as number));

  function isSame(index: number, bytes: Uint8Array, begin: number, end: number): boolean {
    const from = beginOf(index);
    if ((ends[index] as number) - from !== end - begin) return false;
    for (let at = begin; at < end; at += 1) if (bytes[at] !== store[from + at - begin]) return false;
    return true;
  }

  return {
    count: () => count,
    has(hash: number, bytes: Uint8Array, begin: number, end: number): boolean {
      for (let slot = hash & (SLOTS - 1); slots[slot] !== 0; slot = (slot + 1) & (SLOTS - 1)) {
        const index = (slots[slot] as number) - 1;
        if (hashes[index] === hash && isSame(index, bytes, begin, end)) return true;
      }
      return false;
    },
    add(hash: number, bytes: Uint8Array, begin: number, end: number): void {
      const from = beginOf(count);
      const to = from + end - begin;
      if (to > store.length) {
        const more = new Uint8Array(Math.max(to, 2 * store.length));
        more.set(store);
        store = more;
      }
      for (let at = begin; at < end; at += 1) store[from + at - begin] = bytes[at] as number;
      hashes[count] = hash;
      ends[count] = to;
      let slot = hash & (SLOTS - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
      count += 1;
      slots[slot] = count;
    },
    clear(): void {
      slots.fill(0);
      count = 0;
    },
  };
}
