import { describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { Refused } from '../../src/sandbox/calls/handler.ts';
import { DomainWorld } from '../support/domain-world.ts';

const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'not refused',
    error => (error instanceof Refused ? `${error.status} ${error.refusal}: ${error.message}` : error),
  );
describe('transactions.list', () => {
  async function withRecords(count: number) {
    const world = await DomainWorld.open({ wallet: cents(100_000), now: Date.parse('2026-01-05T23:59:59.998Z') });
    for (const bin of [0, 1]) await world.call('cards.create', { bin_id: await world.bin(bin), amount: cents(10_000) });
    for (let made = 0; made < count; made += 1) {
      await world.admin('simulate.authorize', { card_id: `card_${1 + (made % 2)}`, amount: cents(100) });
      await world.advance(1);
    }
    const list = async (input: Parameters<typeof world.call<'transactions.list'>>[1]) => {
      const { data, page } = await world.call('transactions.list', input);
      return [data.map(({ id }) => id), page.total];
    };
    return { world, list };
  }
  test('filters by card, kind and an inclusive range', async () => {
    const { world, list } = await withRecords(4);
    await world.admin('simulate.settle', { authorization_id: 'txn_2' });
    expect(await list({ card_id: 'card_2', type: 'authorization' })).toEqual([['txn_4', 'txn_2'], 2]);
    expect(await list({ type: 'settlement' })).toEqual([['txn_5'], 1]);
    expect(await list({ card_id: 'card_x' })).toEqual([[], 0]);
    // .998 and .999 of one day, .000 and .001 of the next, the settlement at .002.
    expect(await list({ to: '2026-01-05' })).toEqual([['txn_2', 'txn_1'], 2]);
    expect(await list({ from: '2026-01-06' })).toEqual([['txn_5', 'txn_4', 'txn_3'], 3]);
    expect(await list({ from: '2026-01-05T23:59:59.999Z', to: '2026-01-06T00:00:00Z' })).toEqual([
      ['txn_3', 'txn_2'],
      2,
    ]);
    const backwards = world.call('transactions.list', { from: '2026-01-06', to: '2026-01-05' });
    expect(await refused(backwards)).toBe('400 invalid_request: from: 2026-01-06 is after to: 2026-01-05');
  });
});
