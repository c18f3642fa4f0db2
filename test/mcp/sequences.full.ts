/** Ten thousand of the sequences of sequences.test.ts. */
import { expect, test } from 'vitest';
import { playSequences } from './sequences.ts';

test('ten thousand random sequences of calls', async () => {
  const { broken, calls, told } = await playSequences(1, 10_000);
  process.stdout.write(`${calls} calls: ${JSON.stringify(told)}\n`);
  expect(broken).toEqual([]);
}, 7_200_000);
