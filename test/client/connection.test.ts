/** The wire itself: what was sent or not, time, size, sockets, proxies, and that no secret leaks on the way. */

import type { Socket } from 'node:net';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { proxyFor } from '../../src/client/transport.ts';
import { CliError } from '../../src/core/errors.ts';
import { cents } from '../../src/core/money.ts';
import { selfSigned } from '../support/certificate.ts';
import { CARD, clock, json, KEY, listen, type Served, serve, speak, thrown, WALLET } from './served.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function served(...facts: Parameters<typeof serve>): Promise<Served> {
  const one = await serve(...facts);
  closing.push(() => one.close());
  return one;
}

async function listening(onSocket: (socket: Socket) => void) {
  const one = await listen(onSocket);
  closing.push(one.close);
  return one;
}

const fund = { card_id: 'card_1', amount: cents(500) };

describe('not sent', () => {
  test('refused: not sent, and said with host, port and code', async () => {
    const { port } = await listening(() => undefined);
    for (const close of closing.splice(0)) await close();
    const failed = await thrown(speak(`http://127.0.0.1:${port}/v1`).service.send('cards.fund', fund));
    expect(failed).toMatchObject({ kind: 'unreachable', facts: { outcome: 'not_sent' } });
    expect(failed.message).toBe(`cards.fund was not sent: connection refused by 127.0.0.1:${port} (ECONNREFUSED)`);
    expect(failed.facts.idempotencyKey).toMatch(/^cw_/);
  });
});

describe('time and size', () => {
  test('no answer: a read fails, a write is unknown', async () => {
    const one = await served(() => undefined);
    const { service } = speak(one.baseUrl, { timeoutMs: 250 });
    const read = await thrown(service.send('wallet.get', {}));
    expect(read.message).toBe('wallet.get failed: no complete answer within 0.3 s');
    expect((await thrown(service.send('cards.fund', fund))).kind).toBe('outcome_unknown');
    expect(one.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST']);
  });

  test('a dripping body does not outlive the deadline', async () => {
    const one = await served((_, r) => {
      r.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => r.write(' '), 5);
      r.on('close', () => clearInterval(drip));
    });
    const failed = await thrown(speak(one.baseUrl, { timeoutMs: 80 }).service.send('cards.fund', fund));
    expect(failed.kind).toBe('outcome_unknown');
  });

  test('an endless body is cut at the limit and the socket is destroyed', async () => {
    let closed = 0;
    const one = await served((_, r) => {
      r.writeHead(200, { 'content-type': 'application/json' });
      const chunk = Buffer.alloc(1 << 16, 0x20);
      const more = () => {
        while (!r.destroyed && r.write(chunk));
      };
      r.on('drain', more).on('close', () => {
        closed += 1;
      });
      more();
    });
    const { service } = speak(one.baseUrl);
    expect((await thrown(service.send('wallet.get', {}))).message).toContain('256 KiB');
    expect((await thrown(service.send('cards.list', {}))).message).toContain('8 MiB');
    await expect.poll(() => closed).toBe(2);
  });

  test('stopped after the send: a write stays unknown', async () => {
    const stop = new AbortController();
    const one = await served(() => stop.abort(new CliError('interrupted', { message: 'stopped' })));
    const failed = await thrown(speak(one.baseUrl, { signal: stop.signal }).service.send('cards.fund', fund));
    expect(failed.kind).toBe('outcome_unknown');
  });
});

describe('sockets', () => {
  test('a read uses the socket again, a write not after a second of rest; parallel calls get their own', async () => {
    const ports: (number | undefined)[] = [];
    const one = await served((seen, r, request) => {
      ports.push(request.socket.remotePort);
      json(r, 200, seen.method === 'GET' ? CARD : { card_id: 'card_1', card_balance: 1, wallet_balance: 1 });
    });
    let now = 0;
    const { service } = speak(one.baseUrl, { clock: { ...clock, monotonic: () => now } });
    const get = () => service.send('cards.get', { card_id: 'card_1' });
    await get();
    now += 1500;
    await get();
    await service.send('cards.fund', fund);
    now += 1500;
    await service.send('cards.fund', fund);
    expect(ports[0]).toBe(ports[1]);
    expect(ports[1]).toBe(ports[2]);
    expect(ports[3]).not.toBe(ports[2]);
    await Promise.all([get(), get(), get()]);
    expect(new Set(ports.slice(4)).size).toBe(3);
    await service.close();
  });

  test.each([
    ['with the answer', 0],
    ['after it', 20],
  ])('a second answer that nobody asked for, %s, is nobody’s: the connection is given up', async (_, later) => {
    const answer = (id: string) => {
      const body = JSON.stringify({ ...CARD, id });
      return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    };
    const { port, sockets } = await listening(socket =>
      socket.on('data', bytes => {
        const [, id = ''] = /cards\/(\w+)/.exec(String(bytes)) ?? [];
        if (later === 0) return socket.write(answer(id) + answer('card_9'));
        socket.write(answer(id));
        setTimeout(() => socket.write(answer('card_9')), later);
      }),
    );
    const { service } = speak(`http://127.0.0.1:${port}/v1`);
    for (const id of ['card_1', 'card_2']) {
      expect((await service.send('cards.get', { card_id: id })).result.id).toBe(id);
      const socket = sockets.at(-1);
      await expect.poll(() => socket?.destroyed).toBe(true);
    }
    expect(sockets).toHaveLength(2);
    await service.close();
  });

  test('a socket closed while idle does not hurt the next read', async () => {
    const one = await served((_, r, request) => {
      json(r, 200, WALLET);
      r.on('finish', () => setImmediate(() => request.socket.destroy()));
    });
    const { service } = speak(one.baseUrl);
    for (let turn = 0; turn < 3; turn += 1) expect((await service.send('wallet.get', {})).status).toBe(200);
  });
});

describe('proxies', () => {
  const env = { HTTPS_PROXY: 'http://user:CANARYpass@proxy.example:3128', NO_PROXY: 'inner.example,.corp:8443' };

  test.each<[string, string | undefined]>([
    ['https://api.example/v1', 'proxy.example:3128'],
    ['https://127.0.0.1/v1', undefined],
    ['https://localhost/v1', undefined],
    ['http://localhost/v1', undefined],
    ['https://inner.example/v1', undefined],
    ['https://a.inner.example/v1', undefined],
    ['https://notinner.example/v1', 'proxy.example:3128'],
    ['https://a.corp:8443/v1', undefined],
    ['https://a.corp/v1', 'proxy.example:3128'],
  ])('%s -> %s', (address, host) => expect(proxyFor(new URL(address), env)?.host).toBe(host));

  test.each<[string, string, string | undefined]>([
    ['::1,2001:db8::1', 'https://[2001:db8::1]/v1', undefined],
    ['2001:db8::1', 'https://[2001:db8::2]/v1', 'proxy.example:3128'],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443/v1', undefined],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]/v1', 'proxy.example:3128'],
    ['2001:db8::/32', 'https://[2001:db8:1::7]/v1', undefined],
    ['10.0.0.0/8', 'https://10.1.2.3/v1', undefined],
    ['10.0.0.0/8', 'https://11.1.2.3/v1', 'proxy.example:3128'],
    ['10.0.0.0/99', 'https://10.1.2.3/v1', 'proxy.example:3128'],
    ['192.168.0.7', 'https://192.168.0.7/v1', undefined],
  ])('NO_PROXY=%s %s', (list, address, host) => {
    expect(proxyFor(new URL(address), { ...env, NO_PROXY: list })?.host).toBe(host);
  });

  test('an https proxy is known by its own name, and by the authorities that SSL_CERT_FILE adds', async () => {
    const { key, cert } = selfSigned('Corporate Proxy');
    const names: (string | false | null)[] = [];
    const proxy = createTlsServer({ key, cert }, socket => {
      names.push(socket.servername ?? null);
      socket.on('error', () => socket.destroy()).on('data', () => socket.end('HTTP/1.1 403 no\r\n\r\n'));
    });
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise(resolve => proxy.close(resolve)));
    const { port } = proxy.address() as { port: number };
    const through = { HTTPS_PROXY: `https://127.0.0.1:${port}` };
    const untrusted = await thrown(speak('https://api.example/v1', { env: through }).service.send('wallet.get', {}));
    expect(untrusted.message).toMatch(/certificate of 127\.0\.0\.1:\d+ is not trusted/);
    const trusting = speak('https://api.example/v1', {
      env: through,
      secureContext: createSecureContext({ ca: cert }),
    });
    expect((await thrown(trusting.service.send('wallet.get', {}))).message).toContain('answered 403');
    expect(names).not.toContain('api.example');
  });

  test('an unusable address is not repeated', () => {
    const wrong = () => proxyFor(new URL('https://a.example'), { HTTPS_PROXY: 'ftp://u:CANARY@x' });
    expect(wrong).toThrow(/HTTPS_PROXY is not/);
    expect(wrong).not.toThrow(/CANARY/);
  });

  test.each([
    ['HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'answered 407'],
    ['', 'closed the connection'],
  ])('a proxy that says %j: not sent, no key and no password told', async (answer, text) => {
    const heard: string[] = [];
    const { port } = await listening(socket =>
      socket.on('data', data => {
        heard.push(String(data));
        socket.end(answer);
      }),
    );
    const proxied = { HTTPS_PROXY: `http://user:CANARYpass@127.0.0.1:${port}` };
    const { service, debug } = speak('https://api.example/v1', { env: proxied });
    const failed = await thrown(service.send('cards.fund', fund));
    expect(failed.facts.outcome).toBe('not_sent');
    expect(failed.message).toMatch(/proxy/);
    if (answer) expect(failed.message).toContain(text);
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatch(/^CONNECT api\.example:443 HTTP\/1\.1\r\n/);
    expect(heard[0]).toContain(`Basic ${Buffer.from('user:CANARYpass').toString('base64')}`);
    expect(heard.join()).not.toContain(KEY);
    expect(JSON.stringify([failed.message, failed.facts, debug])).not.toContain('CANARYpass');
  });
});

describe('secrets', () => {
  test('nothing said anywhere holds the key, a number, a code or a webhook secret', async () => {
    const secret = 'whsec_CANARYsecret';
    const echo = {
      error: 'invalid_request',
      message: `key ${KEY} secret ${secret}`,
      pan: '4000001234567899',
      cvv: '737',
    };
    const one = await served((seen, r) =>
      seen.method === 'GET'
        ? json(r, 200, { data: [] })
        : json(
            r,
            400,
            { ...echo, request_id: KEY, got: seen.body, headers: seen.headers },
            { 'x-echo': `Bearer ${KEY}` },
          ),
    );
    const { service, debug, warnings } = speak(one.baseUrl);
    const input = { url: 'https://a.example', events: ['*'], secret };
    const failed = await thrown(service.send('webhooks.create', input));
    const said = JSON.stringify([failed.message, failed.facts, debug, warnings]);
    expect(said).not.toMatch(/CANARY|4000001234567899|\b737\b/);
    expect(debug).toContain('> POST /v1/webhooks');
    expect(debug).toContain('  authorization: [redacted]');
    expect(debug.some(line => /^< 400 \d+ bytes, \d+ ms$/.test(line))).toBe(true);
    expect(one.seen.find(({ method }) => method === 'POST')?.body).toContain(secret);
  });
});
