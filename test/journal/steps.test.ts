/** The steps of a row are drawn in the documentation with the names and the ways that the code has. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STEP_NAMES } from '../../src/journal/execution/step.ts';

const root = join(import.meta.dirname, '..', '..');
const page = await readFile(join(root, 'docs', 'design', 'reliability.md'), 'utf8');
const [, drawing = ''] = /### Steps of a row\n[\s\S]*?```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(page) ?? [];
const arrows = [...drawing.matchAll(/^\s+(\S+) --> (\w+|\[\*\])/gm)].map(([, from = '', to = '']) => [from, to]);

test('the drawing has every step, and no other', () => {
  const drawn = new Set(arrows.flat().filter(name => name !== '[*]'));
  expect([...drawn].sort()).toEqual([...STEP_NAMES].sort());
});

test.each(STEP_NAMES.filter(name => name !== 'end'))('the ways out of %s are drawn', async step => {
  const homes: Record<string, string> = { answer: 'answer.ts', reconcile: 'reconcile.ts' };
  const text = await readFile(join(root, 'src', 'journal', 'execution', homes[step] ?? 'execute-row.ts'), 'utf8');
  const own = homes[step] === undefined ? bodyOf(text, step) : text;
  const found = new Set<string>();
  for (const name of STEP_NAMES) if (own.includes(`{ name: '${name}'`)) found.add(name);
  if (/\bended\(|\bend\(/.test(own)) found.add('end');
  if (/\breconcileOnce\(|\brecordAmbiguousAgain\(|\brecordRefusedAndDone\(|\btooOld\(/.test(own))
    found.add('reconcile');
  const drawn = arrows.filter(([from]) => from === step).map(([, to]) => to);
  expect([...found].sort()).toEqual(drawn.sort());
});

/** The text of a function at the top of a file. */
function bodyOf(text: string, name: string): string {
  const begin = text.indexOf(`async function ${name}(`);
  expect(begin).toBeGreaterThan(0);
  return text.slice(begin, text.indexOf('\n}\n', begin));
}
