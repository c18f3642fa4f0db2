import { describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { Refused } from '../../src/sandbox/calls/handler.ts';
import { readClock, setClock } from '../../src/sandbox/clock/clock.ts';
import { DomainWorld } from '../support/domain-world.ts';

const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'not refused',
    error => (error instanceof Refused ? `${error.status} ${error.refusal}: ${error.message}` : error),
  );

describe('bins.list', () => {
  test('eight BINs over both networks, every field there', async () => {
    const world = await DomainWorld.open();
    const { data } = await world.call('bins.list', {});
    expect(data.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map(count => `bin_${count}`));
    expect(new Set(data.map(({ network }) => network))).toEqual(new Set(['visa', 'mastercard']));
    expect(new Set(data.flatMap(({ best_for }) => best_for))).toEqual(new Set(['ads', 'saas', 'travel', 'shopping']));
    expect(data[1]).toEqual({
      id: 'bin_2',
      network: 'visa',
      type: 'debit',
      '3ds': true,
      apple_pay: true,
      google_pay: true,
      max_transaction: 2500,
      max_monthly: 10000,
      acceptance_rate: 96.4,
      best_for: ['saas', 'shopping'],
    });
  });
});

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

  test('pages of 25, newest first', async () => {
    const { world, list } = await withRecords(27);
    const first = await world.call('transactions.list', {});
    expect(first.page).toEqual({ page: 1, per_page: 25, total: 27, total_pages: 2 });
    expect([first.data.length, first.data[0]?.id]).toEqual([25, 'txn_27']);
    expect(await list({ page: 2 })).toEqual([['txn_2', 'txn_1'], 27]);
    expect(await list({ page: 3 })).toEqual([[], 27]);
  });

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

describe('wallet', () => {
  test('counts active cards, sums those that live (A-60 to A-63)', async () => {
    const world = await DomainWorld.open({ wallet: cents(100_000) });
    for (let made = 0; made < 3; made += 1) {
      await world.call('cards.create', { bin_id: await world.bin(), amount: cents(10_000) });
    }
    await world.call('cards.freeze', { card_id: 'card_2' });
    await world.call('cards.terminate', { card_id: 'card_3' });
    await world.admin('simulate.authorize', { card_id: 'card_1', amount: cents(1_001) });
    await world.admin('simulate.deposit', { currency: 'sol', amount: cents(5) });
    expect(await world.call('wallet.get', {})).toEqual({
      balance: 800,
      currency: 'USD',
      pending_deposits: 0.05,
      total_deposited: 1000,
      total_spent: 0,
      cards_active: 1,
      cards_total_balance: 189.99,
    });
  });

  test('an address for each network of a currency, always the same', async () => {
    const world = await DomainWorld.open();
    const { data } = await world.call('wallet.addresses', {});
    expect(data.map(({ currency, network }) => `${currency} ${network}`)).toEqual([
      ...['btc bitcoin', 'eth ethereum', 'sol solana', 'usdt tron', 'usdt ethereum', 'usdt solana'],
    ]);
    const usdt = await world.call('wallet.addresses', { currency: 'usdt' });
    expect(usdt.data).toEqual(data.slice(3));
    expect(usdt.data[0]).toMatchObject({ memo: null, min_confirmations: 20 });
    expect(new Set(data.map(({ address }) => address)).size).toBe(data.length);
  });
});

describe('webhooks', () => {
  test('the secret is in the create answer alone', async () => {
    const world = await DomainWorld.open();
    const url = 'https://example.com/hook';
    const made = await world.call('webhooks.create', { url, events: ['*'] });
    const { secret, ...record } = made;
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(record).toEqual({
      id: 'wh_1',
      url,
      events: ['*'],
      status: 'active',
      created_at: '2026-11-20T14:00:00Z',
      updated_at: '2026-11-20T14:00:00Z',
    });
    expect(await world.call('webhooks.get', { webhook_id: 'wh_1' })).toEqual(record);
    expect((await world.call('webhooks.list', {})).data).toEqual([record]);
    const own = await world.call('webhooks.create', { url, events: ['card.created'], secret: 'mine, all of 16' });
    expect(own.secret).toBe('mine, all of 16');
  });

  test('an update changes what it names; delete is final', async () => {
    const world = await DomainWorld.open();
    const { id: webhook_id } = await world.call('webhooks.create', { url: 'https://example.com/', events: ['*'] });
    await world.advance(5_000);
    const disabled = await world.call('webhooks.update', { webhook_id, status: 'disabled' });
    expect(disabled).toMatchObject({ status: 'disabled', events: ['*'], updated_at: '2026-11-20T14:00:05Z' });
    const moved = { url: 'http://127.0.0.1:8080/', events: ['card.frozen'] };
    expect(await world.call('webhooks.update', { webhook_id, ...moved })).toMatchObject({
      ...moved,
      status: 'disabled',
    });
    expect(await world.call('webhooks.delete', { webhook_id })).toBeUndefined();
    for (const name of ['webhooks.get', 'webhooks.update', 'webhooks.delete'] as const) {
      expect(await refused(world.call(name, { webhook_id }))).toBe('404 not_found: no webhook wh_1');
    }
  });

  test.each([
    ['url: must begin with https://', { url: 'http://example.com/' }],
    ['events: "card.melted" is not an event', { events: ['card.melted'] }],
  ])('%s', async (message, change) => {
    const world = await DomainWorld.open();
    const fine = { url: 'https://example.com/', events: ['*'] };
    expect(await refused(world.call('webhooks.create', { ...fine, ...change }))).toContain(
      `400 invalid_request: ${message}`,
    );
    const { id: webhook_id } = await world.call('webhooks.create', fine);
    expect(await refused(world.call('webhooks.update', { webhook_id, ...change }))).toContain(message);
  });
});

describe('reset and status', () => {
  test('a reset with the same seed gives the same sandbox again', async () => {
    const world = await DomainWorld.open({ data: 'demo', ids: 'derived', seed: 7 });
    const cards = (await world.call('cards.list', {})).data;
    await world.call('cards.terminate', { card_id: cards[0]?.id ?? '' });
    await world.admin('simulate.deposit', { currency: 'btc', amount: cents(100) });
    const status = await world.admin('reset', { data: 'demo', seed: 7 });
    expect(status).toMatchObject({ data_set: 'demo', cards: 12, events: 0, ledger_ok: true, wallet_balance: 10000 });
    expect((await world.call('cards.list', {})).data).toEqual(cards);
    await world.admin('reset', { data: 'demo', seed: 8 });
    expect((await world.call('cards.list', {})).data.map(({ id }) => id)).not.toEqual(cards.map(({ id }) => id));
  });

  test('the demo is the default, empty is empty, and no timer of before is left', async () => {
    const world = await DomainWorld.open({ wallet: cents(1_000) });
    await world.admin('simulate.deposit', { currency: 'btc', amount: cents(100) });
    expect(await world.admin('reset', { data: 'empty' })).toEqual({
      data_set: 'empty',
      now: '2026-11-20T14:00:00Z',
      bins: 8,
      cards: 0,
      transactions: 0,
      webhooks: 0,
      events: 0,
      wallet_balance: 0,
      ledger_ok: true,
      ledger_faults: [],
      ledger_checked_at: '2026-11-20T14:00:00Z',
      timers_parked: [],
    });
    expect(await world.advance(86_400_000)).toEqual([]);
    expect(await world.admin('reset', {})).toMatchObject({ data_set: 'demo' });
  });

  test('a damaged ledger is said', async () => {
    const world = await DomainWorld.open({ wallet: cents(1_000) });
    await world.change(({ sql }) => sql.run('update wallets set balance = balance + 1'));
    const status = await world.admin('status', {});
    expect(status['ledger_ok']).toBe(false);
    expect(status['ledger_faults']).toHaveLength(2);
  });

  test('a set clock goes on after a reset', async () => {
    const world = await DomainWorld.open();
    const frozen = { mode: 'frozen', at: 5_000_000, real_since: 1, rate_milli: 1_000 } as const;
    await world.change(({ sql }) => setClock(sql, frozen));
    await world.admin('reset', {});
    expect(await world.read(sql => readClock(sql))).toEqual(frozen);
  });
});
