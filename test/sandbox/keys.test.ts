/** Keys beside the server's own: full ones, such as only read, and revoked ones. */
import { describe, expect, test } from 'vitest';
import { fakeService } from '../support/fake-service.ts';
import { ask, type Served } from '../support/sandbox-http.ts';

const ADMIN = '/_sandbox/v1';
const make = async (served: Served, access?: string) =>
  (await ask(served, { method: 'POST', path: `${ADMIN}/keys`, body: { ...(access && { access }) } })).json;
const as = (key: string) => ({ authorization: `Bearer ${key}` });

describe('a key that was made', () => {
  test.each([
    ['full', 200, 201, 404],
    ['read_only', 200, 403, 403],
    ['revoked', 401, 401, 401],
  ])('%s: reading %i, creating %i, revealing %i', async (access, reads, creates, reveals) => {
    await using service = await fakeService();
    const { key, last4, id } = await make(service, access);
    expect(key).toMatch(/^sk_test_[\w-]{43}$/);
    const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
    const body = { bin_id, amount: 5 };
    const got = await ask(service, { path: '/wallet', headers: as(key) });
    expect(got.status).toBe(reads);
    const created = await ask(service, { method: 'POST', path: '/cards', body, headers: as(key) });
    expect(created.status).toBe(creates);
    if (creates === 403) expect(created.json.error).toBe('forbidden');
    expect((await ask(service, { path: '/cards/card_1/details', headers: as(key) })).status).toBe(reveals);
    const { json, text } = await ask(service, { path: `${ADMIN}/keys` });
    expect(json.data).toMatchObject([{ id, last4, access }]);
    expect(text).not.toContain(key);
    expect(service.faults).toEqual([]);
  });

  test('is no token of the control surface, and a live key is refused as such', async () => {
    await using service = await fakeService();
    const { key } = await make(service);
    expect((await ask(service, { path: `${ADMIN}/keys`, headers: as(key) })).status).toBe(401);
    const live = await ask(service, { path: '/wallet', headers: as(`sk_live_${'a'.repeat(32)}`) });
    expect([live.status, live.json.error]).toEqual([403, 'environment_mismatch']);
    expect((await ask(service, { path: '/wallet', headers: as('sk_test_unknown') })).status).toBe(401);
    expect((await ask(service, { path: '/wallet', headers: { authorization: undefined } })).status).toBe(401);
  });

  test('is not kept itself, and goes with a reset unless it is to stay', async () => {
    await using service = await fakeService();
    const { key } = await make(service);
    const rows = await service.store.read(sql => sql.all('select * from api_keys'));
    expect(JSON.stringify(rows)).not.toContain(key);
    const reset = (keep: readonly string[]) =>
      ask(service, { method: 'POST', path: `${ADMIN}/reset`, body: { data: 'empty', keep } });
    const status = async () => (await ask(service, { path: '/wallet', headers: as(key) })).status;
    await reset(['keys']);
    expect(await status()).toBe(200);
    await reset(['bins']);
    expect(await status()).toBe(401);
    expect((await ask(service, { path: '/wallet' })).status).toBe(200);
  });
});
