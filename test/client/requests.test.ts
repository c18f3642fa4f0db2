import { afterEach, describe, expect, test } from 'vitest';
import type { OperationName } from '../../src/contract/calls.ts';
import type { Operation } from '../../src/contract/operation.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { type Overrides, readOverrides } from '../../src/contract/overrides.ts';
import { cents } from '../../src/core/money.ts';
import { Secret } from '../../src/core/secret.ts';
import { CARD, json, KEY, random, type Served, serve, speak, thrown } from './served.ts';

let served: Served;
afterEach(() => served?.close());

const create = { bin_id: 'bin_1', amount: cents(2550), label: 'ads' };
/** Made while the test runs. */
const NEW_CARD = { ...CARD, created_at: new Date().toISOString() };
const plans = (overrides?: Overrides) => speak('http://127.0.0.1:9/v1', { overrides }).service;
const overridden = (file: object) => readOverrides(JSON.stringify(file), 'o.json');

describe('a request', () => {
  test('cents become JSON numbers, headers are exact', async () => {
    served = await serve((_, r) => json(r, 201, NEW_CARD, { 'x-request-id': 'req_1' }));
    const answered = await speak(served.baseUrl).service.send('cards.create', create);
    const [seen] = served.seen;
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/v1/cards',
      body: '{"bin_id":"bin_1","amount":25.5,"label":"ads"}',
    });
    expect(seen?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'user-agent': 'cardwright/0 test',
    });
    expect(seen?.headers['x-idempotency-key']).toMatch(/^cw_[0-9a-f]{32}$/);
    expect(answered).toMatchObject({ status: 201, requestId: 'req_1', changed: true, reread: false, result: NEW_CARD });
    expect(answered.idempotencyKey).toBe(seen?.headers['x-idempotency-key']);
  });

  test('a key whose digits look like a card number is drawn again', async () => {
    served = await serve((_, r) => json(r, 201, NEW_CARD));
    const draws = [Buffer.from('a4222222222222f63aaaaaaaaaaaaaaa', 'hex'), Buffer.alloc(16, 0xab)];
    const drawn = { ...random, bytes: (length: number) => draws.shift() ?? random.bytes(length) };
    await speak(served.baseUrl, { random: drawn }).service.send('cards.create', create);
    expect(served.seen[0]?.headers['x-idempotency-key']).toBe(`cw_${'ab'.repeat(16)}`);
  });

  test('the key is asked for once a request', async () => {
    served = await serve((_, r) => json(r, 500, {}));
    let asked = 0;
    const key = async () => {
      asked += 1;
      return new Secret(KEY);
    };
    await thrown(
      speak(served.baseUrl, { connection: { baseUrl: served.baseUrl, key } }).service.send('wallet.get', {}),
    );
    expect([asked, served.seen.length]).toEqual([1, 3]);
  });
});

/** What an operation must be given besides ids: a new one with a required body has a row here. */
const fitting: Readonly<Partial<Record<OperationName, object>>> = {
  'cards.create': { amount: cents(100) },
  'cards.fund': { amount: cents(100) },
  'cards.withdraw': { amount: cents(100) },
  'webhooks.create': { url: 'https://example.com', events: ['*'] },
};

describe('overrides', () => {
  test('method, path and fixed members', () => {
    const overrides = overridden({
      operations: {
        'cards.terminate': { method: 'DELETE', path: '/cards/{card_id}' },
        'cards.freeze': { method: 'PATCH', path: '/cards/{card_id}', body: { status: 'frozen' } },
        'transactions.list': { path: '/cards/{card_id}/transactions' },
      },
    });
    const service = plans(overrides);
    const card = { card_id: 'c 1' };
    expect(service.plan('cards.terminate', card)).toMatchObject({
      method: 'DELETE',
      path: '/cards/c%201',
      idempotencyKey: expect.stringMatching(/^cw_/),
    });
    expect(service.plan('cards.freeze', card)).toMatchObject({ method: 'PATCH', body: '{"status":"frozen"}' });
    const list = service.plan('transactions.list', { ...card, type: 'refund' });
    expect(list.path).toBe('/cards/c%201/transactions?type=refund');
    expect(() => service.plan('transactions.list', {})).toThrow(/card_id is missing/);
  });

  test('every write that carries a key carries it by any method, no read does, and the header leaves', async () => {
    const rows = Object.entries(OPERATIONS) as [OperationName, Operation][];
    for (const [name, row] of rows) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        const service = plans({ operations: { [name]: { method } }, fields: {}, headers: {} });
        const params = { ...row.params, ...(name === 'cards.create' && { bin_id: 0 }) };
        const input = Object.fromEntries(Object.keys(params).map(each => [each, 'id_1']));
        const isRead = row.effect === 'read' || row.effect === 'reveals-secret';
        const carries = !isRead && (row.method === 'POST' || method === 'POST');
        const { idempotencyKey } = service.plan(name, { ...input, ...fitting[name] } as never, { key: 'k' });
        expect([name, method, idempotencyKey]).toEqual([name, method, carries ? 'k' : undefined]);
      }
    }
    const overrides = overridden({ operations: { 'cards.terminate': { method: 'DELETE', path: '/cards/{card_id}' } } });
    served = await serve((_, r) => json(r, 200, { ...CARD, status: 'terminated', balance: 0 }));
    const { service } = speak(served.baseUrl, { overrides });
    const input = { card_id: 'card_1' };
    const planned = service.plan('cards.terminate', input, { key: 'op_1.1.1' });
    await service.attempt(planned, input);
    expect(served.seen.map(({ method, headers }) => [method, headers['x-idempotency-key']])).toContainEqual([
      'DELETE',
      'op_1.1.1',
    ]);
    await service.close();
  });
});
