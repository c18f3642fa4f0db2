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

test('a copy is as old as the clock of the sandbox says, wherever that was moved to', async () => {
  await using w = await world({ wallet: 1000 });
  const done = async (line: string) => {
    const { code, out, err } = await w.run(line);
    expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' });
    return out.trim();
  };
  // By another machine: a copy that lacks what this one did is never young.
  const other = await w.run('cards create --bin bin_1 --amount 25', {
    env: { CARDWRIGHT_CONFIG_DIR: `${w.folder}/o` },
  });
  expect(other.code).toBe(0);
  await done('books sync -q');
  expect(await done('tx search shop -q')).toBe('');
  const txn = await done('sandbox simulate authorize --card card_1 --amount 4 --merchant SHOP -q');
  // The copy is young still: nothing is read.
  expect(await done('tx search shop -q')).toBe('');
  await done('sandbox clock advance --by 16m -q');
  expect(await done('tx search shop -q')).toBe(txn);
  await done('sandbox simulate authorize --card card_1 --amount 3 --merchant SHOP -q');
  await done('sandbox clock advance --by 40d -q');
  expect(JSON.parse(await done('overview --json'))).toMatchObject({ as_of: expect.stringMatching(/^2026-12-30T/) });
  await done('sandbox clock set frozen --at 2026-11-20T00:00:00Z');
  expect(JSON.parse(await done('overview --json'))).toMatchObject({ as_of: '2026-11-20T00:00:00Z' });
});
