/** The whole table of what a hostile service may do and say: nothing untrue is said, and nothing is done twice. */
import { expect, test } from 'vitest';
import { arena } from './arena.ts';
import { nameOf } from './cells.ts';
import { countsText, FULL, playTable, SHORT, wrongText } from './table.ts';

/** So many cells in a part: one part is a few minutes. */
const PART = 600;
const parts = Array.from({ length: Math.ceil(FULL.length / PART) }, (_, at) => at);

test('has every cell of the short one', () => {
  const names = new Set(FULL.map(nameOf));
  expect(SHORT.map(nameOf).filter(name => !names.has(name))).toEqual([]);
});

test.each(parts)('part %i of the table', async at => {
  await using here = await arena();
  const summary = await playTable(here, FULL.slice(at * PART, (at + 1) * PART), { isThorough: true });
  process.stdout.write(`hostile service: ${countsText(summary)}\n`);
  expect(wrongText(summary)).toBe('');
  expect(summary.needless.filter(({ cell }) => cell.answers.every(name => name === 'honest, done'))).toEqual([]);
});
