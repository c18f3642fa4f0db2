/**
 * Clients that are slow, many or silent: what the server spends on them is bounded
 * (docs/design/sandbox.md, section 10).
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';

const QUICK = {
  headersTimeout: 60,
  requestTimeout: 120,
  connectionsCheckingInterval: 20,
  keepAliveTimeout: 50,
  connections: 256,
};

function open(service: FakeService): Socket {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1').setEncoding('utf8');
  // Being dropped is what is looked for.
  return socket.on('error', () => undefined);
}

/** Everything that came until the server closed. */
async function untilClosed(socket: Socket): Promise<string> {
  let told = '';
  socket.on('data', part => {
    told += part;
  });
  await once(socket, 'close');
  return told;
}

const head = (service: FakeService, ...more: string[]) =>
  [
    `POST /v1/cards HTTP/1.1`,
    `Host: ${new URL(service.url).host}`,
    'Authorization: Bearer sk_test_right',
    ...more,
  ].join('\r\n');

it.each([
  ['a head that never ends', (service: FakeService) => `${head(service)}\r\nX-More: `],
  [
    'a body that never ends',
    (service: FakeService) => `${head(service, 'Content-Type: application/json', 'Content-Length: 50')}\r\n\r\n{"bin`,
  ],
])('gives up on %s with 408', async (_what, sends) => {
  await using service = await fakeService({ limits: QUICK });
  const socket = open(service);
  socket.write(sends(service));
  const answer = await untilClosed(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\nX-Sandbox: true\r\nX-Request-Id: req_\w+\r\n/);
  const [, body = ''] = answer.split('\r\n\r\n');
  expect(JSON.parse(body)).toMatchObject({ error: 'invalid_request', code: 408, request_id: expect.any(String) });
  expect((await ask(service, { path: '/wallet' })).status).toBe(200);
  expect(service.faults).toEqual([]);
});

it('holds 256 connections and drops the next, until one of them ends', async () => {
  await using service = await fakeService();
  const sockets = Array.from({ length: 256 }, () => open(service));
  try {
    await Promise.all(sockets.map(socket => once(socket, 'connect')));
    // One that stands is as good as before, one more is not taken.
    const [first] = sockets;
    first?.write(`GET /v1/wallet HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n\r\n`);
    expect(String(await once(first ?? open(service), 'data'))).toMatch(/^HTTP\/1\.1 401 /);
    expect(await untilClosed(open(service))).toBe('');
    const left = sockets.pop();
    left?.destroy();
    // The server hears of it a moment later.
    for (let tries = 0; tries < 200; tries += 1) {
      const got = await ask(service, { path: '/wallet' }).catch(() => undefined);
      if (got?.status === 200) return;
    }
    expect.unreachable('the place of a closed connection stayed taken');
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
