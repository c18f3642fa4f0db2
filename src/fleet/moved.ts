/** Cards under a new name: `moved` leads from the name in the marker, which stays, to the name in the file. */
import type { YamlEntry } from '../terminal/yaml-tree.ts';
import type { Reading } from './reading.ts';

/** Old names with the name each leads to, chains followed. A circle and a target without card are faults. */
export function readMoved(
  reading: Reading,
  entry: YamlEntry | undefined,
  names: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const isNothing = entry === undefined || (entry.node.kind === 'value' && entry.node.value === null);
  const entries = isNothing ? undefined : reading.map(entry.node, 'moved');
  const steps = new Map<string, string>();
  for (const each of entries?.values() ?? []) {
    const to = reading.text(each.node, 'moved');
    if (to !== undefined) steps.set(each.name, to);
  }
  const moved = new Map<string, string>();
  const circles = new Set<string>();
  for (const each of entries?.values() ?? []) {
    if (!steps.has(each.name)) continue;
    if (names.has(each.name)) {
      reading.fault(each, `${each.name} is still in cards; a name leads to one card`);
      continue;
    }
    const chain = chainFrom(each.name, steps);
    const last = chain.at(-1) ?? each.name;
    if (chain.indexOf(last) < chain.length - 1) {
      // Each circle is told once, at the first of its names.
      if (!chain.some(name => circles.has(name))) reading.fault(each, `moved: ${chain.join(' -> ')} goes in a circle`);
      for (const name of chain) circles.add(name);
    } else if (!names.has(last))
      reading.fault(each.node, `moved: ${each.name} leads to ${last}, and ${last} is no card of this file`);
    else moved.set(each.name, last);
  }
  return moved;
}

/** The names on the way; a circle ends where it comes to a name for the second time. */
function chainFrom(name: string, steps: ReadonlyMap<string, string>): readonly string[] {
  const chain = [name];
  for (let next = steps.get(name); next !== undefined; next = steps.get(next)) {
    const seen = chain.includes(next);
    chain.push(next);
    if (seen) break;
  }
  return chain;
}
