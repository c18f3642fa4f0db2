/**
 * The space V8 keeps for new objects, for servers. Left alone it grows to 32 MB under load; as small as it is at first,
 * 1 MB, it is searched after each group of writes, which took a tenth of their time. So it grows once and stays.
 */
import type * as v8 from 'node:v8';

/** What is grown to: four times the first size. */
const BYTES = 3_500_000;
/** Tries of some 130 KB; a V8 that goes about it otherwise keeps what it has. */
const MOST_TRIES = 64;

/** To be called once, when a server begins; takes some ms. */
export function growOnce({ getHeapSpaceStatistics, setFlagsFromString }: typeof v8): void {
  const size = () => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    return space === undefined ? BYTES : space.space_used_size + space.space_available_size;
  };
  setFlagsFromString('--semi-space-growth-factor=4');
  // It grows when as much as it holds has outlived a search.
  const outliving: unknown[] = [];
  for (let tries = 0; size() < BYTES && tries < MOST_TRIES; tries += 1) {
    for (let count = 0; count < 500; count += 1) outliving.push(new Array(30).fill(count));
  }
  setFlagsFromString('--semi-space-growth-factor=1');
}
