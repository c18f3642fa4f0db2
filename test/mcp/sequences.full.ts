/** Ten thousand of the sequences of sequences.test.ts, and mistakes that they find. */
import { expect, test } from 'vitest';
import { playSequences } from './sequences.ts';

test('ten thousand random sequences of calls', async () => {
  const { broken, calls, reported } = await playSequences(1, 10_000);
  process.stdout.write(`${calls} calls: ${JSON.stringify(reported)}\n`);
  expect(broken).toEqual([]);
}, 7_200_000);

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
