/** What was done lately, who did it, and a scenario of it that plays again. */
import { expect, it } from 'vitest';
import { readScenario } from '../../../src/scenario/read.ts';
import { type FakeService, fakeService } from '../../support/fake-service.ts';
import { ask } from '../../support/sandbox-http.ts';
import { notingPlayer } from '../../support/scenario-player.ts';
import { ADMIN, asPage, sessionOf } from '../page/probes.ts';

const post = (service: FakeService, path: string, body: object = {}) => ask(service, { method: 'POST', path, body });
const acts = async (service: FakeService) => (await ask(service, { path: `${ADMIN}/acts` })).json.data;

async function newCard(service: FakeService): Promise<string> {
  const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
  return (await post(service, '/cards', { bin_id, amount: 50, label: '$5 off' })).json.id;
}

it('tells changes through the control surface apart by who asked, newest first; refusals and looks are none', async () => {
  await using service = await fakeService();
  const session = await sessionOf(service);
  const card_id = await newCard(service);
  await post(service, `${ADMIN}/simulate/authorizations`, { card_id, amount: 5 });
  expect((await post(service, `${ADMIN}/simulate/authorizations`, { card_id: 'card_none', amount: 5 })).status).toBe(
    404,
  );
  expect((await asPage(service, session, { method: 'POST', path: '/clock/advance', body: { by: '1h' } })).status).toBe(
    200,
  );
  await asPage(service, session, { path: '/overview' });
  expect(await acts(service)).toEqual([
    { number: 3, at: '2026-11-20T12:00:00Z', by: 'page', operation: 'clock.advance', about: null },
    { number: 2, at: '2026-11-20T12:00:00Z', by: 'program', operation: 'simulate.authorize', about: card_id },
  ]);
});

it('keeps of a reveal that it happened, and no value', async () => {
  await using service = await fakeService();
  const session = await sessionOf(service);
  const card_id = await newCard(service);
  const { pan: number, cvv } = (await ask(service, { path: `/cards/${card_id}/details` })).json;
  const reveal = (last4: string) =>
    asPage(service, session, { method: 'POST', path: `/cards/${card_id}/reveal`, body: { last4 } });
  expect((await reveal('0000')).status).toBe(400);
  const revealed = await reveal(number.slice(-4));
  expect(revealed.json).toMatchObject({ number, cvv });
  const kept = JSON.stringify([service.parts.actLog.all(), await acts(service)]);
  expect(kept).toContain('cards.reveal');
  expect(kept).not.toContain(number);
  expect(kept).not.toContain(`"${cvv}"`);
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

it('writes a scenario of one card: ids that a step made are references, text stays text', async () => {
  await using service = await fakeService({ scenarios: notingPlayer() });
  await sessionOf(service);
  const [card_id, other] = [await newCard(service), await newCard(service)];
  const { authorization_id } = (await post(service, `${ADMIN}/simulate/authorizations`, { card_id, amount: 5 })).json;
  await post(service, `${ADMIN}/simulate/authorizations`, { card_id: other, amount: 6 });
  await post(service, `${ADMIN}/simulate/authorizations/${authorization_id}/settle`, { amount: 4.5 });
  await post(service, `${ADMIN}/simulate/authorizations`, { card_id, amount: 500 });
  const { text, steps, last } = (await ask(service, { path: `${ADMIN}/scenarios/recorded?card_id=${card_id}` })).json;
  expect(readScenario(text, 'recorded').steps).toHaveLength(4);
  const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
  expect(text.split('\n')).toEqual([
    'scenario: "Recorded"',
    'steps:',
    `  - cards.create: {"bin_id":"${bin_id}","amount":50,"label":"$$5 off"}`,
    '    as: step1',
    '  - simulate.authorize: {"card_id":"$step1.id","amount":5}',
    '    as: step2',
    '    expect: {"outcome":"approved"}',
    '  - simulate.settle: {"authorization_id":"$step2.authorization_id","amount":4.5}',
    '    expect: {"outcome":"settled"}',
    '  - simulate.authorize: {"card_id":"$step1.id","amount":500}',
    '    expect: {"outcome":"declined","decline_reason":"insufficient_funds"}',
    '',
  ]);
  expect([steps, last]).toEqual([4, 6]);
  const { text: rest } = (await ask(service, { path: `${ADMIN}/scenarios/recorded?after=5` })).json;
  expect(readScenario(rest, 'recorded').steps).toHaveLength(1);
});

it('judges a signature by the secret of the subscription, which nobody is told', async () => {
  await using service = await fakeService();
  const secret = 'whsec_c2VjcmV0LW9mLXRoaXMtdGVzdA';
  const { id } = (await post(service, '/webhooks', { url: 'http://127.0.0.1:9/hook', events: ['*'], secret })).json;
  const { createHmac } = await import('node:crypto');
  const signature = createHmac('sha256', secret).update('{"a":1}').digest('hex');
  const explained = (given: object) => post(service, `${ADMIN}/webhooks/${id}/explain`, { signature, ...given });
  expect((await explained({ body: '{"a":1}' })).json).toEqual({
    matches: true,
    secret: 'present',
    deviations: [],
    mistakes: [],
  });
  const { json, text } = await explained({ body: '{ "a": 1 }' });
  expect(json).toMatchObject({ matches: false, secret: null, mistakes: [{ mistake: 'json_written_again' }] });
  expect(text).not.toContain(secret);
});
