/** What the page may reveal: a card for its last four digits, and the code of a challenge, within the limit of the service. */
import { expect, it } from 'vitest';
import { type FakeService, fakeService } from '../../support/fake-service.ts';
import { ask } from '../../support/sandbox-http.ts';
import { ADMIN, asPage, sessionOf } from './probes.ts';

const post = (service: FakeService, path: string, body: object = {}) => ask(service, { method: 'POST', path, body });

async function newCard(service: FakeService): Promise<string> {
  const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
  return (await post(service, '/cards', { bin_id, amount: 50 })).json.id;
}

it('reveals a card to who knows its last four digits', async () => {
  await using service = await fakeService();
  const session = await sessionOf(service);
  const card_id = await newCard(service);
  const { pan: number, cvv } = (await ask(service, { path: `/cards/${card_id}/details` })).json;
  const reveal = (last4: string) =>
    asPage(service, session, { method: 'POST', path: `/cards/${card_id}/reveal`, body: { last4 } });
  expect((await reveal('0000')).status).toBe(400);
  expect((await reveal(number.slice(-4))).json).toMatchObject({ number, cvv });
});

it('reveals the code of a challenge, and limits reveals as the service does', async () => {
  await using service = await fakeService({ rateLimits: 'all' });
  const session = await sessionOf(service);
  const card_id = await newCard(service);
  const { challenge_id } = (await post(service, `${ADMIN}/simulate/challenges`, { card_id, amount: 5 })).json;
  const reveal = () =>
    asPage(service, session, { method: 'POST', path: `/challenges/${challenge_id}/reveal`, body: {} });
  const { otp } = (await ask(service, { path: '/3ds/challenges' })).json.data[0];
  expect((await reveal()).json).toEqual({ otp });
  const statuses = [];
  for (let nth = 0; nth < 40; nth += 1) statuses.push((await reveal()).status);
  expect(statuses.at(-1)).toBe(429);
});
