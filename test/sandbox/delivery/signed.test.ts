/** What a receiver gets: exact bytes, a signature that another program can check, the documented headers. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { EVENTS } from '../../../src/contract/events.ts';
import { matchSignature } from '../../../src/contract/signature/signature.ts';
import { Secret } from '../../../src/core/secret.ts';
import { requires } from '../../support/programs.ts';
import { receiver } from '../../support/receiver.ts';
import { SECRET, scene } from './scene.ts';

function opensslSignature(bytes: Buffer, secret: string): string {
  const out = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret], { input: bytes }).toString();
  return out.trim().split(' ').at(-1) ?? '';
}

it.skipIf(requires('openssl'))('signs the exact bytes as openssl does (skipped where openssl is missing)', async () => {
  await using inbox = await receiver();
  await using stage = await scene();
  await stage.subscribe(inbox.url);
  await stage.event();
  await stage.drain();
  const [got] = inbox.received;
  expect(got?.headers['x-webhook-signature']).toBe(opensslSignature(got?.bytes ?? Buffer.of(), SECRET));
  expect(got?.headers['x-webhook-signature']).toMatch(/^[0-9a-f]{64}$/);
});

it('sends the stored bytes with the headers of the contract', async () => {
  await using inbox = await receiver();
  await using stage = await scene({ version: '1.2.3' });
  await stage.subscribe(`${inbox.url}?a=%20b`);
  await stage.event();
  await stage.drain();
  const [got] = inbox.received;
  const [event] = (await stage.admin('GET', '/events?type=card.frozen')).json.data;
  expect(got?.bytes.toString()).toBe(event.body);
  expect(got?.path).toBe('/hook?a=%20b');
  expect(got?.json).toMatchObject({ id: event.id, type: 'card.frozen', data: { id: stage.card, status: 'frozen' } });
  expect(got?.headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(got?.bytes.length),
    'user-agent': 'cardwright-sandbox/1.2.3',
    'x-webhook-id': event.id,
    'x-webhook-attempt': '1',
    'x-webhook-timestamp': String(Date.parse('2026-11-20T14:00:00Z') / 1000),
  });
});

it('sends an example of every event, signed, that is no event of the account', async () => {
  await using inbox = await receiver();
  await using stage = await scene();
  const hook = await stage.subscribe(inbox.url, { events: ['card.created'] });
  for (const event of Object.keys(EVENTS)) {
    const { status, json } = await stage.admin('POST', `/webhooks/${hook}/send`, { event });
    expect([status, json.state, json.example]).toEqual([201, 'queued', true]);
  }
  await stage.drain();
  expect(inbox.received.map(({ json }) => json.type)).toEqual(Object.keys(EVENTS));
  for (const { bytes, headers, json } of inbox.received) {
    const { data } = EVENTS[json.type as keyof typeof EVENTS];
    expect(Object.keys(json.data).sort(), json.type).toEqual(Object.keys(data).sort());
    expect(matchSignature(bytes, String(headers['x-webhook-signature']), [new Secret(SECRET)])?.deviations).toEqual([]);
  }
  expect((await stage.admin('GET', '/events')).json.data.map((event: { type: string }) => event.type)).toEqual([
    'card.created',
  ]);
  expect((await stage.admin('POST', `/webhooks/${hook}/send`, { event: 'card.lost' })).status).toBe(400);
});

it('signs with both secrets after a rotation, the new one first, and with it alone once the overlap is over', async () => {
  await using inbox = await receiver();
  await using stage = await scene();
  const hook = await stage.subscribe(inbox.url);
  const { json: rotated } = await stage.admin('POST', `/webhooks/${hook}/rotate`, { overlap: '2h' });
  expect(rotated).toMatchObject({ webhook_id: hook, old_until: '2026-11-20T16:00:00Z' });
  expect(rotated.secret).toMatch(/^whsec_/);
  const both = [new Secret(rotated.secret), new Secret(SECRET)];
  await stage.event();
  await stage.drain();
  await stage.admin('POST', '/clock/advance', { by: '2h' });
  await stage.event();
  await stage.drain();
  const [during, after] = inbox.received;
  const signatures = String(during?.headers['x-webhook-signature']).split(',');
  expect(signatures.map(one => matchSignature(during?.bytes ?? Buffer.of(), one, both)?.secret)).toEqual([0, 1]);
  expect(matchSignature(after?.bytes ?? Buffer.of(), String(after?.headers['x-webhook-signature']), both)).toEqual({
    secret: 0,
    deviations: [],
  });
  const now = await stage.admin('POST', `/webhooks/${hook}/rotate`, { overlap: '0s' });
  await stage.event();
  await stage.drain();
  const last = inbox.received[2];
  expect(
    matchSignature(last?.bytes ?? Buffer.of(), String(last?.headers['x-webhook-signature']), both),
  ).toBeUndefined();
  expect(now.json.old_until).toBe('2026-11-20T16:00:00Z');
  expect((await stage.admin('POST', `/webhooks/${hook}/rotate`, { overlap: 'soon' })).status).toBe(400);
});
