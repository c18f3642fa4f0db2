/** What the page looks for: transactions with their chain, challenges without their codes, deposits, spending by day. */
import { expect, it } from 'vitest';
import { fakeService } from '../../support/fake-service.ts';
import { ask } from '../../support/sandbox-http.ts';

const ADMIN = '/_sandbox/v1';

async function shop() {
  const service = await fakeService();
  const get = async (path: string) => (await ask(service, { path: ADMIN + path })).json;
  const simulate = async (path: string, body: object = {}) =>
    (await ask(service, { method: 'POST', path: `${ADMIN}/simulate${path}`, body })).json;
  const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
  const made = await ask(service, { method: 'POST', path: '/cards', body: { bin_id, amount: 100, label: 'Ads 100%' } });
  return { service, get, simulate, card: made.json as { id: string; last4: string } };
}

it('lists challenges of every state without a code, and deposits by a part of their hash', async () => {
  const { service, get, simulate, card } = await shop();
  await using _ = service;
  const { challenge_id: first } = await simulate('/challenges', { card_id: card.id, amount: 9, merchant: 'Tea' });
  await simulate(`/challenges/${first}/cancel`);
  await simulate('/challenges', { card_id: card.id, amount: 8 });
  const { data } = await get('/challenges');
  expect(data.find((row: { id: string }) => row.id === first)).toMatchObject({ status: 'cancelled', merchant: 'Tea' });
  expect(data.map((row: { last4: string }) => row.last4)).toEqual([card.last4, card.last4]);
  expect(JSON.stringify(data)).not.toContain('otp');
  expect((await get('/challenges?status=pending')).data.length).toBe(1);
  const { deposit_id: id } = await simulate('/deposits', { currency: 'usdt', amount: 7, confirmations: 'manual' });
  const [deposit] = (await get(`/deposits?q=${id}`)).data;
  expect((await get(`/deposits?q=${deposit.tx_hash.slice(3, 20)}`)).data).toEqual([deposit]);
  expect((await get('/deposits?q=nothing')).data).toEqual([]);
});
