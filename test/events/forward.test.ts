/** Passing deliveries on: no redirect is followed, and nobody holds a place for ever (docs/design/security.md, H10). */
import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import { expect, it } from 'vitest';
import { createForwarder, type Forwarded, targetOf } from '../../src/events/forward.ts';
import type { Arrived } from '../../src/events/listener.ts';
import type { Clock } from '../../src/platform/host.ts';
import { selfSigned } from '../support/certificate.ts';
import { receiver } from '../support/receiver.ts';
import { isWhole } from '../support/whole.ts';

const arrived: Arrived = {
  event: {
    id: 'evt_1',
    type: 'card.created',
    created_at: '2026-11-20T14:00:00Z',
    received_at: '2026-11-20T14:00:01Z',
    out_of_order: false,
    data: {},
  } as unknown as Arrived['event'],
  delivery: { bytes: Buffer.from('{"id":"evt_1"}'), headers: { host: 'a', 'x-signature': 'kept' } },
};

/** Waits are over when `isOver` says so for their length, or when they are given up. */
function waiting(isOver: (ms: number) => boolean): Clock {
  const sleep: Clock['sleep'] = (ms, signal) =>
    isOver(ms)
      ? Promise.resolve()
      : new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  return { now: () => 0, monotonic: () => 0, sleep };
}

async function forwardTo(address: string, clock: Clock, secureContext?: SecureContext): Promise<Forwarded> {
  const target = targetOf(address);
  if (target === undefined) throw new Error(`${address} is no target`);
  return new Promise(resolve => {
    void createForwarder({ targets: [target], clock, secureContext, onForwarded: resolve }).pass(arrived);
  });
}

it('an https target may show a certificate of the authorities that SSL_CERT_FILE adds', async () => {
  const { key, cert } = selfSigned('Corporate');
  const server = createTlsServer({ key, cert }, (_, response) => void response.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const clock = waiting(() => false);
  const address = `https://127.0.0.1:${port}/`;
  expect(await forwardTo(address, clock)).toMatchObject({ outcome: 'DEPTH_ZERO_SELF_SIGNED_CERT', isDelivered: false });
  expect(await forwardTo(address, clock, createSecureContext({ ca: cert }))).toMatchObject({
    outcome: 200,
    isDelivered: true,
  });
  server.close();
});

it.each(isWhole ? [301, 302, 303, 307, 308] : [308])('a redirect %i is an answer: it is not followed', async status => {
  await using stranger = await receiver();
  await using moved = await receiver(response => response.writeHead(status, { location: stranger.url }).end());
  const told = await forwardTo(
    moved.url,
    waiting(() => false),
  );
  expect(told).toMatchObject({ outcome: status, isDelivered: false });
  expect([moved.received.length, stranger.received.length]).toEqual([1, 0]);
  expect(moved.received[0]?.headers).toMatchObject({ 'x-signature': 'kept' });
  expect(moved.received[0]?.headers.host).not.toBe('a');
});
