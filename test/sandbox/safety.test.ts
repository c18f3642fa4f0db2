/** What the server refuses before the service is asked (docs/design/sandbox.md, section 10; order of A-115). */
import { expect, it } from 'vitest';
import { fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';

it('finds route and method before it asks for a key', async () => {
  await using service = await fakeService();
  const headers = { authorization: '' };
  const nothing = await ask(service, { path: '/nothing', headers });
  expect([nothing.status, nothing.json.error]).toEqual([404, 'route_not_found']);
  const method = await ask(service, { path: '/cards', method: 'PUT', headers });
  expect([method.status, method.headers['allow']]).toEqual([405, 'POST, GET']);
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
