import { describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { Refused } from '../../src/sandbox/calls/handler.ts';
import { TEST_RANGES } from '../../src/sandbox/rules/money.ts';
import { DAY, DomainWorld } from '../support/domain-world.ts';

const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'not refused',
    error => (error instanceof Refused ? `${error.status} ${error.refusal}: ${error.message}` : error),
  );

async function withCard(options: { amount?: number; auto_freeze_at?: number; spending_limit?: number } = {}) {
  const world = await DomainWorld.open({ wallet: cents(100_000) });
  const card = await world.call('cards.create', {
    bin_id: await world.bin(),
    amount: cents(options.amount ?? 10_000),
    ...(options.auto_freeze_at !== undefined && { auto_freeze_at: cents(options.auto_freeze_at) }),
    ...(options.spending_limit !== undefined && { spending_limit: cents(options.spending_limit) }),
  });
  world.told.length = 0;
  return { world, card, card_id: card.id };
}
describe('cards.details', () => {
  test('the number is in the test range and ends as last4 says; frozen and expired cards may be looked at', async () => {
    const { world, card, card_id } = await withCard();
    await world.call('cards.freeze', { card_id });
    await world.advance(1200 * DAY);
    const details = await world.call('cards.details', { card_id });
    const number = details.number.expose();
    expect(details).toMatchObject({ card_id, exp_month: 11, exp_year: 2029 });
    expect([number.slice(0, 6), number.slice(-4), number.length]).toEqual([TEST_RANGES.visa, card.last4, 16]);
    expect(details.cvv.expose()).toMatch(/^\d{3}$/);
    expect(JSON.stringify(details)).not.toContain(number);
  });

  test('termination erases the code from the store', async () => {
    const { world, card_id } = await withCard();
    await world.call('cards.terminate', { card_id });
    expect(await refused(world.call('cards.details', { card_id }))).toContain('409 card_terminated');
    expect(await world.read(sql => sql.all('select cvv from cards'))).toEqual([{ cvv: null }]);
  });
});
describe('cards.list', () => {
  test('filters, pages and totals, newest first', async () => {
    const world = await DomainWorld.open({ wallet: cents(100_000) });
    for (const position of [0, 1, 0, 1, 0]) {
      await world.call('cards.create', { bin_id: await world.bin(position), amount: cents(100) });
      if (position === 1) await world.advance(1000);
    }
    await world.call('cards.freeze', { card_id: 'card_3' });
    const ids = async (input: Parameters<typeof world.call<'cards.list'>>[1]) => {
      const { data, page } = await world.call('cards.list', input);
      return [data.map(card => card.id), page];
    };
    const pages = { page: 1, per_page: 2, total: 5, total_pages: 3 };
    expect(await ids({ per_page: 2 })).toEqual([['card_5', 'card_4'], pages]);
    expect(await ids({ per_page: 2, page: 3 })).toEqual([['card_1'], { ...pages, page: 3 }]);
    expect(await ids({ per_page: 2, page: 4 })).toEqual([[], { ...pages, page: 4 }]);
    expect(await ids({ status: 'frozen', bin_id: 'bin_1' })).toEqual([
      ['card_3'],
      { page: 1, per_page: 25, total: 1, total_pages: 1 },
    ]);
    expect(await ids({ bin_id: 'bin_2' })).toMatchObject([['card_4', 'card_2'], { total: 2 }]);
    expect(await ids({ status: 'terminated' })).toEqual([[], { page: 1, per_page: 25, total: 0, total_pages: 0 }]);
  });
});
