import { describe, expect, test } from 'vitest';
import { DAY, DomainWorld, START } from '../support/domain-world.ts';

const tally = (words: readonly string[]) =>
  Object.fromEntries([...new Set(words)].sort().map(word => [word, words.filter(other => other === word).length]));

describe('the data set demo', () => {
  test('has what it promises, and a whole ledger', async () => {
    const world = await DomainWorld.open({ data: 'demo' });
    const cards = (await world.call('cards.list', {})).data;
    const records = await world.read(sql => sql.all<{ type: string }>('select type from transactions'));
    const purchases = (await world.call('transactions.list', { type: 'authorization' })).data;
    expect(await world.call('wallet.get', {})).toMatchObject({
      balance: 10000,
      total_deposited: 20000,
      pending_deposits: 250,
      cards_active: 8,
    });
    expect(tally(cards.map(({ status }) => status))).toEqual({ active: 8, frozen: 2, terminated: 2 });
    expect(tally(records.map(({ type }) => type))).toEqual({
      authorization: 13,
      decline: 2,
      refund: 2,
      settlement: 9,
    });
    expect(tally(purchases.map(({ status }) => status))).toEqual({ expired: 1, pending: 2, reversed: 1, settled: 9 });
    expect(cards.map(({ label }) => label)).toContain('広告 — Tokyo');
    expect((await world.call('challenges.list', {})).data).toHaveLength(1);
    expect((await world.call('webhooks.list', {})).data).toHaveLength(1);
    expect(await world.faults()).toEqual([]);
    expect(world.told).toEqual([]);
  });
  test('the seed alone decides what it holds', async () => {
    const dump = async (seed: number) => {
      const world = await DomainWorld.open({ data: 'demo', ids: 'derived', seed });
      return world.read(async sql => [
        await sql.all('select * from cards order by id'),
        await sql.all('select * from transactions order by id'),
        await sql.all('select * from postings order by entry_id, ledger'),
      ]);
    };
    expect(await dump(1)).toEqual(await dump(1));
    expect(await dump(1)).not.toEqual(await dump(2));
  });

  test('whatever the day it is made on, the rules take the story as it is told', async () => {
    for (let day = 0; day < 62; day += 3) {
      const world = await DomainWorld.open({ data: 'demo', now: START + day * DAY });
      expect(await world.call('wallet.get', {})).toMatchObject({ balance: 10000, cards_active: 8 });
    }
  });
  test('its challenge and its deposit can be finished', async () => {
    const world = await DomainWorld.open({ data: 'demo' });
    const challenge_id = (await world.call('challenges.list', {})).data[0]?.id ?? '';
    expect(await world.admin('simulate.answer', { challenge_id, answer: 'right' })).toMatchObject({
      outcome: 'approved',
      card_balance: 61,
    });
    expect(await world.admin('simulate.confirm', { deposit_id: 'dep_3' })).toMatchObject({ wallet_balance: 10250 });
    expect(await world.faults()).toEqual([]);
  });
});
