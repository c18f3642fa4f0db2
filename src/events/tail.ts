/** The newest rows of a list that grows at its head: as many pages as it takes to meet one that is known. */
import type { ListPage } from '../contract/operation.ts';
import type { DedupeSet } from './dedupe.ts';
import { nextRequest, type Waiting } from './poll.ts';

export interface Timed {
  readonly id: string;
  readonly created_at?: string | null;
}

export interface Tail<T> {
  /** Pages from the newest on. */
  readonly pages: () => AsyncIterable<ListPage<T>>;
  /** So many of those that were there before are shown too. */
  readonly last: number;
  /** Told when more came than are looked through. */
  readonly onGap: () => void;
}

const MOST_PAGES = 20;

/** A look for `live`: new rows, oldest first. The first look takes note of what is there. */
export function pollTail<T extends Timed>(waiting: Waiting, tail: Tail<T>): (seen: DedupeSet) => Promise<readonly T[]> {
  let isFirst = true;
  let since = Number.NEGATIVE_INFINITY;
  return async seen => {
    if (isFirst) {
      const there = await firstPage(tail);
      isFirst = false;
      since = Math.max(...there.map(timeOf), since);
      for (const { id } of there.slice(tail.last)) seen.add(id);
      return there.slice(0, tail.last).reverse();
    }
    const fresh: T[] = [];
    let number = 0;
    for await (const { data } of tail.pages()) {
      number += 1;
      const known = data.findIndex(({ id }) => seen.has(id));
      // Records of one moment have no order among themselves: a new one may stand behind one that is known. Behind those
      // of a later page are also the ones that were there before all this.
      const isNew = (row: T, at: number) =>
        !seen.has(row.id) && (known < 0 || at < known || number === 1 || timeOf(row) >= since);
      fresh.push(...data.filter(isNew));
      if (known >= 0 || data.length === 0) break;
      if (number === MOST_PAGES) {
        tail.onGap();
        break;
      }
      await nextRequest(waiting);
    }
    return fresh.reverse();
  };
}

async function firstPage<T>({ pages }: Tail<T>): Promise<readonly T[]> {
  for await (const { data } of pages()) return data;
  return [];
}

function timeOf({ created_at }: Timed): number {
  const time = Date.parse(created_at ?? '');
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}
