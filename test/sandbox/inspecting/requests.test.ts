/** One request with its answer. */
import { describe, expect, it } from 'vitest';
import { ask } from '../../support/sandbox-http.ts';
import { scene } from '../faults/scene.ts';

describe('a request with its answer', () => {
  it('tells what was sent, what was answered and by whom, without a secret', async () => {
    await using here = await scene();
    const body = { bin_id: here.bin, amount: 7, label: 'ads' };
    const made = await ask(here.sandbox, { method: 'POST', path: '/cards', body, idempotencyKey: 'inv-17' });
    const id = made.headers['x-request-id'];
    const { json } = await here.admin('GET', `/requests/${id}`);
    expect(json).toMatchObject({
      ...{ request_id: id, operation: 'cards.create', status: 201, idempotency_key: 'inv-17', body, fault: null },
      ...{ card_id: made.json.id, answer: made.text, on_the_wire: 'the answer as it is' },
      ...{ key_last4: here.sandbox.key.expose().slice(-4), took_ms: expect.any(Number) },
      headers: { 'content-type': 'application/json', 'x-idempotency-key': 'inv-17' },
    });
    expect(JSON.stringify(json)).not.toContain(here.sandbox.key.expose());
    expect((await here.admin('GET', '/requests/req_none')).status).toBe(404);
  });

  it('keeps no answer that reveals a card, a signing secret or where a webhook leads to', async () => {
    await using here = await scene();
    const details = await ask(here.sandbox, { path: `/cards/${here.card}/details` });
    const url = 'http://127.0.0.1:9/CANARY-path?token=CANARY-query';
    const hook = await ask(here.sandbox, { method: 'POST', path: '/webhooks', body: { url, events: ['*'] } });
    const wrong = { url: 'ftp://CANARY-user@example.com/CANARY', events: ['*'] };
    const refused = await ask(here.sandbox, { method: 'POST', path: '/webhooks', body: wrong });
    expect([details.status, hook.status, refused.status]).toEqual([200, 201, 400]);
    for (const { headers } of [details, hook, refused]) {
      const { text, json } = await here.admin('GET', `/requests/${headers['x-request-id']}`);
      expect(text).not.toMatch(/CANARY-(?:path|query)|whsec_|"pan"|"cvv"/);
      if (headers === details.headers) expect(json.answer).toBe(null);
      else expect(json.answer).toContain(headers === hook.headers ? hook.json.id : 'invalid_request');
    }
  });
});

describe('a request as it is kept', () => {
  const kept = async (here: Awaited<ReturnType<typeof scene>>, asked: Parameters<typeof ask>[1]) => {
    const { headers, status } = await ask(here.sandbox, asked);
    const { json } = await here.admin('GET', `/requests/${headers['x-request-id']}`);
    expect(json.request_id).toBe(headers['x-request-id']);
    return { ...json, answered: status };
  };

  it('masks a key with a card number, tells two of them apart, and finds each by the key that was sent', async () => {
    await using here = await scene();
    const keys = ['order1-4222222222222', 'order1-4012888888881881'];
    const shown: string[] = [];
    for (const key of keys) {
      const body = { bin_id: here.bin, amount: 7 };
      const json = await kept(here, { method: 'POST', path: '/cards', body, idempotencyKey: key });
      expect(json.not_kept).toEqual(['idempotency_key']);
      expect(JSON.stringify(json)).not.toContain(key.slice(7));
      shown.push(json.idempotency_key);
    }
    expect(shown).toEqual(['order1-[redacted]~2222', 'order1-[redacted]~1881']);
    for (const key of [...keys, ...shown]) {
      const { json } = await here.admin('GET', `/requests?idempotency_key=${encodeURIComponent(key)}`);
      expect(json.meta.total).toBe(1);
    }
  });

  it('has the query, without what may be secret in it', async () => {
    await using here = await scene();
    const plain = await kept(here, { path: '/cards?status=frozen&per_page=2' });
    expect(plain).toMatchObject({ path: '/v1/cards', query: 'status=frozen&per_page=2', not_kept: [] });
    const secret = await kept(here, { path: '/cards?token=CANARY&status=%34222222222222' });
    expect(JSON.stringify(secret)).not.toMatch(/CANARY|4?222222222222/);
    expect(secret.not_kept).toEqual(['query.token', 'query.status']);
    expect((await kept(here, { path: '/wallet' })).query).toBe(null);
  });

  it('says which field of a body is not kept as it was sent', async () => {
    await using here = await scene();
    const label = 'for 4222222222222';
    const body = { bin_id: here.bin, amount: 7, label, pan: '4222222222222', metadata: { long: 'x'.repeat(300) } };
    const json = await kept(here, { method: 'POST', path: '/cards', body, idempotencyKey: 'k' });
    expect(json.not_kept).toEqual(['body.label', 'body.pan', 'body.metadata']);
    const hook = { url: 'http://127.0.0.1:9/path', events: ['*'] };
    const made = await kept(here, { method: 'POST', path: '/webhooks', body: hook });
    expect(made.not_kept).toEqual(['body.url']);
  });
});
