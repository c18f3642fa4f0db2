/** The data set `load`: as many cards and records as asked for, by the rules, with a whole ledger, fixed by the seed. */
import { expect, test } from 'vitest';
import { ask, type Served } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';

const ADMIN = '/_sandbox/v1';
const load = (served: Served, body: object) =>
  ask(served, { method: 'POST', path: `${ADMIN}/reset`, body: { data: 'load', ...body } });
const check = async (served: Served) =>
  (await ask(served, { method: 'POST', path: `${ADMIN}/ledger/check`, body: {} })).json;

test.each([
  [3, 1],
  [500, 499],
])('%i cards and %i records add up, now and when everything has expired', async (cards, transactions) => {
  await using sandbox = await startSandbox({ rateLimits: false, deliveries: 'queued' });
  const { status, json } = await load(sandbox, { cards, transactions });
  expect([status, json.cards, json.transactions, json.ledger_faults]).toEqual([200, cards, transactions, []]);
  expect(await check(sandbox)).toMatchObject({ ok: true, faults: [] });
  const advanced = await ask(sandbox, { method: 'POST', path: `${ADMIN}/clock/advance`, body: { by: '40d' } });
  expect(advanced.status).toBe(200);
  expect(await check(sandbox)).toMatchObject({ ok: true, faults: [] });
});

test('every kind of record and card is among them, and the service goes on from there', async () => {
  await using sandbox = await startSandbox({ rateLimits: false, deliveries: 'queued' });
  await load(sandbox, { cards: 200, transactions: 2_500 });
  for (const type of ['authorization', 'settlement', 'refund', 'decline']) {
    const { json } = await ask(sandbox, { path: `/transactions?type=${type}&per_page=1` });
    expect(json.meta.total, type).toBeGreaterThan(20);
  }
  for (const status of ['active', 'frozen', 'terminated']) {
    const { json } = await ask(sandbox, { path: `/cards?status=${status}&per_page=1` });
    expect(json.meta.total, status).toBeGreaterThan(3);
    expect(json.data[0].status).toBe(status);
  }
  const { json: bins } = await ask(sandbox, { path: '/bins' });
  const body = { bin_id: bins.data[0].id, amount: 5 };
  expect((await ask(sandbox, { method: 'POST', path: '/cards', body })).status).toBe(201);
  expect(await check(sandbox)).toMatchObject({ ok: true, faults: [] });
});

test('the same seed gives the same set, another one another', async () => {
  const made = async (seed: number) => {
    await using sandbox = await startSandbox({ clock: { mode: 'frozen', at: '2026-11-20T12:00:00Z' } });
    await load(sandbox, { cards: 20, transactions: 100, seed });
    const { text } = await ask(sandbox, { path: '/transactions?per_page=100' });
    return text + (await ask(sandbox, { path: '/cards' })).text;
  };
  const first = await made(5);
  expect(await made(5)).toBe(first);
  expect(await made(6)).not.toBe(first);
});

test.each([
  ['cards', { data: 'load', cards: 0 }],
  ['transactions', { data: 'load', transactions: 10_000_001 }],
  ['cards and transactions', { data: 'demo', cards: 5 }],
])('refuses %s out of place', async (field, body) => {
  await using sandbox = await startSandbox();
  const { status, json } = await ask(sandbox, { method: 'POST', path: `${ADMIN}/reset`, body });
  expect([status, json.error]).toEqual([400, 'invalid_request']);
  expect(json.message).toMatch(new RegExp(`^${field}:`));
});

test('kept BINs keep their ids, kept faults go on counting', async () => {
  await using sandbox = await startSandbox({ data: 'demo' });
  const ids = async () => (await ask(sandbox, { path: '/bins' })).json.data.map(({ id }: { id: string }) => id);
  const before = await ids();
  const rule = { action: { kind: 'status', code: 503 }, match: { operation: 'cards.create' }, times: 3 };
  const { json: first } = await ask(sandbox, { method: 'POST', path: `${ADMIN}/faults`, body: rule });
  const body = { data: 'empty', seed: 99, keep: ['bins', 'faults', 'keys'] };
  expect((await ask(sandbox, { method: 'POST', path: `${ADMIN}/reset`, body })).status).toBe(200);
  expect(await ids()).toEqual(before);
  const { json: kept } = await ask(sandbox, { path: `${ADMIN}/faults` });
  expect(kept.data.map(({ id }: { id: string }) => id)).toEqual([first.id]);
  const { json: second } = await ask(sandbox, { method: 'POST', path: `${ADMIN}/faults`, body: rule });
  expect(second.id).not.toBe(first.id);
  await ask(sandbox, { method: 'POST', path: `${ADMIN}/reset`, body: { data: 'empty', seed: 99 } });
  expect(await ids()).not.toEqual(before);
  expect((await ask(sandbox, { path: `${ADMIN}/faults` })).json.data).toEqual([]);
});
