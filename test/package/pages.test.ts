import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { everyPage } from '../../src/cli/docs/help.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { home, ROOT } from './built.ts';

const pages = await everyPage(REGISTRY);

it('the build keeps every page as it is made from the declarations', () => {
  expect(readFileSync(join(ROOT, 'dist', 'pages.txt'), 'utf8')).toBe(pages);
  // A page for the root, and for each place that words lead to.
  expect(pages.split('\f').length - 1).toBeGreaterThan(100);
});

it.each([
  ['cards create -h', 'command cards create'],
  // More than words: the page is made, from the same declarations.
  ['--sandbox cards fund card_1 --amount 5 --help', 'command cards fund'],
])('"%s" prints the page "%s"', async (line, head) => {
  await using place = await home();
  const { code, out, err } = await place.run(line.split(' ').filter(Boolean));
  const page = pages.split('\f').find(each => each.startsWith(`${head}\n`));
  expect({ code, out, err }).toEqual({ code: 0, out: page?.slice(head.length + 1), err: '' });
});
