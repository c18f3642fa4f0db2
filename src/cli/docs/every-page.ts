/** Every help page there is, as one text: what the build writes down for `kept-pages.ts`. */
import type { Registry } from '../parsing/command.ts';
import { helpText, startText } from './help.ts';
import { pageHead } from './kept-pages.ts';

export async function everyPage(registry: Registry): Promise<string> {
  const nowhere = { group: undefined, commands: [], command: undefined, words: [] };
  const start = pageHead('start', '') + startText(registry);
  const pages = [start, pageHead('group', '') + helpText(nowhere, registry)];
  for (const group of registry) {
    const commands = await group.load();
    const paths = commands.map(({ path }) => path.split(' '));
    const places = new Set(paths.flatMap(path => path.map((_, length) => path.slice(0, length + 1).join(' '))));
    for (const place of places) {
      const command = commands.find(({ path }) => path === place);
      const located = { group, commands, command, words: place.split(' ') };
      pages.push(pageHead(command === undefined ? 'group' : 'command', place) + helpText(located, registry));
    }
  }
  return pages.join('');
}
