import { describe, expect, it } from 'vitest';
import { type World, world } from '../support/world.ts';

/** A world of one changing record a purchase, with a settled one that is 40 days old, and a copy of it. */
async function oldPurchase(): Promise<World> {
  const here = await world({ dialect: 'auth-single' });
  await here.run('cards create --bin bin_1 --amount 100 --label ads -q');
  await here.run('sandbox simulate authorize --card card_1 --amount 30 -q');
  await here.run('sandbox simulate settle txn_1 -q');
  await here.run('sandbox clock advance 40d');
  expect((await here.run('reconcile --jq .verdict')).out).toBe('baseline\n');
  await here.run('sandbox clock advance 1d');
  await here.run('sandbox simulate authorize --card card_1 --amount 4 -q');
  expect((await here.run('mirror sync --jq .transactions.new')).out).toBe('1\n');
  return here;
}

describe('a purchase in one changing record that was settled long ago', () => {
  it.each([
    ['in part', 12.5],
    ['as a whole', 30],
  ])('is read again when it is refunded %s, and nothing is missing', async (_, amount) => {
    await using here = await oldPurchase();
    await here.run(`sandbox simulate refund txn_1 --amount ${amount} -q`);
    const told = JSON.parse((await here.run('mirror sync --json')).out);
    expect(told.transactions).toEqual({ new: 0, changed: 1, gone: 0 });
    const shown = (line: string) => here.run(`tx list --card card_1 ${line} --json --jq .data`);
    expect((await shown('--offline')).out).toBe((await shown('')).out);
    const verdict = await here.run('reconcile --json');
    expect(JSON.parse(verdict.out)).toMatchObject({ residual: 0, findings: [] });
    expect(verdict.code).toBe(0);
  });

  it('is not looked for when nothing of it changed', async () => {
    await using here = await oldPurchase();
    await here.run('sandbox simulate settle txn_2 -q');
    const few = JSON.parse((await here.run('mirror sync --json')).out);
    expect(few.requests).toBeLessThan(12);
    expect((await here.run('mirror sync --jq .requests')).out).toBe('3\n');
  });
});
