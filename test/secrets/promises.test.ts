/** SECURITY.md promises nothing that no test holds. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../package/built.ts';

const page = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
const promised = page.slice(page.indexOf('## What is promised'), page.indexOf('## What cannot be promised'));
const promises = promised.split(/\n(?=- )/).slice(1);

it('has promises', () => expect(promises.length).toBeGreaterThanOrEqual(20));

it.each(promises.map(text => [text.slice(2, 70).replaceAll('\n', ' '), text] as const))('%s', (_, text) => {
  const named = [...text.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter(path => !/\.test\.ts$/.test(path) || !existsSync(join(ROOT, path)))).toEqual([]);
});

it.each([
  ['the terminal', 'terminal', 120],
  ['the sandbox', 'sandbox', 220],
] as const)('the map of what is proved about %s names tests there are', (_, room, least) => {
  const folder = join(ROOT, 'test', room);
  const text = readFileSync(join(folder, 'README.md'), 'utf8');
  const named = [...text.matchAll(/`((?:\.\.\/)*[\w./-]+(?:\.ts|\.md|\*|\/))`/g)];
  expect(named.length).toBeGreaterThan(least);
  const isThere = (path: string) => {
    const place = join(folder, path);
    if (!path.endsWith('*')) return existsSync(place);
    return readdirSync(dirname(place)).some(name => name.startsWith(basename(place, '*')));
  };
  const missing = named.map(([, path = '']) => path).filter(path => !isThere(path));
  expect(missing).toEqual([]);
});

it('every assumption has its row in the map of the sandbox, and no row one that is none', () => {
  const map = readFileSync(join(ROOT, 'test', 'sandbox', 'README.md'), 'utf8');
  const rows = map.slice(map.indexOf('## Assumptions'), map.indexOf('## Dialects'));
  const named = [...rows.matchAll(/\bA-\d+\b/g)].map(([id]) => id);
  const known = Object.keys(JSON.parse(readFileSync(join(ROOT, 'src', 'contract', 'assumptions.json'), 'utf8')));
  expect(named.toSorted()).toEqual(known.filter(id => /^A-\d+$/.test(id)).toSorted());
});
