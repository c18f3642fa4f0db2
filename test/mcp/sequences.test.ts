import { expect, test } from 'vitest';
import { playSequences } from './sequences.ts';

test('whatever is called how often, beside what and by which server, no bound is passed and nothing is bought twice', async () => {
  const { broken, calls, told } = await playSequences(1, 15);
  expect(broken).toEqual([]);
  expect(calls).toBeGreaterThan(60);
  for (const is of ['done', 'nothing', 'open']) expect(told[is]).toBeGreaterThan(2);
}, 400_000);

test.each([
  [
    'a bound that is not asked',
    'calls.ts',
    'used + amount > this.#most',
    'used > this.#most',
    'cents spent by one server',
  ],
  [
    'a call that drops its intent',
    'tools.ts',
    "['bin', 'amount', 'intent', 'purpose', 'label']",
    "['bin', 'amount', 'label']",
    'was done',
  ],
])(
  'finds a planted mistake: %s',
  async (_, file, is, becomes, says) => {
    const { broken } = await playSequences(1, 20, [[`commands/mcp/${file}`, is, becomes]]);
    expect(broken.join('\n')).toContain(says);
  },
  400_000,
);
