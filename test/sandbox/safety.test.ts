/** What the server refuses before the service is asked (docs/design/sandbox.md, section 10; order of A-115). */
import { expect, it } from 'vitest';
import { fakeService } from '../support/fake-service.ts';
import { ask, askRaw } from '../support/sandbox-http.ts';

const get = (lines: readonly string[], target = '/v1/wallet', version = '1.1') =>
  `${[`GET ${target} HTTP/${version}`, ...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`;
const KEY = 'Authorization: Bearer sk_test_right';
const statusOf = (answer: string) => Number(answer.split(' ')[1]);

it('answers the hosts it is, and no other', async () => {
  await using service = await fakeService();
  const { port } = new URL(service.url);
  const status = async (...lines: string[]) => statusOf(await askRaw(service, get([...lines, KEY])));
  expect(await status(`Host: 127.0.0.1:${port}`)).toBe(200);
  expect(await status(`Host: LOCALHOST:${port}`)).toBe(200);
  expect(await status(`Host: [::1]:${port}`)).toBe(200);
  expect(await status('Host: localhost')).toBe(421);
  expect(await status('Host: 127.0.0.1:1')).toBe(421);
  expect(await status(`Host: rebound.example:${port}`)).toBe(421);
  expect(await status(`Host: localhost:${port}`, `Host: localhost:${port}`)).toBe(400);
  expect(await status()).toBe(400);
});

it('refuses HTTP/1.0, other forms of the target, and headers given twice', async () => {
  await using service = await fakeService();
  const { host } = new URL(service.url);
  const lines = [`Host: ${host}`, KEY];
  expect(statusOf(await askRaw(service, get(lines, '/v1/wallet', '1.0')))).toBe(400);
  expect(statusOf(await askRaw(service, get(lines, `http://${host}/v1/wallet`)))).toBe(400);
  expect(statusOf(await askRaw(service, get([...lines, KEY])))).toBe(400);
  expect(statusOf(await askRaw(service, 'nonsense\r\n\r\n'))).toBe(400);
});

it('refuses web pages and sends no header that would let them in', async () => {
  await using service = await fakeService();
  const wallet = (headers: Record<string, string>) => ask(service, { path: '/wallet', headers });
  expect((await wallet({ origin: 'http://localhost' })).status).toBe(403);
  expect((await wallet({ 'sec-fetch-site': 'same-origin' })).status).toBe(403);
  expect((await wallet({ 'sec-fetch-site': 'none' })).status).toBe(200);
  const options = await ask(service, { method: 'OPTIONS', path: '/wallet' });
  expect(options.status).toBe(405);
  expect(options.headers['allow']).toBe('GET');
  expect(Object.keys(options.headers).filter(name => name.startsWith('access-control'))).toEqual([]);
});

it.each([
  ['no key', {}, 401],
  ['another scheme', { authorization: 'Basic c2tfdGVzdF9yaWdodA==' }, 401],
  ['a wrong key', { authorization: 'Bearer sk_test_wrong' }, 401],
  ['a key that begins right', { authorization: 'Bearer sk_test_right2' }, 401],
  ['the admin token', { authorization: 'Bearer sandbox_right' }, 401],
  ['a live key', { authorization: 'Bearer sk_live_right' }, 403],
])('lets %s in nowhere', async (_name, headers: Record<string, string>, status) => {
  await using service = await fakeService();
  const { host } = new URL(service.url);
  const lines = [`Host: ${host}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  expect(statusOf(await askRaw(service, get(lines)))).toBe(status);
});

it('says why, keeps nothing of a live key, and wants the admin token for the control surface', async () => {
  await using service = await fakeService();
  const live = await ask(service, { path: '/wallet', headers: { authorization: 'Bearer sk_live_verysecret' } });
  expect(live.json.error).toBe('environment_mismatch');
  expect(live.text + JSON.stringify(live.headers)).not.toContain('verysecret');
  const missing = await ask(service, { path: '/wallet', headers: { authorization: '' } });
  expect(missing.headers['www-authenticate']).toBe('Bearer');
  const path = '/_sandbox/v1/status';
  const withKey = await ask(service, { path, headers: { authorization: 'Bearer sk_test_right' } });
  expect(withKey.status).toBe(401);
  const status = await ask(service, { path });
  expect(status.json).toMatchObject({ version: '1.2.3', store: 'memory', ledger_ok: true });
});

it('finds route and method before it asks for a key', async () => {
  await using service = await fakeService();
  const headers = { authorization: '' };
  const nothing = await ask(service, { path: '/nothing', headers });
  expect([nothing.status, nothing.json.error]).toEqual([404, 'route_not_found']);
  const method = await ask(service, { path: '/cards', method: 'PUT', headers });
  expect([method.status, method.headers['allow']]).toEqual([405, 'POST, GET']);
});

it('takes JSON of up to 64 KiB and nothing else', async () => {
  await using service = await fakeService();
  const post = (body: string, headers = {}) => ask(service, { method: 'POST', path: '/cards', body, headers });
  expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await post('{}', { 'content-type': 'application/json; charset=latin1' })).status).toBe(415);
  expect((await post('{}', { 'content-encoding': 'gzip' })).status).toBe(415);
  expect((await post(`{"label":"${'x'.repeat(70_000)}"}`)).status).toBe(413);
  const chunked = { 'transfer-encoding': 'chunked', 'content-length': undefined };
  expect((await post(`{"label":"${'x'.repeat(200_000)}"}`, chunked)).status).toBe(413);
  for (const body of ['{', '[]', '"text"', 'null', '['.repeat(30_000)]) {
    expect((await post(body)).json).toMatchObject({ error: 'invalid_request', code: 400 });
  }
  const deep = `{"metadata":${'['.repeat(32_000)}${']'.repeat(32_000)}}`;
  const tooDeep = await ask(service, { method: 'POST', path: '/cards', body: deep, idempotencyKey: 'deep' });
  expect(tooDeep.json).toMatchObject({ error: 'invalid_request', code: 400 });
  expect(service.faults).toEqual([]);
});

it('names the field that is wrong, in a body of exactly four fields', async () => {
  await using service = await fakeService();
  const post = (body: unknown) => ask(service, { method: 'POST', path: '/cards', body });
  for (const [body, field] of [
    [{ amount: 5 }, 'bin_id'],
    [{ bin_id: 'b', amount: 0.99 }, 'amount'],
    [{ bin_id: 'b', amount: 5.001 }, 'amount'],
    [{ bin_id: 'b', amount: '5' }, 'amount'],
    [{ bin_id: 'b', amount: 5, label: 'a\0' }, 'label'],
    [{ bin_id: 'b', amount: 5, color: 'red' }, 'color'],
  ] as const) {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.json.message).toContain(field);
    expect(Object.keys(answer.json)).toEqual(['error', 'message', 'code', 'request_id']);
    expect(answer.json.request_id).toBe(answer.headers['x-request-id']);
  }
  const proto = await ask(service, { method: 'POST', path: '/cards', body: '{"__proto__":{"bin_id":"b"}}' });
  expect(proto.json.error).toBe('invalid_request');
});

it('marks every answer and gives each request its own id', async () => {
  await using service = await fakeService();
  const ids = new Set<string>();
  for (const path of ['/wallet', '/wallet', '/nothing', '/nothing', '/cards?color=red&page=1']) {
    const answer = await ask(service, { path });
    expect(answer.headers).toMatchObject({ 'x-sandbox': 'true', 'cache-control': 'no-store' });
    expect(answer.headers['x-request-id']).toMatch(/^req_[a-z2-7]{24}$/);
    ids.add(String(answer.headers['x-request-id']));
  }
  expect(ids.size).toBe(5);
});

it('refuses a page that is no number', async () => {
  await using service = await fakeService();
  for (const query of ['page=0', 'page=x', 'per_page=101', 'status=', 'page=1.5']) {
    expect((await ask(service, { path: `/cards?${query}` })).status).toBe(400);
  }
});
