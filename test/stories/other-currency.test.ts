/** A service whose records are in other currencies: their amounts are not added to dollars. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { json, serve } from '../client/served.ts';
import { world } from '../support/world.ts';

const CREATED = '2026-11-02T10:00:00Z';
const records = ['USD', 'EUR', 'JPY'].map((currency, n) => ({
  ...{ id: `txn_${n}`, card_id: 'card_1', type: 'settlement', status: 'completed', amount: 10 ** n },
  ...{ currency, merchant: 'SHOP', authorization_id: null, created_at: CREATED },
}));
const card = { id: 'card_1', last4: '4242', status: 'suspended', balance: 9, created_at: CREATED };
const answers: Record<string, (currency: string) => object> = {
  '/v1/transactions': () => ({ data: records, meta: { page: 1, per_page: 25, total: 3, total_pages: 1 } }),
  '/v1/cards': () => ({ data: [card], meta: { page: 1, per_page: 25, total: 1, total_pages: 1 } }),
  '/v1/cards/card_1': () => card,
  '/v1/wallet': currency => ({ balance: 90, currency, total_deposited: 100, total_spent: 1, cards_total_balance: 9 }),
  '/v1/3ds/challenges': () => ({ data: [] }),
};

test('sums, charts, pages and statements hold dollars alone', async () => {
  let ofWallet = 'USD';
  await using service = await serve((seen, response) => {
    const url = new URL(seen.url, 'http://x');
    const state = url.searchParams.get('status');
    const isOther = url.pathname === '/v1/cards' && state !== null && state !== card.status;
    const none = { data: [], meta: { page: 1, per_page: 25, total: 0, total_pages: 0 } };
    const body = isOther ? none : answers[url.pathname]?.(ofWallet);
    json(response, body === undefined ? 404 : 200, body ?? {});
  });
  await using w = await world({ env: service.env });
  const said = '2 records are in another currency than USD and left out of the sums';
  const sums = await w.run('tx summary --json');
  expect(JSON.parse(sums.out)).toMatchObject({ page: { transactions: 1, spent: 1 } });
  expect(sums.err).toContain(said);
  expect((await w.run('tx list -o tsv')).out).toMatch(/EUR[\s\S]*JPY|JPY[\s\S]*EUR/);
  expect((await w.run('books sync')).code).toBe(0);
  expect((await w.run('tx summary --offline')).err).toContain(said);
  expect((await w.run('tx summary --by month --since 2026-11-01 --json')).err).toContain(said);
  const shown = await w.run('overview --offline --json');
  expect(shown).toMatchObject({ code: 0, err: expect.stringContaining(said) });
  const page = JSON.parse(shown.out);
  expect(page).toMatchObject({ spent: { total: 1 }, cards: { active: 0, other: 1 } });
  expect((await w.run('overview --offline -o table')).out).toContain('1 other');
  // Not a dollar of 10 EUR and 100 JPY is spent by the rules of a policy either, and the card was used all the same.
  const rules = 'version: 1\nrules:\n  - { name: spent, when: { spent_30d: ">= 2.00" }, then: freeze }\n';
  await writeFile(join(w.folder, 'policy.yaml'), rules);
  const judged = await w.run('policy check policy.yaml --offline --json');
  expect(judged).toMatchObject({ code: 0, err: expect.stringContaining(said) });
  expect(await w.run('books statement --period 2026-11 --unreconciled --offline')).toMatchObject({
    code: 13,
    out: '',
    err: expect.stringContaining('records of 2026-11 are in EUR, JPY'),
  });
  const proved = await w.run('books reconcile --json --all');
  expect(proved).toMatchObject({ code: 0, err: expect.stringContaining(said) });
  expect(JSON.parse(proved.out)).toMatchObject({
    verdict: 'baseline',
    left_out: { records: 2, currencies: ['EUR', 'JPY'] },
    cards: [{ settled: 1, other: 10, closing: 9 }],
  });
  const month = await w.run('books statement --period 2026-11 --unreconciled --offline --json');
  expect(month).toMatchObject({ code: 0, err: expect.stringContaining(said) });
  const { data } = JSON.parse(month.out) as { data: { kind: string; lines: { type: string; amount: number }[] }[] };
  const settled = data.flatMap(each => each.lines.filter(({ type }) => type === 'settlement'));
  expect(settled.map(({ amount }) => amount)).toEqual([-1]);
  ofWallet = 'EUR';
  expect(await w.run('wallet')).toMatchObject({
    code: 13,
    out: '',
    err: expect.stringContaining('currency is not USD'),
  });
});
