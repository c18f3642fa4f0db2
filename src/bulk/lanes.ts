/** Rows of one lane go one after the other. */

/** Rows that wait for another row of their lane. */
export function createLanes() {
  const waiting = new Map<string, number[]>();
  const free: number[] = [];
  const entering = new Set<number>();
  return {
    /** A row whose lane has become free, oldest first. */
    ready: () => {
      const index = free.shift();
      if (index !== undefined) entering.add(index);
      return index;
    },
    /** False when another is under way; the row waits then. */
    enter(lane: string, index: number): boolean {
      if (entering.delete(index)) return true;
      const line = waiting.get(lane);
      if (line === undefined) waiting.set(lane, []);
      else line.push(index);
      return line === undefined;
    },
    leave(lane: string): void {
      const index = waiting.get(lane)?.shift();
      if (index === undefined) waiting.delete(lane);
      else free.push(index);
    },
  };
}
