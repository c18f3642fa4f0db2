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
  await using sandbox = await startSandbox({ rateLimits: false, deliveries: 'on-deliver' });
  const { status, json } = await load(sandbox, { cards, transactions });
  expect([status, json.cards, json.transactions, json.ledger_faults]).toEqual([200, cards, transactions, []]);
  expect(await check(sandbox)).toMatchObject({ ok: true, faults: [] });
  const advanced = await ask(sandbox, { method: 'POST', path: `${ADMIN}/clock/advance`, body: { by: '40d' } });
  expect(advanced.status).toBe(200);
  expect(await check(sandbox)).toMatchObject({ ok: true, faults: [] });
});

test('a reset with another seed leaves no fault rule, and gives other ids', async () => {
  await using sandbox = await startSandbox({ data: 'demo' });
  const ids = async () => (await ask(sandbox, { path: '/bins' })).json.data.map(({ id }: { id: string }) => id);
  const before = await ids();
  const rule = { action: { kind: 'status', code: 503 }, match: { operation: 'cards.create' }, times: 3 };
  await ask(sandbox, { method: 'POST', path: `${ADMIN}/faults`, body: rule });
  await ask(sandbox, { method: 'POST', path: `${ADMIN}/reset`, body: { data: 'empty', seed: 99 } });
  expect(await ids()).not.toEqual(before);
  expect((await ask(sandbox, { path: `${ADMIN}/faults` })).json.data).toEqual([]);
});
