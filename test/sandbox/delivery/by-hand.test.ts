/** A body of one's own to a subscription, signed as asked: what a receiver should refuse can be shown to it. */
import { expect, it } from 'vitest';
import { matchSignature } from '../../../src/contract/signature/signature.ts';
import { Secret } from '../../../src/core/secret.ts';
import { receiver } from '../../support/receiver.ts';
import { SECRET, scene } from './scene.ts';

const right = (bytes: Uint8Array, signature: unknown, secret = SECRET) =>
  matchSignature(bytes, String(signature), [new Secret(secret)]) !== undefined;

it('sends the exact text, marked as edited, with the right signature, and the same once more', async () => {
  await using inbox = await receiver();
  await using stage = await scene();
  const hook = await stage.subscribe(inbox.url);
  const body = ' {"id": "mine",\r\n "data": {"otp": "ä"}}\n';
  const sent = await stage.admin('POST', `/webhooks/${hook}/send`, { event: '3ds.challenge', body });
  expect(sent.json).toMatchObject({ example: true, edited: true, signed: 'right', event: '3ds.challenge' });
  await stage.drain();
  await stage.admin('POST', `/deliveries/${sent.json.id}/redeliver`);
  await stage.drain();
  expect(inbox.received.map(({ bytes }) => bytes.toString())).toEqual([body, body]);
  for (const { bytes, headers } of inbox.received) expect(right(bytes, headers['x-webhook-signature'])).toBe(true);
  expect(await stage.deliveries()).toMatchObject([{ edited: true, state: 'delivered' }, { edited: true }]);
});

it.each(['wrong', 'none'] as const)('signs it %s on every attempt, and of an example too', async sign => {
  await using inbox = await receiver();
  await using stage = await scene();
  const hook = await stage.subscribe(inbox.url);
  const { json } = await stage.admin('POST', `/webhooks/${hook}/send`, { event: 'card.created', sign });
  expect(json).toMatchObject({ example: true, edited: false, signed: sign });
  await stage.drain();
  const [got] = inbox.received;
  expect(got?.json.type).toBe('card.created');
  const signature = got?.headers['x-webhook-signature'];
  expect(signature === undefined).toBe(sign === 'none');
  if (sign === 'wrong') expect(signature).toMatch(/^[0-9a-f]{64}$/);
  expect(right(got?.bytes ?? Buffer.of(), signature)).toBe(false);
});
