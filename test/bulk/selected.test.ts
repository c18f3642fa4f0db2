/** Cards that are brought to a balance: never beyond it, whatever happens between the choice and the last answer. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { world } from '../support/world.ts';

const FUND = "cards fund --to 50 --where 'balance<20' --yes";
const POLICY = `version: 1
rules:
  - { name: rich, when: { balance: "> 2.00" }, then: { withdraw: { keep: 2.00 } } }
`;
const SLOW_DOWN = '{"match":{"operation":"cards.fund"},"times":99,"action":{"kind":"status","code":429}}';
const QUICK = { onPause: () => undefined, longestPause: 60_000 };
const opIn = (text: string) => /op_\w{26}/.exec(text)?.[0] ?? '';

describe('a run that brings cards to a balance', () => {
  it('is refused while one with the same aim is unfinished, and goes on as that one', async () => {
    await using here = await world();
    for (const amount of [5, 6]) await here.run(`cards create --bin bin_1 --amount ${amount}`);
    await here.run('sandbox faults add -', { stdin: SLOW_DOWN });
    const stopped = await here.run(FUND, QUICK);
    expect(stopped.code).toBe(7);
    await here.run('sandbox faults clear --yes');
    const again = await here.run(FUND, QUICK);
    expect({ code: again.code, err: again.err }).toEqual({
      code: 14,
      err: expect.stringContaining(`cardwright ops resume ${opIn(stopped.err)}`),
    });
    const resumed = await here.run(`ops resume ${opIn(stopped.err)} --yes`, QUICK);
    expect(resumed.code, resumed.err).toBe(0);
    expect((await here.run('cards list -o csv --fields balance')).out).toBe('balance\n50.00\n50.00\n');
    expect((await here.run(FUND)).err).toBe('No cards match balance<20. There is nothing to do.\n');
  });

  it.each([
    ['fund', FUND, 'cards fund card_1 --amount 30', '35.00', 'cards.fund'],
    [
      'withdraw',
      "cards withdraw --to 2 --where 'balance>2' --yes",
      'cards withdraw card_1 --amount 1',
      '4.00',
      'cards.withdraw',
    ],
    [
      'withdraw by a policy from',
      'policy apply policy.yaml --max-share 100% --yes',
      'cards withdraw card_1 --amount 1',
      '4.00',
      'cards.withdraw',
    ],
  ])('does not %s a card beyond it that has changed meanwhile', async (_, line, meanwhile, balance, operation) => {
    await using here = await world();
    await writeFile(join(here.folder, 'policy.yaml'), POLICY);
    await here.run('cards create --bin bin_1 --amount 5');
    await here.run('sandbox faults add -', { stdin: SLOW_DOWN.replace('cards.fund', operation) });
    const op = opIn((await here.run(line, QUICK)).err);
    await here.run('sandbox faults clear --yes');
    expect((await here.run(meanwhile)).code).toBe(0);
    const resumed = await here.run(`ops resume ${op} --yes`, QUICK);
    expect(resumed.code).toBe(9);
    expect(resumed.err).toContain('card_1 has changed since it was chosen');
    const [wanted] = JSON.parse((await here.run('cards list --json')).out).data as { balance: number }[];
    expect(wanted?.balance.toFixed(2)).toBe(balance);
    // The row is over: a second resume sends nothing, and a new selection moves what is still needed.
    expect((await here.run(`ops resume ${op} --yes`)).code).toBe(9);
    expect((await here.run(line.replace('balance<20', 'balance<50'))).code).toBe(0);
    const [brought] = JSON.parse((await here.run('cards list --json')).out).data as { balance: number }[];
    expect(brought?.balance).toBe(operation === 'cards.fund' ? 50 : 2);
  });
});
