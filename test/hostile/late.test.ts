/** "Later" of what was done, where it shows late: nothing is done twice unsaid, and no wait is without end. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Arena, arena } from './arena.ts';
import { countsText, LATE_CELLS, playTable, wrongText } from './table.ts';

let here: Arena;
beforeAll(async () => {
  here = await arena();
});
afterAll(() => here[Symbol.asyncDispose]());

test('every cell', async () => {
  const summary = await playTable(here, LATE_CELLS, { isThorough: true });
  process.stdout.write(`hostile service: ${countsText(summary)}\n`);
  expect(wrongText(summary)).toBe('');
}, 600_000);
