/**
 * Judges histories of transactions that append to lists and read them, after Elle (Kingsbury and Alvaro, 2020): the order
 * of the appends of a list stands in what was read of it, so that dependencies between transactions follow, and a circle of
 * them is something that no serial order explains.
 */

export type Step =
  | { readonly append: readonly [key: string, value: number] }
  | { readonly read: readonly [key: string, values: readonly number[]] };

export interface Txn {
  readonly id: number;
  /** `unknown`: nobody was told; it may have been carried out. */
  readonly end: 'done' | 'failed' | 'unknown';
  readonly steps: readonly Step[];
}

export type Anomaly =
  | 'G0'
  | 'G1a'
  | 'G1b'
  | 'G1c'
  | 'G-single'
  | 'G2'
  | 'lost-update'
  | 'lost-append'
  | 'incompatible-order'
  | 'duplicate'
  | 'internal'
  | 'unwritten';

type Kind = 'ww' | 'wr' | 'rw';
type Edges = Map<number, Map<number, Set<Kind>>>;

interface Written {
  readonly txn: Txn;
  /** It appended more to the list afterwards. */
  readonly isIntermediate: boolean;
}

/** What cannot be explained, each kind once. `isComplete`: every list was read after the last append. */
export function anomaliesOf(history: readonly Txn[], { isComplete = false } = {}): readonly Anomaly[] {
  const found = new Set<Anomaly>();
  const writers = writersOf(history);
  const told = history.filter(({ end }) => end === 'done');
  for (const txn of told) judgeAlone(txn, writers, found);
  const orders = ordersOf(told, found);
  judgeUpdates(told, found);
  if (isComplete) {
    for (const [name, { txn }] of writers) {
      const [key = '', value] = name.split('=');
      if (txn.end === 'done' && !orders.get(key)?.includes(Number(value))) found.add('lost-append');
    }
  }
  const edges = edgesOf(told, orders, writers);
  for (const circle of circlesOf(edges)) found.add(kindOf(circle, edges));
  return [...found].toSorted();
}

const nameOf = (key: string, value: number) => `${key}=${value}`;

function writersOf(history: readonly Txn[]): Map<string, Written> {
  const writers = new Map<string, Written>();
  for (const txn of history) {
    const last = new Map<string, number>();
    for (const step of txn.steps) if ('append' in step) last.set(...step.append);
    for (const step of txn.steps) {
      if (!('append' in step)) continue;
      const [key, value] = step.append;
      writers.set(nameOf(key, value), { txn, isIntermediate: last.get(key) !== value });
    }
  }
  return writers;
}

/** What one transaction read, held against its own appends and against who wrote it. */
function judgeAlone(txn: Txn, writers: ReadonlyMap<string, Written>, found: Set<Anomaly>): void {
  const own = new Map<string, number[]>();
  const seen = new Map<string, readonly number[]>();
  for (const step of txn.steps) {
    if ('append' in step) {
      const [key, value] = step.append;
      own.set(key, [...(own.get(key) ?? []), value]);
      continue;
    }
    const [key, values] = step.read;
    const expected = [...(seen.get(key) ?? []), ...(own.get(key) ?? [])];
    const isRepeated = seen.has(key);
    const tail = isRepeated ? values : values.slice(values.length - expected.length);
    if (tail.join() !== expected.join()) found.add('internal');
    seen.set(key, values);
    own.set(key, []);
    if (new Set(values).size !== values.length) found.add('duplicate');
    for (const [at, value] of values.entries()) {
      const written = writers.get(nameOf(key, value));
      if (written === undefined) found.add('unwritten');
      else if (written.txn.end === 'failed') found.add('G1a');
      else if (written.isIntermediate && written.txn.id !== txn.id && at === values.length - 1) found.add('G1b');
    }
  }
}

/** The longest list that was read of each key; every other one must be its beginning. */
function ordersOf(told: readonly Txn[], found: Set<Anomaly>): Map<string, readonly number[]> {
  const orders = new Map<string, readonly number[]>();
  const reads = told.flatMap(({ steps }) => steps.flatMap(step => ('read' in step ? [step.read] : [])));
  for (const [key, values] of reads) if (values.length > (orders.get(key)?.length ?? 0)) orders.set(key, values);
  for (const [key, values] of reads) {
    if (orders.get(key)?.slice(0, values.length).join() !== values.join() && values.length > 0) {
      found.add('incompatible-order');
    }
  }
  return orders;
}

/** Two that read one version of a list and appended to it: the second did not see the first. */
function judgeUpdates(told: readonly Txn[], found: Set<Anomaly>): void {
  const updated = new Set<string>();
  for (const { steps } of told) {
    const read = new Map<string, string>();
    const mine = new Set<string>();
    for (const step of steps) {
      if ('read' in step) {
        if (!read.has(step.read[0])) read.set(step.read[0], step.read[1].join());
        continue;
      }
      const [key] = step.append;
      const version = read.get(key);
      if (version !== undefined) mine.add(`${key} after ${version}`);
      else read.set(key, 'not read first');
    }
    for (const version of mine) {
      if (version.endsWith('not read first')) continue;
      if (updated.has(version)) found.add('lost-update');
      updated.add(version);
    }
  }
}

function edgesOf(
  told: readonly Txn[],
  orders: ReadonlyMap<string, readonly number[]>,
  writers: ReadonlyMap<string, Written>,
): Edges {
  const edges: Edges = new Map();
  const add = (from: number | undefined, to: number | undefined, kind: Kind) => {
    if (from === undefined || to === undefined || from === to) return;
    const targets = edges.get(from) ?? new Map<number, Set<Kind>>();
    edges.set(from, targets.set(to, (targets.get(to) ?? new Set()).add(kind)));
  };
  const writer = (key: string, value: number | undefined) =>
    value === undefined ? undefined : writers.get(nameOf(key, value))?.txn.id;
  for (const [key, values] of orders) {
    for (const [at, value] of values.entries()) add(writer(key, values[at - 1]), writer(key, value), 'ww');
  }
  for (const { id, steps } of told) {
    for (const step of steps) {
      if (!('read' in step)) continue;
      const [key, values] = step.read;
      add(writer(key, values.at(-1)), id, 'wr');
      add(id, writer(key, orders.get(key)?.[values.length]), 'rw');
    }
  }
  return edges;
}

/** Groups of transactions that lead back to each other (Tarjan). */
function circlesOf(edges: Edges): readonly ReadonlySet<number>[] {
  const [index, low] = [new Map<number, number>(), new Map<number, number>()];
  const stack: number[] = [];
  const circles: Set<number>[] = [];
  const visit = (at: number) => {
    index.set(at, index.size);
    low.set(at, index.get(at) ?? 0);
    stack.push(at);
    for (const to of edges.get(at)?.keys() ?? []) {
      if (!index.has(to)) visit(to);
      if (stack.includes(to)) low.set(at, Math.min(low.get(at) ?? 0, low.get(to) ?? 0));
    }
    if (low.get(at) !== index.get(at)) return;
    const circle = new Set(stack.splice(stack.indexOf(at)));
    if (circle.size > 1) circles.push(circle);
  };
  for (const at of edges.keys()) if (!index.has(at)) visit(at);
  return circles;
}

/** The worst that a circle proves: of writes alone, of writes and reads, or with one missed write, or with more. */
function kindOf(circle: ReadonlySet<number>, edges: Edges): Anomaly {
  const within = (kinds: readonly Kind[]) => {
    const kept: Edges = new Map();
    for (const from of circle) {
      const targets = [...(edges.get(from) ?? [])].filter(
        ([to, of]) => circle.has(to) && kinds.some(kind => of.has(kind)),
      );
      kept.set(from, new Map(targets));
    }
    return kept;
  };
  if (circlesOf(within(['ww'])).length > 0) return 'G0';
  const informed = within(['ww', 'wr']);
  if (circlesOf(informed).length > 0) return 'G1c';
  const leads = (from: number, to: number, seen = new Set<number>()): boolean =>
    from === to ||
    (!seen.has(from) && [...(informed.get(from)?.keys() ?? [])].some(next => leads(next, to, seen.add(from))));
  for (const [from, targets] of within(['rw'])) for (const to of targets.keys()) if (leads(to, from)) return 'G-single';
  return 'G2';
}
