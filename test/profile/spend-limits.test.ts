/** What an operation that is taken up again holds of the day: all that it has spent and may still spend. */
import { expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { spendingOf } from '../../src/core/spending.ts';
import { holdSpending, type SpendDependencies } from '../../src/profile/spend-limits.ts';
import { random, realClock } from '../support/clocks.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const OP = 'op_00000000000000000000000001';
const fund = (usd: number) =>
  spendingOf([{ operation: 'cards.fund', amount: cents(usd * 100), input: { card_id: 'card_1' } }]);

/** A day with a limit of $100, of which the operation has spent $50. */
function dayOf(stateFolder: string): SpendDependencies {
  return {
    profile: 'team',
    settings: { max_per_day: '100' },
    stateFolder,
    files: { platform: process.platform, random, warn: () => undefined },
    lock: { pid: process.pid, clock: realClock, random },
    journaled: async () => new Map([[OP, cents(5000)]]),
  };
}

test('while it is resumed, what it spent before still counts', async () => {
  await using folder = await temporaryFolder();
  const day = dayOf(folder.path);
  const hold = await holdSpending(day, fund(30), OP);
  await expect(holdSpending(day, fund(25))).rejects.toMatchObject({
    kind: 'guarded',
    facts: { reason: 'max_per_day' },
  });
  await hold.end(cents(0));
  await (await holdSpending(day, fund(25))).end(cents(2500));
});

test('a resume that is refused leaves what the running process holds', async () => {
  await using folder = await temporaryFolder();
  const day = dayOf(folder.path);
  await holdSpending(day, fund(30), OP);
  await (await holdSpending(day, fund(30), OP)).abandon();
  await expect(holdSpending(day, fund(25))).rejects.toMatchObject({ kind: 'guarded' });
});

test('a hold that nothing was begun with is taken back', async () => {
  await using folder = await temporaryFolder();
  const day = dayOf(folder.path);
  await (await holdSpending(day, fund(50))).abandon();
  await (await holdSpending(day, fund(50), OP)).abandon();
  await (await holdSpending(day, fund(50))).end(cents(0));
});
