/** What the lists alone show: values that must not be there, and the order in which values came. */
import { type Anomaly, type FoundList, foundLists, type History, type Writers } from './history.ts';

/** The values of each list in the order of their appends; a list whose order is in doubt is left out. */
export type Versions = ReadonlyMap<string, readonly number[]>;

/** Reads that no order of the transactions explains, whatever else happened. */
export function readAnomalies(history: History, writers: Writers): readonly Anomaly[] {
  const found = foundLists(history);
  return [
    ...found.flatMap(each => valueAnomalies(each, history, writers)),
    ...changedLists(found),
    ...lostUpdates(found, history),
  ];
}

function valueAnomalies(found: FoundList, history: History, writers: Writers): readonly Anomaly[] {
  const { reader, key, whole, others } = found;
  const seen = shown(found);
  const anomalies: Anomaly[] = [];
  if (!found.endsWithOwn) anomalies.push({ name: 'internal', seen: `${seen}, not what it had appended itself` });
  if (new Set(whole).size < whole.length) anomalies.push({ name: 'duplicate', seen });
  for (const value of whole) {
    const writer = writers.of(key, value);
    if (writer === undefined) anomalies.push({ name: 'unknown value', seen: `${seen}, and nobody appended ${value}` });
    else if (history[writer]?.outcome === 'undone') {
      anomalies.push({ name: 'G1a', seen: `${seen}, and T${writer}, which appended ${value}, was undone` });
    }
  }
  const last = others.at(-1);
  if (last !== undefined && writers.of(key, last) !== reader && writers.isIntermediate(key, last)) {
    anomalies.push({ name: 'G1b', seen: `${seen}, and T${writers.of(key, last)} appended more to it after ${last}` });
  }
  return anomalies;
}

/** Lists that were not the same when their reader read them once more. */
function changedLists(found: readonly FoundList[]): readonly Anomaly[] {
  const first = new Map<string, FoundList>();
  return found.flatMap(each => {
    const name = `${each.reader} ${each.key}`;
    const before = first.get(name) ?? each;
    first.set(name, before);
    if (isSame(before.others, each.others)) return [];
    return [{ name: 'internal', seen: `${shown(before)}, then [${each.whole.join(' ')}]` }];
  });
}

/** Some that read one state of a list, and all appended to it: one of them wrote over another. */
function lostUpdates(found: readonly FoundList[], history: History): readonly Anomaly[] {
  const byState = new Map<string, Set<number>>();
  for (const { reader, key, others } of found) {
    if (!history[reader]?.steps.some(step => 'append' in step && step.append === key)) continue;
    const state = `${key} = [${others.join(' ')}]`;
    byState.set(state, (byState.get(state) ?? new Set()).add(reader));
  }
  return [...byState]
    .filter(([, readers]) => readers.size > 1)
    .map(([state, readers]) => ({
      name: 'lost update',
      seen: `${[...readers].map(reader => `T${reader}`).join(' and ')} read ${state} and appended to it`,
    }));
}

/** Takes the longest list that anybody read as the order; whatever else was read must be its beginning. */
export function versionsOf(history: History): { readonly versions: Versions; readonly anomalies: readonly Anomaly[] } {
  const byKey = new Map<string, FoundList[]>();
  for (const found of foundLists(history)) {
    const others = byKey.get(found.key);
    if (others === undefined) byKey.set(found.key, [found]);
    else others.push(found);
  }
  const versions = new Map<string, readonly number[]>();
  const anomalies: Anomaly[] = [];
  for (const [key, found] of byKey) {
    const longest = found.reduce((one, other) => (other.whole.length > one.whole.length ? other : one));
    const other = found.find(({ whole }) => !isSame(whole, longest.whole.slice(0, whole.length)));
    if (other !== undefined) {
      anomalies.push({ name: 'incompatible order', seen: `${shown(longest)}, and ${shown(other)}` });
    } else if (new Set(longest.whole).size === longest.whole.length) versions.set(key, longest.whole);
  }
  return { versions, anomalies };
}

const shown = ({ reader, key, whole }: FoundList) => `T${reader} read ${key} = [${whole.join(' ')}]`;

const isSame = (one: readonly number[], other: readonly number[]) =>
  one.length === other.length && one.every((value, at) => value === other[at]);
