import { describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { Refused } from '../../src/sandbox/calls/handler.ts';
import { createCard } from '../../src/sandbox/handlers/cards.ts';
import { cardNumber, TEST_RANGES } from '../../src/sandbox/rules/money.ts';
import { DAY, DomainWorld, START } from '../support/domain-world.ts';

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

describe('cards.create', () => {
  test('gives every field, the limit of the BIN and the end of the month three years on', async () => {
    const { card } = await withCard();
    expect(card).toEqual({
      id: 'card_1',
      bin_id: 'bin_1',
      network: 'visa',
      last4: expect.stringMatching(/^\d{4}$/),
      status: 'active',
      balance: 100,
      spending_limit: 2000,
      label: '',
      allowed_categories: [],
      auto_freeze_at: null,
      metadata: {},
      created_at: '2026-11-20T14:00:00Z',
      expires_at: '2029-11-30T23:59:59Z',
    });
  });

  test('keeps what was asked for, and tells the whole card', async () => {
    const world = await DomainWorld.open({ wallet: cents(100_000) });
    const asked = {
      label: '広告 — Tokyo 🗼',
      allowed_categories: ['software', '5814'],
      metadata: { team: 'a', __proto: '' },
    };
    const card = await world.call('cards.create', {
      ...asked,
      bin_id: await world.bin(4),
      amount: cents(100),
      spending_limit: cents(1),
      auto_freeze_at: cents(5_000),
    });
    const kept = { ...asked, network: 'mastercard', spending_limit: 0.01, auto_freeze_at: 50, status: 'active' };
    expect(card).toMatchObject(kept);
    expect(world.told).toEqual([{ event: 'card.created', data: card }]);
    expect(await world.call('cards.get', { card_id: card.id })).toEqual(card);
  });

  test.each([
    ['404 bin_not_found: no BIN bin_x', { bin_id: 'bin_x' }],
    ['400 invalid_request: allowed_categories: "sofware" is neither', { allowed_categories: ['software', 'sofware'] }],
    ['400 invalid_request: spending_limit: 2000.01 USD is above the 2000.00 USD', { spending_limit: cents(200_001) }],
    ['400 insufficient_funds: the wallet holds 1000.00 USD, 1000.01 USD asked', { amount: cents(100_001) }],
  ])('%s', async (message, change) => {
    const { world } = await withCard({ amount: 100 });
    await world.call('cards.withdraw', { card_id: 'card_1', amount: cents(100) });
    const wanted = { bin_id: await world.bin(), amount: cents(100), ...change };
    expect(await refused(world.call('cards.create', wanted))).toContain(message);
    expect(await world.call('wallet.get', {})).toMatchObject({ balance: 1000, cards_active: 1 });
    expect(world.events()).toEqual([]);
  });

  test('a number that is taken is drawn again', async () => {
    const { world, card } = await withCard();
    const { number } = await world.call('cards.details', { card_id: card.id }).then(details => ({
      number: details.number.expose(),
    }));
    const draws = [number.slice(6, 15), '000000001'];
    const second = await world.change(act =>
      createCard({
        ...act,
        idSource: {
          ...act.idSource,
          digits: async (what, count) => (what === 'number' ? draws.shift() : '7'.repeat(count)) ?? '',
        },
        input: { bin_id: card.bin_id, amount: cents(100) },
      }),
    );
    expect(second.last4).toBe(cardNumber('visa', '000000001').slice(-4));
    expect(draws).toEqual([]);
  });

  test('the body is judged before the BIN, the BIN before the money (A-115)', async () => {
    const world = await DomainWorld.open();
    const wrong = { bin_id: 'bin_x', amount: cents(100), allowed_categories: ['no'] };
    expect(await refused(world.call('cards.create', wrong))).toContain('invalid_request');
    expect(await refused(world.call('cards.create', { ...wrong, allowed_categories: [] }))).toContain('bin_not_found');
    const tooHigh = { bin_id: await world.bin(), amount: cents(100), spending_limit: cents(99_999_999) };
    expect(await refused(world.call('cards.create', tooHigh))).toContain('spending_limit');
  });
});

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

describe('states', () => {
  test('freeze, unfreeze and terminate answer the card and tell it', async () => {
    const { world, card_id } = await withCard();
    const replies = [
      await world.call('cards.freeze', { card_id }),
      await world.call('cards.unfreeze', { card_id }),
      await world.call('cards.freeze', { card_id }),
      await world.call('cards.terminate', { card_id }),
    ];
    expect(replies.map(({ status, balance }) => [status, balance])).toEqual([
      ['frozen', 100],
      ['active', 100],
      ['frozen', 100],
      ['terminated', 0],
    ]);
    expect(world.told.map(({ data }) => data)).toEqual(replies);
    expect(world.events()).toEqual(['card.frozen', 'card.unfrozen', 'card.frozen', 'card.terminated']);
    expect((await world.call('wallet.get', {})).balance).toBe(1000);
  });

  test('the conflicts of A-107, A-108 and A-158', async () => {
    const { world, card_id } = await withCard();
    expect(await refused(world.call('cards.unfreeze', { card_id }))).toContain('409 card_not_frozen');
    await world.call('cards.freeze', { card_id });
    expect(await refused(world.call('cards.freeze', { card_id }))).toContain('409 card_already_frozen');
    await world.call('cards.terminate', { card_id });
    world.told.length = 0;
    for (const name of ['cards.freeze', 'cards.unfreeze', 'cards.terminate'] as const) {
      expect(await refused(world.call(name, { card_id }))).toContain('409 card_terminated');
    }
    for (const name of ['cards.fund', 'cards.withdraw'] as const) {
      expect(await refused(world.call(name, { card_id, amount: cents(100) }))).toContain('409 card_terminated');
    }
    expect(world.events()).toEqual([]);
  });

  test('an unknown card is not found by anything', async () => {
    const { world } = await withCard();
    const card_id = 'card_x';
    for (const name of ['get', 'details', 'freeze', 'unfreeze', 'terminate'] as const) {
      expect(await refused(world.call(`cards.${name}`, { card_id }))).toBe('404 not_found: no card card_x');
    }
    for (const name of ['cards.fund', 'cards.withdraw'] as const) {
      expect(await refused(world.call(name, { card_id, amount: cents(100) }))).toBe('404 not_found: no card card_x');
    }
  });
});

describe('cards.fund and cards.withdraw', () => {
  test('both answer the balances; only fund has an event', async () => {
    const { world, card_id } = await withCard();
    const funded = { card_id, amount: 50.05, card_balance: 150.05, wallet_balance: 849.95 };
    expect(await world.call('cards.fund', { card_id, amount: cents(5_005) })).toEqual(funded);
    expect(world.told).toMatchObject([{ event: 'card.funded', data: { id: card_id, balance: 150.05 } }]);
    const emptied = { card_id, amount: 150.05, card_balance: 0, wallet_balance: 1000 };
    expect(await world.call('cards.withdraw', { card_id, amount: cents(15_005) })).toEqual(emptied);
    expect(world.events()).toEqual(['card.funded']);
  });

  test('a frozen card can be funded and emptied (A-154)', async () => {
    const { world, card_id } = await withCard();
    await world.call('cards.freeze', { card_id });
    await world.call('cards.fund', { card_id, amount: cents(100) });
    await world.call('cards.withdraw', { card_id, amount: cents(10_100) });
    expect(await world.call('cards.get', { card_id })).toMatchObject({ status: 'frozen', balance: 0 });
  });

  test('not more than there is', async () => {
    const { world, card_id } = await withCard();
    expect(await refused(world.call('cards.withdraw', { card_id, amount: cents(10_001) }))).toBe(
      '400 insufficient_card_funds: card card_1 holds 100.00 USD, 100.01 USD asked',
    );
    expect(await refused(world.call('cards.fund', { card_id, amount: cents(90_001) }))).toBe(
      '400 insufficient_funds: the wallet holds 900.00 USD, 900.01 USD asked',
    );
    expect(await world.faults()).toEqual([]);
  });

  test('an expired card takes no money and gives it back (A-109, A-165)', async () => {
    const { world, card_id } = await withCard();
    await world.advance(Date.parse('2029-11-30T23:59:59Z') - START);
    await world.call('cards.fund', { card_id, amount: cents(100) });
    await world.advance(1);
    expect(await refused(world.call('cards.fund', { card_id, amount: cents(100) }))).toContain('409 card_expired');
    expect(await world.call('cards.withdraw', { card_id, amount: cents(10_100) })).toMatchObject({ card_balance: 0 });
    expect((await world.call('cards.get', { card_id })).status).toBe('active');
  });

  test('a withdrawal to the line leaves the card active, one cent below freezes it', async () => {
    const { world, card_id } = await withCard({ auto_freeze_at: 2_000 });
    await world.call('cards.withdraw', { card_id, amount: cents(8_000) });
    expect(world.events()).toEqual([]);
    await world.call('cards.withdraw', { card_id, amount: cents(1) });
    expect(world.events()).toEqual(['card.frozen']);
    expect((await world.call('cards.get', { card_id })).status).toBe('frozen');
  });

  test('creating and unfreezing below the line does not freeze; the next decrease does', async () => {
    const { world, card, card_id } = await withCard({ amount: 1_000, auto_freeze_at: 2_000 });
    expect(card.status).toBe('active');
    await world.admin('simulate.authorize', { card_id, amount: cents(100) });
    await world.call('cards.unfreeze', { card_id });
    const second = await world.admin('simulate.authorize', { card_id, amount: cents(100) });
    expect(second).toMatchObject({ outcome: 'approved', card_status: 'frozen', card_balance: 8 });
    expect(world.events()).toEqual([
      ...['transaction.authorized', 'card.frozen', 'card.unfrozen', 'transaction.authorized', 'card.frozen'],
    ]);
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
