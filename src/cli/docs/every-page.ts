/** Every help page there is, as one text: what the build writes down for `kept-pages.ts`. */
import type { Registry } from '../parsing/command.ts';
import { helpText, startText } from './help.ts';
import { pageHead } from './kept-pages.ts';

export async function everyPage(registry: Registry): Promise<string> {
  const nowhere = { group: undefined, command: undefined, words: [] };
  const start = pageHead('start', '') + startText(registry);
  const pages = [start, pageHead('group', '') + (await helpText(nowhere, registry))];
  for (const group of registry) {
    const leaves = await group.leaves();
    const paths = Object.keys(leaves);
    const ways = paths.map(path => path.split(' '));
    const places = new Set(ways.flatMap(way => way.map((_, length) => way.slice(0, length + 1).join(' '))));
    for (const place of places) {
      const command = paths.includes(place) ? await leaves[place]?.() : undefined;
      const located = { group, command, words: place.split(' ') };
      pages.push(pageHead(command === undefined ? 'group' : 'command', place) + (await helpText(located, registry)));
    }
  }
  return pages.join('');
}
