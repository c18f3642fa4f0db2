/** A probe of the keys at each kind of account; `probe.full.ts` has every second answer. */
import { expect, test } from 'vitest';
import { arena } from './arena.ts';
import { afterProbe, SECOND, wrongBehindProbes } from './probe.ts';

test('an account that repeats what it is told again is never thought to honour keys', async () => {
  const sharpest = ['nothing', 'a reset'];
  expect(await wrongBehindProbes(sharpest, ['one 429'])).toEqual([]);
});

test('an account that honours keys is known to, also after one 429, and nothing is sent twice in vain', async () => {
  await using here = await arena();
  for (const second of [[], SECOND['one 429'] ?? []]) {
    const { learned, twice } = await afterProbe(here, { keys: 'honoured' }, second);
    expect({ learned, twice }).toEqual({ learned: ['honoured', 'honoured', 'honoured'], twice: [] });
  }
});
