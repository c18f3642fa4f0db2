import { expect, test } from 'vitest';
import { playSequences } from './sequences.ts';

test('whatever is called how often, beside what and by which server, no bound is passed and nothing is bought twice', async () => {
  const { broken, calls, reported } = await playSequences(1, 15);
  expect(broken).toEqual([]);
  expect(calls).toBeGreaterThan(60);
  for (const is of ['done', 'nothing', 'open']) expect(reported[is]).toBeGreaterThan(2);
}, 400_000);
