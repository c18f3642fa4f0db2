/** Rows that a filter should have left out: the list is not believed, and nothing of it is printed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { world } from '../support/world.ts';
import { CARD, json, type Served, serve, speak, thrown } from './served.ts';

const row = { id: 'txn_1', card_id: 'card_1', type: 'decline', amount: 5, created_at: '2026-11-20T14:03:11Z' };
const challenge = { id: 'ch_1', card_id: 'card_1', status: 'pending', otp: '123456', amount: 5, merchant: 'Shop' };
const ROWS: Readonly<Record<string, object>> = { cards: CARD, transactions: row, challenges: challenge };

/** Takes every filter and keeps to none. */
let served: Served;
beforeAll(async () => {
  served = await serve(({ url }, response) => {
    const name = new URL(url, 'http://x').pathname.split('/').at(-1) ?? '';
    json(response, 200, { data: [ROWS[name]], meta: { page: 1, total: 1, total_pages: 1 } });
  });
});
afterAll(() => served.close());

describe.each([
  ['cards.list', { status: 'frozen' }, { status: 'active' }],
  ['cards.list', { bin_id: 'bin_2' }, { bin_id: 'bin_1' }],
  ['transactions.list', { card_id: 'card_2' }, { card_id: 'card_1' }],
  ['transactions.list', { type: 'refund' }, { type: 'decline' }],
  ['transactions.list', { from: '2026-11-22T00:00:00.000Z' }, { from: '2026-11-20T23:00:00.000Z' }],
  ['transactions.list', { to: '2026-11-18T23:59:59.999Z' }, { to: '2026-11-20T00:00:00.000Z' }],
  ['challenges.list', { card_id: 'card_2' }, { card_id: 'card_1' }],
  ['challenges.list', { status: 'expired' }, { status: 'PENDING' }],
] as const)('%s', (operation, wrong, right) => {
  test(`${JSON.stringify(wrong)} is contradicted`, async () => {
    const { service } = speak(served.baseUrl);
    const failed = await thrown(service.send(operation, wrong as never));
    expect(failed.kind).toBe('contract_mismatch');
    expect(failed.message).toContain('filter');
    expect(await service.send(operation, right as never)).toMatchObject({ status: 200 });
  });
});

test.each([
  'cards list --status frozen --all -o id',
  'cards list --status frozen',
  'cards list --bin bin_2 --limit 5 -o csv',
  'tx list --card card_2 --all -o ndjson',
  'tx list --type refund --json',
  '3ds list --card card_2 -o tsv',
])('%s prints nothing and ends with 13', async line => {
  await using here = await world();
  expect(await here.run(line, { env: served.env })).toMatchObject({ code: 13, out: '' });
});
