/** What was asked of the service: bounded, comparable, and without any secret. */
import { expect, it } from 'vitest';
import { fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';

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
