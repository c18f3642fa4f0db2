/** What was asked of the service: bounded, comparable, and without any secret. */
import { expect, it } from 'vitest';
import { KEPT_REQUESTS } from '../../src/sandbox/store/requests.ts';
import { fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';
import { scene } from './faults/scene.ts';

const CANARY = {
  pan: '4000001234567899',
  spaced: '4000 0012 3456 7899',
  key: 'sk_live_CANARYcanaryCANARY',
  testKey: 'sk_test_CANARYcanaryCANARY',
  secret: 'whsec_CANARYcanaryCANARY',
  plain: 'CANARY-plain-secret',
  path: 'CANARY-in-an-address',
};

it('keeps no secret, wherever one was put', async () => {
  await using service = await fakeService();
  const bin = (await ask(service, { path: '/bins' })).json.data[0].id as string;
  const post = (path: string, body: unknown, idempotencyKey?: string) =>
    ask(service, { method: 'POST', path, body, ...(idempotencyKey !== undefined && { idempotencyKey }) });
  const metadata = { 'the key': CANARY.testKey, note: `card ${CANARY.spaced}` };
  const made = await post('/cards', { bin_id: bin, amount: 10, label: CANARY.pan, metadata }, CANARY.testKey);
  expect(made.status).toBe(201);
  await post('/cards', { bin_id: bin, amount: 10, label: CANARY.key });
  const details = await ask(service, { path: `/cards/${made.json.id}/details` });
  const hook = `http://127.0.0.1:9/${CANARY.path}?token=${CANARY.path}`;
  expect((await post('/webhooks', { url: hook, events: ['*'], secret: CANARY.plain })).status).toBe(201);
  await post('/webhooks', { url: hook, events: ['*'], secret: CANARY.secret, cvv: CANARY.plain });
  await ask(service, { path: `/cards/${CANARY.pan}` });
  await ask(service, { path: `/cards/${CANARY.key}` });
  await post(`/cards/${encodeURIComponent(`Bearer ${CANARY.plain}`)}/fund`, { amount: 5 });
  const { text, json } = await ask(service, { path: '/_sandbox/v1/requests' });
  expect(json.data.length).toBeGreaterThan(5);
  const hidden = [...Object.values(CANARY), details.json.pan, service.key.expose(), service.adminToken.expose()];
  const stored = await service.store.read(sql => sql.all('select * from requests'));
  for (const secret of hidden) {
    expect(text).not.toContain(secret);
    expect(JSON.stringify(stored)).not.toContain(secret);
  }
  expect(JSON.stringify(stored)).not.toMatch(/"cvv"|"secret"/);
});
it('keeps the newest and no more, also of requests that write nothing', async () => {
  await using service = await fakeService();
  const many = KEPT_REQUESTS + 350;
  for (let done = 0; done < many; done += 50) {
    await Promise.all(Array.from({ length: 50 }, () => ask(service, { path: '/wallet' })));
  }
  await ask(service, { path: '/bins' });
  const { json } = await ask(service, { path: '/_sandbox/v1/requests?per_page=1' });
  expect(json.meta.total).toBeGreaterThanOrEqual(KEPT_REQUESTS);
  expect(json.meta.total).toBeLessThanOrEqual(KEPT_REQUESTS + 100);
  expect(json.data[0].operation).toBe('bins.list');
});

it('finds and counts by operation, key, card, status and time', async () => {
  await using here = await scene();
  const fund = (idempotencyKey: string) =>
    ask(here.sandbox, { method: 'POST', path: `/cards/${here.card}/fund`, body: { amount: 5 }, idempotencyKey });
  await fund('a');
  await fund('a');
  await ask(here.sandbox, { path: '/cards/card_none' });
  const found = async (query: string) => (await here.admin('GET', `/requests?${query}`)).json.data;
  expect(await found('operation=cards.fund&idempotency_key=a')).toMatchObject([
    { replayed: true, status: 200, body: { amount: 5 } },
    { replayed: false, status: 200, card_id: here.card, body: { amount: 5 } },
  ]);
  expect(await found('status=404')).toMatchObject([{ operation: 'cards.get', error: 'not_found' }]);
  expect(await found('since=2026-11-20T14:00:01Z')).toEqual([]);
  const verify = async (match: object, times: number) =>
    (await here.admin('POST', '/requests/verify', { match, times })).json;
  expect(await verify({ operation: 'cards.fund' }, 2)).toMatchObject({ ok: true, count: 2 });
  expect(await verify({ card_id: here.card, status: 200 }, 1)).toMatchObject({ ok: false, count: 2, expected: 1 });
});
