import { describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { Refused } from '../../src/sandbox/calls/handler.ts';
import { DAY, DomainWorld } from '../support/domain-world.ts';

const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'not refused',
    error => (error instanceof Refused ? `${error.status} ${error.refusal}: ${error.message}` : error),
  );

async function withCard(options: { amount?: number; spending_limit?: number; categories?: string[] } = {}) {
  const world = await DomainWorld.open({ wallet: cents(200_000) });
  const { id: card_id } = await world.call('cards.create', {
    bin_id: await world.bin(),
    amount: cents(options.amount ?? 10_000),
    spending_limit: cents(options.spending_limit ?? 200_000),
    allowed_categories: options.categories ?? [],
  });
  world.told.length = 0;
  const authorize = (amount: number, more: Partial<Parameters<typeof world.admin<'simulate.authorize'>>[1]> = {}) =>
    world.admin('simulate.authorize', { card_id, amount: cents(amount), ...more });
  const hold = async (amount: number) => String((await authorize(amount))['authorization_id']);
  return { world, card_id, authorize, hold };
}

describe('simulate.authorize', () => {
  test('an approval answers every id, the balances and its events', async () => {
    const { world, card_id, authorize } = await withCard();
    expect(await authorize(3_000)).toEqual({
      outcome: 'approved',
      transaction_id: 'txn_1',
      authorization_id: 'txn_1',
      card_id,
      card_status: 'active',
      card_balance: 70,
      wallet_balance: 1900,
      events: ['transaction.authorized'],
    });
    const { data } = await world.call('transactions.list', {});
    expect(data).toEqual([
      {
        id: 'txn_1',
        card_id,
        type: 'authorization',
        status: 'pending',
        amount: 30,
        currency: 'USD',
        merchant: 'COFFEE SHOP',
        mcc: '5814',
        merchant_country: 'US',
        authorization_id: null,
        decline_reason: null,
        created_at: '2026-11-20T14:00:00Z',
      },
    ]);
    expect(world.told).toEqual([{ event: 'transaction.authorized', data: data[0] }]);
  });

  test('a decline is recorded, told, and moves nothing', async () => {
    const { world, authorize } = await withCard({ categories: ['software'] });
    expect(await authorize(3_000)).toMatchObject({
      outcome: 'declined',
      decline_reason: 'category_not_allowed',
      card_balance: 100,
      events: ['transaction.declined'],
    });
    expect(world.told[0]?.data).toMatchObject({ type: 'decline', status: 'declined', amount: 30 });
    expect(await authorize(3_000, { mcc: '7372' })).toMatchObject({ outcome: 'approved' });
    expect(await authorize(1, { mcc: '7372', mismatch: 'expiry' })).toMatchObject({ decline_reason: 'invalid_expiry' });
    expect(await authorize(1, { force_decline: 'do_not_honor' })).toMatchObject({ decline_reason: 'do_not_honor' });
    expect(await authorize(60_000)).toMatchObject({ decline_reason: 'category_not_allowed' });
    expect(await authorize(60_000, { mcc: '5734' })).toMatchObject({ decline_reason: 'transaction_limit_exceeded' });
    expect(await authorize(7_001, { mcc: '5734' })).toMatchObject({ decline_reason: 'insufficient_funds' });
  });

  test.each([
    ['404 not_found: no card card_x', { card_id: 'card_x' }],
    ['400 invalid_request: mcc: "58" is not four digits', { mcc: '58' }],
    ['400 invalid_request: country: "us" is not two capital letters', { country: 'us' }],
  ])('%s', async (message, change) => {
    const { authorize } = await withCard();
    expect(await refused(authorize(100, change))).toBe(message);
  });
});

describe('the monthly limit (A-161)', () => {
  test('counts holds and settlements, gives back reversals, not refunds, and ends with the month', async () => {
    const { world, hold, authorize } = await withCard({ spending_limit: 5_000 });
    const first = await hold(3_000);
    const second = await hold(2_000);
    expect(await authorize(1)).toMatchObject({ decline_reason: 'spending_limit_exceeded' });
    await world.admin('simulate.reverse', { authorization_id: second });
    await world.admin('simulate.settle', { authorization_id: first });
    await world.admin('simulate.refund', { authorization_id: first });
    expect(await authorize(2_001)).toMatchObject({ decline_reason: 'spending_limit_exceeded' });
    const third = await hold(2_000);
    // Above the hold is never declined, and counts: 3,000 and 2,500 are over the limit now.
    await world.admin('simulate.settle', { authorization_id: third, amount: cents(2_500) });
    expect(await authorize(1)).toMatchObject({ decline_reason: 'spending_limit_exceeded' });
    await world.advance(Date.parse('2026-11-30T23:59:59.999Z') - world.now);
    expect(await authorize(1)).toMatchObject({ decline_reason: 'spending_limit_exceeded' });
    await world.advance(1);
    expect(await authorize(5_000)).toMatchObject({ outcome: 'approved' });
  });
});

describe('settle, reverse, refund', () => {
  test('several settlements, the last one releases the rest', async () => {
    const { world, hold, card_id } = await withCard();
    const authorization_id = await hold(5_000);
    await world.admin('simulate.settle', { authorization_id, amount: cents(1_000), final: false });
    const balance = async () => (await world.call('cards.get', { card_id })).balance;
    expect(await balance()).toBe(50);
    const last = await world.admin('simulate.settle', { authorization_id, amount: cents(1_500) });
    expect(last).toMatchObject({ outcome: 'settled', transaction_id: 'txn_3', authorization_id, card_balance: 75 });
    const { data } = await world.call('transactions.list', { type: 'authorization' });
    expect(data[0]?.status).toBe('settled');
    // Nothing is left to expire, so nothing fires.
    expect(await world.advance(32 * DAY)).toEqual([]);
  });

  test('a settlement above the hold may take the card below 0 and freeze it', async () => {
    const { world, hold, card_id } = await withCard();
    const authorization_id = await hold(10_000);
    const over = await world.admin('simulate.settle', { authorization_id, amount: cents(12_000), final: false });
    expect(over).toMatchObject({ card_balance: -20, card_status: 'active' });
    expect(await refused(world.call('cards.withdraw', { card_id, amount: cents(1) }))).toContain('holds -20.00 USD');
    expect(await world.call('cards.terminate', { card_id })).toMatchObject({ balance: 0 });
    expect((await world.call('wallet.get', {})).balance).toBe(1880);
    expect(await world.faults()).toEqual([]);
  });

  test('a wallet that ends up below 0 refuses create and fund (A-157)', async () => {
    const { world, hold, card_id } = await withCard({ amount: 200_000 });
    const authorization_id = await hold(40_000);
    await world.call('cards.terminate', { card_id });
    await world.admin('simulate.settle', { authorization_id, amount: cents(250_000) });
    expect((await world.call('wallet.get', {})).balance).toBe(-500);
    const wanted = { bin_id: await world.bin(), amount: cents(100) };
    expect(await refused(world.call('cards.create', wanted))).toContain('the wallet holds -500.00 USD, 1.00 USD asked');
    expect(await world.faults()).toEqual([]);
  });

  test('a reversal in parts, and what is impossible', async () => {
    const { world, hold } = await withCard();
    const authorization_id = await hold(3_000);
    const reverse = (amount?: number) =>
      world.admin('simulate.reverse', { authorization_id, ...(amount !== undefined && { amount: cents(amount) }) });
    expect(await refused(reverse(3_001))).toBe(
      `409 invalid_request: authorization ${authorization_id} holds 30.00 USD, 30.01 USD asked`,
    );
    expect(await reverse(1_000)).toMatchObject({ outcome: 'reversed', card_balance: 80, events: [] });
    expect(await reverse()).toMatchObject({ card_balance: 100 });
    expect(await refused(reverse())).toBe(
      `409 invalid_request: authorization ${authorization_id} is reversed, not pending: nothing is held`,
    );
    expect(await refused(world.admin('simulate.settle', { authorization_id }))).toContain('name the amount to post');
    expect(await refused(world.admin('simulate.reverse', { authorization_id: 'txn_x' }))).toContain('404 not_found');
  });

  test('refunds add up to what settled, never above', async () => {
    const { world, hold } = await withCard();
    const authorization_id = await hold(3_000);
    const refund = (amount?: number) =>
      world.admin('simulate.refund', { authorization_id, ...(amount !== undefined && { amount: cents(amount) }) });
    expect(await refused(refund())).toContain(': 0.00 USD can be refunded');
    await world.admin('simulate.settle', { authorization_id, amount: cents(2_000), final: false });
    await refund(500);
    expect(await refused(refund(1_501))).toContain(': 15.00 USD can be refunded');
    expect(await refund()).toMatchObject({ outcome: 'refunded', card_balance: 90, authorization_id });
    expect(await refused(refund(1))).toContain(': 0.00 USD can be refunded');
  });

  test('nothing but an authorization can be settled', async () => {
    const { world, hold } = await withCard();
    const authorization_id = await hold(3_000);
    const settled = await world.admin('simulate.settle', { authorization_id });
    const wrong = { authorization_id: String(settled['transaction_id']) };
    expect(await refused(world.admin('simulate.settle', wrong))).toContain('404 not_found');
  });
});

describe('deposits', () => {
  test('one confirmation a block, credited once, its value fixed', async () => {
    const world = await DomainWorld.open();
    await world.admin('simulate.deposit', { currency: 'btc', amount: cents(65_000) });
    expect(world.told[0]).toMatchObject({
      event: 'deposit.pending',
      data: { crypto_amount: '0.01000000', amount: 650, confirmations: 0, required_confirmations: 2 },
    });
    expect(await world.call('wallet.get', {})).toMatchObject({ balance: 0, pending_deposits: 650, total_deposited: 0 });
    expect(await world.advance(1_199_999)).toHaveLength(1);
    expect((await world.call('wallet.get', {})).balance).toBe(0);
    expect(await world.advance(1)).toHaveLength(1);
    expect(await world.call('wallet.get', {})).toMatchObject({
      balance: 650,
      pending_deposits: 0,
      total_deposited: 650,
    });
    expect(world.told[1]?.data).toMatchObject({ status: 'confirmed', confirmed_at: '2026-11-20T14:20:00Z' });
    expect(await world.advance(30 * DAY)).toEqual([]);
  });

  test('confirmed by hand at once, and no second time', async () => {
    const world = await DomainWorld.open();
    const { deposit_id } = await world.admin('simulate.deposit', { currency: 'usdt', amount: cents(100) });
    const confirm = (id: unknown) => world.admin('simulate.confirm', { deposit_id: String(id) });
    expect(await confirm(deposit_id)).toMatchObject({ outcome: 'confirmed', wallet_balance: 1 });
    expect(await refused(confirm(deposit_id))).toBe('409 invalid_request: deposit dep_1 is confirmed already');
    expect(await refused(confirm('dep_x'))).toBe('404 not_found: no deposit dep_x');
    expect(await world.advance(DAY)).toEqual([]);
    expect((await world.call('wallet.get', {})).balance).toBe(1);
  });
});

describe('expiry', () => {
  test('a hold ends after 7 days, 31 for travel; a settled part stays settled', async () => {
    const { world, hold, authorize, card_id } = await withCard();
    const part = await hold(2_000);
    await world.admin('simulate.settle', { authorization_id: part, amount: cents(500), final: false });
    await authorize(1_000, { mcc: '7011' });
    await world.advance(7 * DAY - 1);
    expect((await world.call('cards.get', { card_id })).balance).toBe(70);
    await world.advance(1);
    expect((await world.call('cards.get', { card_id })).balance).toBe(85);
    await world.advance(24 * DAY);
    expect((await world.call('cards.get', { card_id })).balance).toBe(95);
    const { data } = await world.call('transactions.list', { type: 'authorization' });
    expect(data.map(({ status }) => status).sort()).toEqual(['expired', 'settled']);
  });
});
