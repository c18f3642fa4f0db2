/**
 * What each dialect changes on the wire, and that it changes nothing else
 * (docs/design/contract-and-assumptions.md, section 14).
 */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox/faults.ts';
import { DIALECTS } from '../../src/sandbox/dialects/table.ts';
import { receiver } from '../support/receiver.ts';
import { ask, type Got } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { SECRET, scene } from './delivery/scene.ts';

type Stage = Awaited<ReturnType<typeof scene>>;

const speaking = (dialect: string, more: object = {}) => scene({ dialect, ...more });

async function authorized(stage: Stage, amount = 30): Promise<string> {
  const { json } = await stage.admin('POST', '/simulate/authorizations', { card_id: stage.card, amount });
  return json.authorization_id as string;
}

const settle = (stage: Stage, id: string, amount: number) =>
  stage.admin('POST', `/simulate/authorizations/${id}/settle`, { amount });

it('names every dialect once, and refuses others', async () => {
  expect(Object.keys(DIALECTS)).toEqual([...DIALECT_NAMES]);
  await expect(startSandbox({ dialect: 'klingon' })).rejects.toMatchObject({ kind: 'usage' });
});

it('is shown and changed by the control surface', async () => {
  await using stage = await speaking('minimal');
  expect((await stage.admin('GET', '/dialect')).json).toMatchObject({ dialect: 'minimal', honours_keys: true });
  expect(stage.sandbox.honoursKeys).toBe(true);
  const set = await stage.admin('PUT', '/dialect', { dialect: 'keys-ignored' });
  expect(set.json).toMatchObject({ dialect: 'keys-ignored', honours_keys: false });
  expect(stage.sandbox.honoursKeys).toBe(false);
  expect((await stage.admin('PUT', '/dialect', { dialect: 'klingon' })).status).toBe(400);
});

describe('minimal', () => {
  it('sends no optional header, no paging, no secret, and 204 on actions', async () => {
    await using stage = await speaking('minimal', { rateLimits: true });
    const list = await stage.get('/cards');
    expect(Object.keys(list.json)).toEqual(['data']);
    const told = Object.keys(list.headers).filter(name => name.startsWith('x-') || name === 'cache-control');
    expect(told).toEqual(['x-sandbox']);
    const hook = await stage.post('/webhooks', { url: 'http://127.0.0.1:9/', events: ['*'] });
    expect([hook.status, hook.json.secret]).toEqual([201, undefined]);
    const frozen = await stage.post(`/cards/${stage.card}/freeze`);
    expect([frozen.status, frozen.text]).toEqual([204, '']);
    expect((await stage.get(`/cards/${stage.card}`)).json.status).toBe('frozen');
    const unauthorized = await ask(stage.sandbox, { path: '/cards', headers: { authorization: 'Bearer sk_test_no' } });
    expect([unauthorized.status, unauthorized.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  });
});

it.each<readonly [string, (list: Got['json']) => void]>([
  ['envelope-items', list => expect(list).toEqual({ items: [expect.any(Object)], total_count: 1, page: 1, pages: 1 })],
  ['envelope-more', list => expect(list).toEqual({ data: [expect.any(Object)], has_more: false })],
])('%s wraps lists, but for those that are stated', async (dialect, check) => {
  await using stage = await speaking(dialect);
  check((await stage.get('/cards')).json);
  for (const stated of ['/bins', '/3ds/challenges']) {
    expect(Object.keys((await stage.get(stated)).json)).toEqual(['data']);
  }
});

it('envelope-wrapped wraps single objects, not errors', async () => {
  await using stage = await speaking('envelope-wrapped');
  const card = (await stage.admin('GET', '/status')) && (await stage.get('/wallet'));
  expect(Object.keys(card.json)).toEqual(['data']);
  expect((await stage.get('/cards/none')).json.error).toBe('not_found');
  expect((await stage.get('/cards')).json.data).toHaveLength(1);
});

it('names-stripe renames details, balances and events', async () => {
  await using inbox = await receiver();
  await using stage = await speaking('names-stripe', { ids: 'derived' });
  const [id] = (await stage.get('/cards')).json.data.map((card: { id: string }) => card.id);
  const details = (await stage.get(`/cards/${id}/details`)).json;
  expect(Object.keys(details)).toEqual(['id', 'number', 'cvc', 'exp_month', 'exp_year']);
  const funded = (await stage.post(`/cards/${id}/fund`, { amount: 5 })).json;
  expect(funded).toEqual({ card: { id, balance: 105 }, wallet: { balance: 4895, currency: 'USD' } });
  await stage.subscribe(inbox.url);
  await stage.post(`/cards/${id}/fund`, { amount: 5 });
  await stage.drain();
  const [event] = inbox.received;
  expect(event?.json).toMatchObject({ event: 'card.funded', data: { object: { id, balance: 110 } } });
  // Signed as it is sent.
  const signature = createHmac('sha256', SECRET)
    .update(event?.bytes ?? '')
    .digest('hex');
  expect(event?.headers['x-webhook-signature']).toBe(signature);
});

it('names-increase renames details and has 409 for a reused key', async () => {
  await using stage = await speaking('names-increase');
  const details = (await stage.get(`/cards/${stage.card}/details`)).json;
  expect(Object.keys(details)).toEqual([
    'card_id',
    'primary_account_number',
    'verification_code',
    'expiration_month',
    'expiration_year',
  ]);
  const path = `/cards/${stage.card}/fund`;
  const post = (amount: number) =>
    ask(stage.sandbox, { method: 'POST', path, body: { amount }, idempotencyKey: 'one' });
  await post(5);
  expect(await post(6)).toMatchObject({ status: 409, json: { error: 'idempotency_key_reused', code: 409 } });
});

it('strict-422 has 422 for validation and state, and keeps what is stated', async () => {
  await using stage = await speaking('strict-422');
  const short = await stage.post(`/cards/${stage.card}/fund`, { amount: 0.5 });
  expect(short).toMatchObject({ status: 422, json: { error: 'validation_error', code: 422 } });
  expect(short.json.errors[0].field).toBe('amount');
  expect((await stage.post(`/cards/${stage.card}/unfreeze`)).status).toBe(422);
  const poor = await stage.post(`/cards/${stage.card}/fund`, { amount: 5000 });
  expect(poor).toMatchObject({ status: 400, json: { error: 'insufficient_funds', code: 400 } });
});

it('noop-200 takes the wanted state for success', async () => {
  await using stage = await speaking('noop-200');
  const twice = async (action: string) => {
    await stage.post(`/cards/${stage.card}/${action}`);
    return stage.post(`/cards/${stage.card}/${action}`);
  };
  expect(await twice('freeze')).toMatchObject({ status: 200, json: { status: 'frozen' } });
  expect(await twice('unfreeze')).toMatchObject({ status: 200, json: { status: 'active' } });
  expect(await twice('terminate')).toMatchObject({ status: 200, json: { status: 'terminated' } });
  expect((await stage.post(`/cards/${stage.card}/fund`, { amount: 5 })).status).toBe(409);
});

it('tds-terminal keeps finished challenges listed', async () => {
  await using stage = await speaking('tds-terminal');
  const open = async () =>
    (await stage.admin('POST', '/simulate/challenges', { card_id: stage.card, amount: 5 })).json.challenge_id;
  const [right, wrong, cancelled, late] = [await open(), await open(), await open(), await open()];
  await stage.admin('POST', `/simulate/challenges/${right}/attempts`, { answer: 'right' });
  for (let tries = 0; tries < 3; tries += 1) {
    await stage.admin('POST', `/simulate/challenges/${wrong}/attempts`, { answer: 'wrong' });
  }
  await stage.admin('POST', `/simulate/challenges/${cancelled}/cancel`);
  await stage.admin('POST', '/clock/advance', { by: '10m' });
  const { json } = await stage.get('/3ds/challenges');
  const statuses = Object.fromEntries(json.data.map((row: { id: string; status: string }) => [row.id, row.status]));
  expect(statuses).toEqual({ [right]: 'approved', [wrong]: 'failed', [cancelled]: 'failed', [late]: 'expired' });
  expect((await stage.get('/3ds/challenges?status=pending')).json.data).toEqual([]);
});

it('auth-single has one changing record a purchase, in lists and events', async () => {
  await using inbox = await receiver();
  await using stage = await speaking('auth-single');
  await stage.subscribe(inbox.url);
  const id = await authorized(stage);
  const only = async (query = '') => (await stage.get(`/transactions${query}`)).json;
  expect(await only()).toMatchObject({ data: [{ id, type: 'authorization', status: 'pending', amount: 30 }] });
  await settle(stage, id, 28);
  expect(await only()).toMatchObject({ data: [{ id, type: 'settlement', amount: 28 }], meta: { total: 1 } });
  expect((await only('?type=authorization')).data).toEqual([]);
  await stage.admin('POST', `/simulate/authorizations/${id}/refund`, { amount: 10 });
  // What is left of the purchase: a list adds up to what the wallet says was spent.
  expect(await only()).toMatchObject({ data: [{ id, type: 'settlement', amount: 18 }] });
  await stage.admin('POST', `/simulate/authorizations/${id}/refund`, {});
  const whole = { id, type: 'refund', amount: 28, authorization_id: id };
  expect(await only('?type=refund')).toMatchObject({ data: [whole] });
  await stage.drain();
  const told = inbox.received.map(({ json }) => [json.type, json.data.id, json.data.type]);
  expect(told).toEqual([
    ['transaction.authorized', id, 'authorization'],
    ['transaction.settled', id, 'settlement'],
    ['transaction.refunded', id, 'settlement'],
    ['transaction.refunded', id, 'refund'],
  ]);
});

it('ledger-balance shows holds as part of the balance, and still lets nobody spend them', async () => {
  await using stage = await speaking('ledger-balance');
  await authorized(stage);
  expect((await stage.get(`/cards/${stage.card}`)).json.balance).toBe(100);
  expect((await stage.get('/cards')).json.data[0].balance).toBe(100);
  expect((await stage.get('/wallet')).json.cards_total_balance).toBe(100);
  expect((await stage.post(`/cards/${stage.card}/withdraw`, { amount: 80 })).status).toBe(400);
  const funded = (await stage.post(`/cards/${stage.card}/fund`, { amount: 5 })).json;
  expect(funded.card_balance).toBe(105);
  expect((await stage.admin('POST', '/ledger/check')).json.faults).toEqual([]);
});

it('strict-freeze lets settlements wait for the unfreeze, in their order', async () => {
  await using stage = await speaking('strict-freeze');
  const [one, other] = [await authorized(stage, 30), await authorized(stage, 20)];
  await stage.post(`/cards/${stage.card}/freeze`);
  expect((await settle(stage, one, 28)).json).toMatchObject({ outcome: 'waiting', events: [], card_balance: 50 });
  await settle(stage, other, 20);
  const settled = async () => (await stage.get('/transactions?type=settlement')).json.data;
  expect(await settled()).toEqual([]);
  expect((await stage.post(`/cards/${stage.card}/unfreeze`)).json).toMatchObject({ status: 'active', balance: 52 });
  expect((await settled()).map((row: { amount: number }) => row.amount).sort()).toEqual([20, 28]);
  expect((await stage.admin('POST', '/ledger/check')).json.faults).toEqual([]);
});

it('strict-freeze posts what waits when the card is terminated instead', async () => {
  await using stage = await speaking('strict-freeze');
  const id = await authorized(stage);
  await stage.post(`/cards/${stage.card}/freeze`);
  await settle(stage, id, 30);
  await stage.post(`/cards/${stage.card}/terminate`);
  expect((await stage.get('/wallet')).json).toMatchObject({ balance: 4970, total_spent: 30 });
  expect((await stage.admin('POST', '/ledger/check')).json.faults).toEqual([]);
});

it('sig-prefixed signs under another name', async () => {
  await using inbox = await receiver();
  await using stage = await speaking('sig-prefixed');
  await stage.subscribe(inbox.url);
  await stage.event();
  await stage.drain();
  const headers = inbox.received[0]?.headers ?? {};
  const bytes = inbox.received[0]?.bytes ?? Buffer.of();
  expect(headers['x-webhook-signature']).toBeUndefined();
  expect(headers['x-hub-signature-256']).toBe(`sha256=${createHmac('sha256', SECRET).update(bytes).digest('hex')}`);
});

it('paths-other has its routes and not the usual ones', async () => {
  await using stage = await speaking('paths-other');
  expect((await stage.get('/wallet')).status).toBe(404);
  expect((await stage.get('/balance')).json.balance).toBe(4900);
  expect((await stage.post(`/cards/${stage.card}/freeze`)).status).toBe(404);
  expect((await stage.post(`/cards/${stage.card}/suspend`)).json.status).toBe('frozen');
  expect((await stage.post(`/cards/${stage.card}/activate`)).json.status).toBe('active');
  expect((await stage.post(`/cards/${stage.card}/topup`, { amount: 5 })).json.card_balance).toBe(105);
  expect((await stage.post(`/cards/${stage.card}/unload`, { amount: 5 })).json.card_balance).toBe(100);
  expect((await stage.remove(`/cards/${stage.card}`)).json.status).toBe('terminated');
});
