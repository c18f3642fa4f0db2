/**
 * What a hostile service typically does and says, each once: nothing untrue is said, and nothing is done twice.
 * `table.full.ts` has it for every operation.
 */
import { afterAll, expect, test } from 'vitest';
import { isJournaled } from '../../src/contract/calls.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { arena } from './arena.ts';
import { countsText, playTable, SHARPEST, wrongText } from './table.ts';

const here = await arena();
afterAll(() => here[Symbol.asyncDispose]());

/** Small ones: a part that runs out of time on a busy machine goes on beside the next, before the same service. */
const PARTS = 10;
const SIZE = Math.ceil(SHARPEST.length / PARTS);

test('every operation that the journal keeps is lied about', () => {
  const kept = Object.keys(OPERATIONS).filter(isJournaled);
  const played = new Set(SHARPEST.map(({ operation }) => `cards.${operation}`));
  expect(kept.filter(operation => !played.has(operation))).toEqual([]);
});

test.each(Array.from({ length: PARTS }, (_, at) => at + 1))(
  'the typical classes of answer, and one of each thing around them: part %i',
  async part => {
    const summary = await playTable(here, SHARPEST.slice((part - 1) * SIZE, part * SIZE), { isThorough: false });
    process.stdout.write(`hostile service: ${countsText(summary)}\n`);
    expect(wrongText(summary)).toBe('');
    const honest = summary.needless.filter(({ cell }) => cell.answers.every(name => name === 'honest, done'));
    expect(honest).toEqual([]);
  },
);
