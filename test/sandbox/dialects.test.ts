/**
 * What each dialect changes on the wire, and that it changes nothing else
 * (docs/design/contract-and-assumptions.md, section 14).
 */
import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox/faults.ts';
import { DIALECTS } from '../../src/sandbox/dialects/table.ts';
import { receiver } from '../support/receiver.ts';
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
