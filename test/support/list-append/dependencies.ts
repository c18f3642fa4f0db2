/** Which transaction must stand before which one in a serial order, and because of what. */
import { foundLists, type History, type Writers } from './history.ts';
import type { Versions } from './versions.ts';

/** `ww` wrote before the other wrote, `wr` wrote what the other read, `rw` read before the other wrote, `rt` ended before the other began. */
export type Kind = 'ww' | 'wr' | 'rw' | 'rt';

/** For each transaction those that come after it, with every reason. */
export type Graph = readonly Map<number, Set<Kind>>[];

export function dependencies(history: History, versions: Versions, writers: Writers): Graph {
  const graph: Graph = history.map(() => new Map());
  const add = (from: number | undefined, to: number | undefined, kind: Kind) => {
    if (from === undefined || to === undefined || from === to) return;
    const edges = graph[from] as Map<number, Set<Kind>>;
    edges.set(to, (edges.get(to) ?? new Set()).add(kind));
  };
  const unread = unreadAppends(history, versions);
  const nextWriters = new Map<string, readonly (number | undefined)[]>();
  for (const [key, order] of versions) {
    const written = order.map(value => writers.of(key, value));
    for (const [at, writer] of written.entries()) add(writer, written[at + 1], 'ww');
    for (const writer of unread.get(key) ?? []) add(written.at(-1), writer, 'ww');
    nextWriters.set(key, written);
  }
  for (const { reader, key, others } of foundLists(history)) {
    const written = nextWriters.get(key);
    if (written === undefined) continue;
    add(written[others.length - 1], reader, 'wr');
    // Its own append may be the next one; who comes after that is told by `ww`.
    if (others.length < written.length) add(reader, written[others.length], 'rw');
    else for (const writer of unread.get(key) ?? []) add(reader, writer, 'rw');
  }
  for (const [from, to] of inRealTime(history)) add(from, to, 'rt');
  return graph;
}

/** Committed appends that no read shows: a read shows the whole list, so that they came after every one that was read. */
function unreadAppends(history: History, versions: Versions): ReadonlyMap<string, ReadonlySet<number>> {
  const read = new Map([...versions].map(([key, order]) => [key, new Set(order)]));
  const unread = new Map<string, Set<number>>();
  for (const [place, { steps, outcome }] of history.entries()) {
    if (outcome !== 'committed') continue;
    for (const step of steps) {
      if (!('append' in step) || read.get(step.append)?.has(step.value) !== false) continue;
      unread.set(step.append, (unread.get(step.append) ?? new Set()).add(place));
    }
  }
  return unread;
}

/**
 * Pairs of which one had its answer before the other was called, without those that follow from others: only who
 * ended last, on any way of such pairs, leads to who begins. Of an unknown outcome nobody knows when it ended.
 */
function inRealTime(history: History): readonly (readonly [number, number])[] {
  const moments = history.flatMap(({ began, ended, outcome }, place) => {
    if (outcome === 'undone') return [];
    const beginning = { at: began, place, isEnd: false };
    return outcome === 'committed' ? [beginning, { at: ended, place, isEnd: true }] : [beginning];
  });
  moments.sort((one, other) => one.at - other.at || Number(one.isEnd) - Number(other.isEnd));
  const before = new Map<number, readonly number[]>();
  const latest = new Set<number>();
  for (const { place, isEnd } of moments) {
    if (!isEnd) {
      before.set(place, [...latest]);
      continue;
    }
    for (const earlier of before.get(place) ?? []) latest.delete(earlier);
    latest.add(place);
  }
  return [...before].flatMap(([place, earlier]) => earlier.map(each => [each, place] as const));
}
