/** The clock of a sandbox is moved while a command waits to send again: the key may be forgotten by now (A4). */
import { expect, test } from 'vitest';
import { world } from '../support/world.ts';

const LOST = { phase: 'after_commit', action: { kind: 'reset' } };
const THROTTLED = { phase: 'before', action: { kind: 'status', code: 429, retry_after: '4' } };

/** Pauses of at least so many ms are those in which a day passes at the service; fund is throttled, create is looked for. */
const FROM = { fund: 3_000, create: 0 } as const;

test.each(['fund', 'create'] as const)('%s: its answer is lost, and a day passes there in the pause', async name => {
  await using w = await world({ wallet: 1000 });
  const json = async (line: string) => JSON.parse((await w.run(`${line} --json`)).out);
  const create = `cards create --bin ${(await json('bins list')).data[0].id} --amount 25`;
  const { id } = await json(create);
  for (const fault of [LOST, THROTTLED]) {
    const stdin = JSON.stringify({ match: { operation: `cards.${name}` }, times: 1, ...fault });
    expect((await w.run('sandbox faults add - -q', { stdin })).code).toBe(0);
  }
  let isMoved = false;
  const { code, all } = await w.run(name === 'create' ? create : `cards fund ${id} --amount 25`, {
    async onPause(ms) {
      if (ms < FROM[name] || isMoved) return;
      isMoved = true;
      expect((await w.run('sandbox clock advance --by 25h')).code).toBe(0);
    },
  });
  expect(isMoved, all).toBe(true);
  expect([code, (await json('wallet')).balance], all).toEqual([name === 'create' ? 0 : 11, 950]);
});
