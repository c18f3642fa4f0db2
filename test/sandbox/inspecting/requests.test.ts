/** One request with its answer, and those that got no further than the door. */
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

  it.each([
    ['reset', 'after_commit', 'nothing: the connection was reset (after_commit reset)', 201],
    ['reset', 'before', 'nothing: the connection was reset (before reset)', 503],
    ['empty', 'after_commit', 'no body (after_commit empty)', 201],
    ['malformed', 'after_commit', 'broken JSON in its place (after_commit malformed)', 201],
  ] as const)('says what a %s %s left of it', async (kind, phase, wire, status) => {
    await using here = await scene();
    await here.fault({ match: { operation: 'cards.create' }, phase, action: { kind } } as never);
    const body = { bin_id: here.bin, amount: 7 };
    const sent = ask(here.sandbox, { method: 'POST', path: '/cards', body, idempotencyKey: 'k' });
    await sent.catch(() => undefined);
    const [{ request_id }] = (await here.admin('GET', '/requests?idempotency_key=k')).json.data;
    const { json } = await here.admin('GET', `/requests/${request_id}`);
    expect([json.on_the_wire, json.status]).toEqual([wire, status]);
    expect(json.answer === null).toBe(phase === 'before');
  });

  it('finds one that waits in memory, and leaves it there', async () => {
    await using here = await scene({ rateLimits: false });
    const { headers } = await ask(here.sandbox, { path: '/wallet' });
    const { json } = await here.admin('GET', `/requests/${headers['x-request-id']}`);
    expect(json).toMatchObject({ operation: 'wallet.get', status: 200, answer: null });
  });
});

describe('a request as it is kept', () => {
  const kept = async (here: Awaited<ReturnType<typeof scene>>, asked: Parameters<typeof ask>[1]) => {
    const { headers, status } = await ask(here.sandbox, asked);
    const { json } = await here.admin('GET', `/requests/${headers['x-request-id']}`);
    expect(json.request_id).toBe(headers['x-request-id']);
    return { ...json, answered: status };
  };

  it('has an idempotency key exactly', async () => {
    await using here = await scene();
    const body = { bin_id: here.bin, amount: 7 };
    for (const key of [
      'cw_a4222222222222f63aaaaaaaaaaaaaaa',
      'order-20261123190001',
      '7b1c2d3e-4222-4222-8222-222222222222',
      'k'.repeat(255),
    ]) {
      const json = await kept(here, { method: 'POST', path: '/cards', body, idempotencyKey: key });
      expect(json).toMatchObject({ answered: 201, idempotency_key: key, not_kept: [] });
      expect(json.headers['x-idempotency-key']).toBe(key);
    }
  });

  it('masks a key with a card number, tells two of them apart, and finds each by the key that was sent', async () => {
    await using here = await scene();
    const keys = ['order1-4222222222222', 'order1-4012888888881881'];
    const shown: string[] = [];
    for (const key of keys) {
      const body = { bin_id: here.bin, amount: 7 };
      const json = await kept(here, { method: 'POST', path: '/cards', body, idempotencyKey: key });
      expect(json.not_kept).toEqual([{ part: 'idempotency_key', why: 'secret' }]);
      expect(JSON.stringify(json)).not.toContain(key.slice(7));
      shown.push(json.idempotency_key);
    }
    expect(shown).toEqual(['order1-[redacted]~2222', 'order1-[redacted]~1881']);
    for (const key of [...keys, ...shown]) {
      const { json } = await here.admin('POST', '/requests/verify', { match: { idempotency_key: key }, times: 1 });
      expect(json).toMatchObject({ ok: true, count: 1 });
    }
  });

  it('has the query, without what may be secret in it', async () => {
    await using here = await scene();
    const plain = await kept(here, { path: '/cards?status=frozen&per_page=2' });
    expect(plain).toMatchObject({ path: '/v1/cards', query: 'status=frozen&per_page=2', not_kept: [] });
    const secret = await kept(here, { path: '/cards?token=CANARY&status=%34222222222222' });
    expect(JSON.stringify(secret)).not.toMatch(/CANARY|4?222222222222/);
    expect(secret.not_kept).toEqual([
      { part: 'query.token', why: 'unknown_field' },
      { part: 'query.status', why: 'secret' },
    ]);
    expect((await kept(here, { path: '/wallet' })).query).toBe(null);
  });

  it('says which field of a body is not kept as it was sent', async () => {
    await using here = await scene();
    const label = 'for 4222222222222';
    const body = { bin_id: here.bin, amount: 7, label, pan: '4222222222222', metadata: { long: 'x'.repeat(300) } };
    const json = await kept(here, { method: 'POST', path: '/cards', body, idempotencyKey: 'k' });
    expect(json.not_kept).toEqual([
      { part: 'body.label', why: 'secret' },
      { part: 'body.pan', why: 'unknown_field' },
      { part: 'body.metadata', why: 'too_long' },
    ]);
    const hook = { url: 'http://127.0.0.1:9/path', events: ['*'] };
    const made = await kept(here, { method: 'POST', path: '/webhooks', body: hook });
    expect(made.not_kept).toEqual([{ part: 'body.url', why: 'address' }]);
  });

  it('says that there was a body which was no JSON object, and how long it was', async () => {
    await using here = await scene();
    const json = await kept(here, { method: 'POST', path: '/cards', body: 'not at json', idempotencyKey: 'k' });
    expect(json).toMatchObject({ answered: 400, body: null, body_bytes: 11 });
    expect(json.not_kept).toEqual([{ part: 'body', why: 'not_json' }]);
    const none = await kept(here, { method: 'POST', path: `/cards/${here.card}/freeze`, idempotencyKey: 'f' });
    expect(none).toMatchObject({ body: null, body_bytes: 0, not_kept: [] });
  });

  it('has the body of a request that was refused for its key', async () => {
    await using here = await scene();
    const body = { bin_id: here.bin, amount: 7 };
    const json = await kept(here, { method: 'POST', path: '/cards', body, idempotencyKey: 'k'.repeat(256) });
    expect(json).toMatchObject({ answered: 400, body, not_kept: [{ part: 'idempotency_key', why: 'too_long' }] });
  });
});

describe('requests that were turned away', () => {
  it('are told with what was wrong, the nearest route and the form of the key', async () => {
    await using here = await scene();
    const key = `sk_test_${'CANARY'.repeat(7)}`;
    await ask(here.sandbox, { method: 'POST', path: '/card', body: {} });
    await ask(here.sandbox, { method: 'PUT', path: `/cards/${here.card}/freeze` });
    await ask(here.sandbox, { path: '/wallet', headers: { authorization: `Bearer ${key}` } });
    await ask(here.sandbox, { path: '/wallet', headers: { authorization: undefined } });
    await ask(here.sandbox, { path: '/wallet?secret=CANARY', headers: { origin: 'https://example.com' } });
    const { json, text } = await here.admin('GET', '/requests/turned');
    expect(
      json.data.map((row: Record<string, unknown>) => [row['status'], row['path'], row['nearest'], row['key']]),
    ).toEqual([
      [403, '/v1/wallet', null, 'sk_test_…, 51 characters'],
      [401, '/v1/wallet', null, 'none'],
      [401, '/v1/wallet', null, 'sk_test_…, 50 characters'],
      [405, `/v1/cards/${here.card}/freeze`, 'POST /v1/cards/{card_id}/freeze', 'sk_test_…, 51 characters'],
      [404, '/v1/card', 'POST /v1/cards', 'sk_test_…, 51 characters'],
    ]);
    expect(text).not.toContain('CANARY');
    expect(json.data[1]).toMatchObject({ error: 'unauthorized', why: expect.stringContaining('Bearer') });
  });

  it('are the newest 200, and none that was counted or asked of the control surface', async () => {
    await using here = await scene();
    await ask(here.sandbox, { path: '/cards/card_none' });
    await here.admin('GET', '/nothing');
    expect((await here.admin('GET', '/requests/turned')).json.data).toEqual([]);
    for (let nth = 0; nth < 205; nth += 1) await ask(here.sandbox, { path: `/none-${nth}` });
    const { json } = await here.admin('GET', '/requests/turned');
    expect([json.data.length, json.data[0].path, json.data[199].path]).toEqual([200, '/v1/none-204', '/v1/none-5']);
  });
});
