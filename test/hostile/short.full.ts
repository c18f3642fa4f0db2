/** The short table, until it stands in `table.test.ts`. */
import { expect, test } from 'vitest';
import { arena } from './arena.ts';
import { countsText, playTable, SHORT, wrongText } from './table.ts';

test('every class of answer once for create and fund', async () => {
  await using here = await arena();
  const summary = await playTable(here, SHORT);
  process.stdout.write(`hostile service: ${countsText(summary)}\n`);
  expect(wrongText(summary)).toBe('');
});
