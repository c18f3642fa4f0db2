/** V8 for a process that goes on for long: flags that end with it, and space for new objects. */

import type { performance } from 'node:perf_hooks';
import type * as v8 from 'node:v8';
import type { setFlagsFromString } from 'node:v8';

/** What sets each changed flag back. */
const usualFlags = new Set<string>();
let endsUsually = false;

/**
 * Sets a flag such as `--liftoff-only` until the result is called, at the latest until the end of the process, where `usual` sets it
 * back: compiled code is kept and used under the flags of a fresh process alone (src/loader.ts).
 */
export function setFlag(
  v8: { readonly setFlagsFromString: typeof setFlagsFromString },
  flag: string,
  usual: string,
): () => void {
  v8.setFlagsFromString(flag);
  if (!endsUsually) {
    process.prependOnceListener('exit', () => usualFlags.forEach(each => void v8.setFlagsFromString(each)));
  }
  endsUsually = true;
  usualFlags.add(usual);
  return () => {
    if (usualFlags.delete(usual)) v8.setFlagsFromString(usual);
  };
}

// The space for new objects, for servers. Left alone it grows to 32 MB under load. As small as it is at first, 1 MB, it is searched
// after each group of writes, which takes a tenth of their time. So it grows once and stays; V8 takes it back from a process that
// has little to do for some seconds, and it grows again when there is more.

/** What is grown to: four times the first size. */
const BYTES = 3_500_000;
/** Tries of some 130 KB; a V8 that goes about it otherwise keeps what it has. */
const MOST_TRIES = 64;

const LOOK_EVERY_MS = 500;
/** Part of the time that a process is at work from which on the space is worth growing. */
const BUSY = 0.1;

type Heap = Pick<typeof v8, 'getHeapSpaceStatistics' | 'setFlagsFromString'>;

/** What a process is told of its own work, and how it looks at it now and then. */
interface Watch {
  readonly eventLoopUtilization: typeof performance.eventLoopUtilization;
  readonly every: (ms: number, look: () => void) => void;
}

/** To be called once, when a server begins. */
export function keepGrown(heap: Heap, { eventLoopUtilization, every }: Watch): void {
  growOnce(heap);
  let before = eventLoopUtilization();
  every(LOOK_EVERY_MS, () => {
    const now = eventLoopUtilization();
    const { utilization } = eventLoopUtilization(now, before);
    before = now;
    if (utilization >= BUSY && sizeOf(heap) < BYTES) growOnce(heap);
  });
}

/** Takes some ms where the space is small. */
function growOnce(heap: Heap): void {
  heap.setFlagsFromString('--semi-space-growth-factor=4');
  // It grows when as much as it holds has outlived a search.
  const outliving: unknown[] = [];
  for (let tries = 0; sizeOf(heap) < BYTES && tries < MOST_TRIES; tries += 1) {
    for (let count = 0; count < 500; count += 1) outliving.push(new Array(30).fill(count));
  }
  heap.setFlagsFromString('--semi-space-growth-factor=1');
}

/** Bytes of one half of the space: the other one is for what outlives a search. */
function sizeOf({ getHeapSpaceStatistics }: Heap): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return space === undefined ? BYTES : space.space_used_size + space.space_available_size;
}
