/** One key, one effect, one answer. */
import { expect, it } from 'vitest';
import { Refused } from '../../src/sandbox/calls/handler.ts';
import { HANDLERS } from '../../src/sandbox/handlers/service.ts';
import type { Store } from '../../src/sandbox/store/queue.ts';
import { StoreBusy } from '../../src/sandbox/store/sql.ts';
import { fakeService, NOON } from '../support/fake-service.ts';
import { ask, type Served } from '../support/sandbox-http.ts';

const HOUR = 3_600_000;

async function binOf(service: Served): Promise<string> {
  return (await ask(service, { path: '/bins' })).json.data[0].id;
}

async function create(service: Served, { key = 'key-1', amount = 10, bin = '', label = 'a' } = {}) {
  const body = { bin_id: bin || (await binOf(service)), amount, label };
  return ask(service, { method: 'POST', path: '/cards', body, idempotencyKey: key });
}

async function walletOf(service: Served): Promise<number> {
  return (await ask(service, { path: '/wallet' })).json.balance;
}
it('takes the same body in another order for the same body', async () => {
  await using service = await fakeService();
  const bin = await binOf(service);
  const post = (body: string) => ask(service, { method: 'POST', path: '/cards', body, idempotencyKey: 'k' });
  const first = await post(`{"bin_id":"${bin}","amount":10.50,"metadata":{"a":"1","b":"2"}}`);
  const again = await post(`{ "metadata":{"b":"2","a":"1"}, "amount":10.5, "bin_id":"${bin}" }`);
  expect(again.text).toBe(first.text);
});

it('has one effect for 50 requests at once', async () => {
  await using service = await fakeService();
  const bin = await binOf(service);
  const answers = await Promise.all(Array.from({ length: 50 }, () => create(service, { bin })));
  const created = answers.filter(answer => answer.status === 201);
  expect(new Set(created.map(answer => answer.text)).size).toBe(1);
  expect(created.filter(answer => answer.headers['idempotent-replayed'] === undefined)).toHaveLength(1);
  for (const answer of answers.filter(answer => answer.status !== 201)) {
    expect(answer.json.error).toBe('idempotency_in_progress');
    expect(answer.headers['retry-after']).toBe('1');
  }
  expect(await walletOf(service)).toBe(990);
});
it('keeps nothing of a request that was not valid, not let in or over a limit', async () => {
  await using service = await fakeService({ rateLimits: 'all' });
  const bin = await binOf(service);
  expect((await create(service, { bin, amount: 0 })).status).toBe(400);
  const body = { bin_id: bin, amount: 10, label: 'a' };
  const headers = { authorization: 'Bearer sk_test_wrong' };
  expect((await ask(service, { method: 'POST', path: '/cards', body, headers, idempotencyKey: 'key-1' })).status).toBe(
    401,
  );
  while ((await ask(service, { path: '/wallet' })).status !== 429);
  expect((await create(service, { bin })).status).toBe(429);
  service.clock.set(NOON + HOUR);
  const created = await create(service, { bin });
  expect([created.status, created.headers['idempotent-replayed']]).toEqual([201, undefined]);
});

it('undoes what a handler did before it refused', async () => {
  await using service = await fakeService({
    handlers: {
      'cards.create': call => {
        HANDLERS['cards.create'](call);
        throw new Refused('not_found', 'after all');
      },
    },
  });
  expect((await create(service)).status).toBe(404);
  expect(await walletOf(service)).toBe(1000);
  expect((await create(service)).headers['idempotent-replayed']).toBe('true');
  const events = await service.store.read(sql => sql.all('select seq from events'));
  expect(events).toEqual([]);
});

it('gives the key back after a fault, and tells nothing of the fault', async () => {
  let broken = true;
  await using service = await fakeService({
    handlers: {
      'cards.create': call => {
        const card = HANDLERS['cards.create'](call);
        if (broken) throw new Error('secret inside');
        return card;
      },
    },
  });
  const failed = await create(service);
  expect(failed.json).toMatchObject({ error: 'internal_error', code: 500 });
  expect(failed.text).not.toContain('secret inside');
  expect(service.faults).toHaveLength(1);
  expect(await walletOf(service)).toBe(1000);
  broken = false;
  const created = await create(service);
  expect([created.status, created.headers['idempotent-replayed']]).toEqual([201, undefined]);
});

it('answers 503 before any effect when the store is busy', async () => {
  let writes = 0;
  const around = (store: Store): Store => ({
    path: store.path,
    copyTo: path => store.copyTo(path),
    read: work => store.read(work),
    writeLarge: (work, beside) => store.writeLarge(work, beside),
    // The first one numbers the reading of BINs; the card's record and effect are one write.
    write: work => (++writes === 2 ? Promise.reject(new StoreBusy('busy')) : store.write(work)),
    close: () => store.close(),
  });
  await using service = await fakeService({ around });
  const bin = await binOf(service);
  const busy = await create(service, { bin });
  expect([busy.status, busy.json.error, busy.headers['retry-after']]).toEqual([503, 'service_unavailable', '1']);
  expect((await create(service, { bin })).status).toBe(201);
  expect(await walletOf(service)).toBe(990);
});
