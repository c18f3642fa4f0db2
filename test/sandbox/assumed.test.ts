/** Small assumptions that nothing else asks for, each by its number. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';

let service: FakeService;
let bin: { id: string; max_monthly: number };
beforeAll(async () => {
  service = await fakeService();
  bin = (await ask(service, { path: '/bins' })).json.data[0];
});
afterAll(() => service[Symbol.asyncDispose]());

const post = (path: string, body: unknown, idempotencyKey?: string) =>
  ask(service, { method: 'POST', path, body, ...(idempotencyKey !== undefined && { idempotencyKey }) });
const create = (more: object = {}, key?: string) => post('/cards', { bin_id: bin.id, amount: 5, ...more }, key);

it('A-22: newest first, and of one moment the greater id first', async () => {
  const ids = [];
  for (let nth = 0; nth < 4; nth += 1) ids.push((await create()).json.id);
  const { data } = (await ask(service, { path: '/cards' })).json;
  expect(data.map(({ id }: { id: string }) => id)).toEqual(ids.toSorted().toReversed());
});

it('A-23: a page past the end is empty, with the same totals', async () => {
  const { status, json } = await ask(service, { path: '/cards?page=99&per_page=2' });
  expect([status, json.data, json.meta.total, json.meta.page]).toEqual([200, [], 4, 99]);
  expect((await ask(service, { path: '/transactions?page=99' })).json.data).toEqual([]);
});

it('A-24, A-26: a page of 0, a word the filter has not, a range that ends before it begins', async () => {
  for (const path of [
    '/cards?page=0',
    '/cards?per_page=101',
    '/cards?status=gone',
    '/transactions?type=reversal',
    '/transactions?from=2026-11-02&to=2026-11-01',
  ]) {
    const { status, json } = await ask(service, { path });
    expect([path, status, json.error]).toEqual([path, 400, 'invalid_request']);
  }
});

it('A-25, A-27: transactions come 25 a page whatever is asked, and unknown names are ignored', async () => {
  const { status, json } = await ask(service, { path: '/transactions?per_page=3&colour=red' });
  expect([status, json.meta.per_page]).toEqual([200, 25]);
  expect((await ask(service, { path: '/cards?colour=red' })).status).toBe(200);
});

it('A-90, A-98: a key is honoured by a POST alone; 255 printable characters at most', async () => {
  const hook = await post('/webhooks', { url: 'https://example.com/h', events: ['*'] }, 'one key');
  const again = await post('/webhooks', { url: 'https://example.com/h', events: ['*'] }, 'one key');
  expect([again.text, again.headers['idempotent-replayed']]).toEqual([hook.text, 'true']);
  const path = `/webhooks/${hook.json.id}`;
  for (const events of [['card.created'], ['card.frozen']]) {
    const { json } = await ask(service, { method: 'PATCH', path, body: { events }, idempotencyKey: 'one key' });
    expect(json.events).toEqual(events);
  }
  expect((await create({}, 'k'.repeat(255))).status).toBe(201);
  expect((await create({}, 'k'.repeat(256))).status).toBe(400);
});

it('A-91: one key on two paths is two keys', async () => {
  const [one, other] = [await create(), await create()];
  for (const { json } of [one, other]) {
    const { status, headers } = await post(`/cards/${json.id}/fund`, { amount: 1 }, 'both');
    expect([status, headers['idempotent-replayed']]).toEqual([200, undefined]);
  }
});

it('A-162: a limit above that of the BIN, or of nothing, is refused; left out it is that of the BIN', async () => {
  expect((await create()).json.spending_limit).toBe(bin.max_monthly);
  for (const spending_limit of [0, -1, bin.max_monthly + 0.01]) {
    const { status, json } = await create({ spending_limit });
    expect([status, json.error]).toEqual([400, 'invalid_request']);
  }
  expect((await create({ spending_limit: 0.01 })).status).toBe(201);
});

it('A-164: the line of the auto-freeze is an amount from 0 on', async () => {
  expect((await create({ auto_freeze_at: 0 })).json.auto_freeze_at).toBe(0);
  expect((await create({ auto_freeze_at: -0.01 })).status).toBe(400);
  expect((await create({ auto_freeze_at: '2026-12-01' })).status).toBe(400);
});

it('A-166: a key of the metadata has 40 characters, its value is text of 500', async () => {
  const metadata = (key: number, value: number) => ({ metadata: { ['k'.repeat(key)]: 'v'.repeat(value) } });
  expect((await create(metadata(40, 500))).status).toBe(201);
  expect((await create(metadata(41, 1))).status).toBe(400);
  expect((await create(metadata(1, 501))).status).toBe(400);
  expect((await create({ metadata: { count: 7 } })).status).toBe(400);
  expect((await create({ label: '💳'.repeat(64) })).json.label).toBe('💳'.repeat(64));
  expect((await create({ label: '💳'.repeat(65) })).status).toBe(400);
});

it('A-168: there is /v1 and nothing beside it', async () => {
  for (const version of ['v0', 'v2', 'V1', 'v1.0']) {
    const { status } = await fetch(new URL(`/${version}/wallet`, service.url), {
      headers: { authorization: 'Bearer sk_test_right' },
    });
    expect([version, status]).toEqual([version, 404]);
  }
});

it('A-169: what is not set is empty, and the line of the auto-freeze null', async () => {
  expect((await create()).json).toMatchObject({
    ...{ label: '', allowed_categories: [], metadata: {}, auto_freeze_at: null },
  });
});
