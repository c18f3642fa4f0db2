/**
 * Killed anywhere, gone on with in any way: never a second card. Of two rows where keys are ignored, so that whatever is sent
 * twice is two cards, one way at every third boundary, in turn; `full` has all.
 */
import { expect, test } from 'vitest';
import { sweep } from './going-on.ts';

test.each([{ rows: 2, honoured: false, step: 14, every: 3 }])(
  'every third boundary of %j',
  { timeout: 120_000 },
  async ({ step, every, ...setting }) => {
    const { boundaries, ways, strikes, broken } = await sweep(setting, step, every);
    process.stdout.write(`${JSON.stringify(setting)}: ${boundaries} boundaries x ${ways} ways, ${strikes} kills\n`);
    expect(broken).toEqual([]);
    expect(boundaries * every).toBeGreaterThan(30);
  },
);
