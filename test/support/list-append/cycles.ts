/** Circles in the dependencies: transactions each of which must stand before itself. */
import type { Graph, Kind } from './dependencies.ts';
import type { Anomaly } from './history.ts';

/** Kinds of circles, the worst first. Each is looked for where the ones before were not found. */
const CLASSES: readonly { readonly name: string; readonly kinds: readonly Kind[]; readonly needs?: Kind }[] = [
  { name: 'G0', kinds: ['ww'] },
  { name: 'G1c', kinds: ['ww', 'wr'], needs: 'wr' },
  { name: 'G-single', kinds: ['ww', 'wr'], needs: 'rw' },
  { name: 'G2-item', kinds: ['ww', 'wr', 'rw'], needs: 'rw' },
  { name: 'G0-realtime', kinds: ['ww', 'rt'] },
  { name: 'G1c-realtime', kinds: ['ww', 'wr', 'rt'], needs: 'wr' },
  { name: 'G-single-realtime', kinds: ['ww', 'wr', 'rt'], needs: 'rw' },
  { name: 'G2-item-realtime', kinds: ['ww', 'wr', 'rw', 'rt'], needs: 'rw' },
];

/** One circle of each group of transactions that hang together, the worst that is in it. */
export function cycles(graph: Graph): readonly Anomaly[] {
  return groups(graph).map(group => worst(graph, new Set(group)));
}

function worst(graph: Graph, group: ReadonlySet<number>): Anomaly {
  for (const { name, kinds, needs } of CLASSES) {
    for (const from of group) {
      for (const [to, reasons] of graph[from] ?? []) {
        if (!group.has(to)) continue;
        if (needs === undefined ? !kinds.some(kind => reasons.has(kind)) : !reasons.has(needs)) continue;
        const back = way(graph, { from: to, to: from, kinds, group });
        if (back !== undefined) return { name, seen: told(graph, [from, ...back], needs) };
      }
    }
  }
  throw new Error('transactions that hang together have no circle');
}

interface Asked {
  readonly from: number;
  readonly to: number;
  readonly kinds: readonly Kind[];
  /** It leads through these alone. */
  readonly group: ReadonlySet<number>;
}

/** The shortest way over edges of some kinds, both ends in it. */
function way(graph: Graph, { from, to, kinds, group }: Asked): readonly number[] | undefined {
  const cameFrom = new Map<number, number>([[from, from]]);
  const left = [from];
  for (const at of left) {
    if (at === to) break;
    for (const [next, reasons] of graph[at] ?? []) {
      if (!group.has(next) || cameFrom.has(next) || !kinds.some(kind => reasons.has(kind))) continue;
      cameFrom.set(next, at);
      left.push(next);
    }
  }
  if (!cameFrom.has(to)) return undefined;
  const places = [to];
  for (let at = to; at !== from; places.unshift(at)) at = cameFrom.get(at) as number;
  return places;
}

/** `T1 ww> T2 rw> T1`, with every reason of each step; `needs` is what the first one was chosen for. */
function told(graph: Graph, places: readonly number[], needs: Kind | undefined): string {
  return places
    .map((place, at) => {
      const next = places[at + 1];
      if (next === undefined) return `T${place}`;
      const reasons = at === 0 && needs !== undefined ? [needs] : [...(graph[place]?.get(next) ?? [])];
      return `T${place} ${reasons.join('/')}> `;
    })
    .join('');
}

/** Tarjan's strongly connected components of more than one transaction, without recursion: a way may be long. */
export function groups(graph: Graph): readonly (readonly number[])[] {
  const number = new Map<number, number>();
  const lowest = new Map<number, number>();
  const open: number[] = [];
  const isOpen = new Set<number>();
  const found: number[][] = [];
  const lower = (place: number, to: number) => lowest.set(place, Math.min(lowest.get(place) as number, to));
  const enter = (place: number) => {
    number.set(place, number.size);
    lowest.set(place, number.get(place) as number);
    open.push(place);
    isOpen.add(place);
    return { place, nexts: (graph[place] ?? new Map()).keys() };
  };
  for (const start of graph.keys()) {
    if (number.has(start)) continue;
    const path = [enter(start)];
    for (let here = path.at(-1); here !== undefined; here = path.at(-1)) {
      const { value: next, done } = here.nexts.next();
      if (done !== true) {
        if (!number.has(next)) path.push(enter(next));
        else if (isOpen.has(next)) lower(here.place, number.get(next) as number);
        continue;
      }
      path.pop();
      const before = path.at(-1);
      if (before !== undefined) lower(before.place, lowest.get(here.place) as number);
      if (lowest.get(here.place) !== number.get(here.place)) continue;
      const group = open.splice(open.lastIndexOf(here.place));
      for (const place of group) isOpen.delete(place);
      if (group.length > 1) found.push(group);
    }
  }
  return found;
}
