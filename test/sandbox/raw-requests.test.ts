/**
 * The loopback server, byte by byte: every shape of a request that an attacker, a rebound name, a proxy or a broken
 * client could send (docs/design/sandbox.md, section 10). What is not plain HTTP/1.1 of this host is refused and
 * marked.
 */
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fakeService } from '../support/fake-service.ts';
import { ask, askRaw } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const service = await fakeService();
afterAll(() => service[Symbol.asyncDispose]());

const port = () => new URL(service.url).port;
const HOST = () => `Host: 127.0.0.1:${port()}`;
const KEY = 'Authorization: Bearer sk_test_right';
const JSON_BODY = 'Content-Type: application/json';
const CLOSE = 'Connection: close';
const WALLET = 'GET /v1/wallet HTTP/1.1';
const CARDS = 'POST /v1/cards HTTP/1.1';

const text = (...lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const wallet = (...lines: readonly string[]) => text(WALLET, HOST(), KEY, ...lines, CLOSE);
const post = (body: string, ...lines: readonly string[]) => text(CARDS, HOST(), KEY, JSON_BODY, ...lines, CLOSE) + body;
const chunks = (body: string) => post(body, 'Transfer-Encoding: chunked');
const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));

/** Each with what must come of it; every answer is marked and lets no page in. */
function looked(table: readonly (readonly [what: string, sends: () => string, status: number])[]): void {
  it.each(table)('%s', async (_what, sends, status) => {
    const answer = await askRaw(service, sends());
    expect(statuses(answer)).toEqual([status]);
    expect(answer).toMatch(/^x-sandbox: true\r$/im);
    expect(answer).not.toMatch(/^access-control-/im);
    // Then its body would have been read.
    expect(answer).not.toContain('bin_id');
    expect(service.faults).toEqual([]);
  });
}

describe('names of the host', () => {
  const host = (name: string) => () => text(WALLET, `Host: ${name}`, KEY, CLOSE);
  const here = (name: string) => () => host(`${name}:${port()}`)();
  looked([
    ['its own', here('127.0.0.1'), 200],
    ['localhost, however written', here('LocalHost'), 200],
    ['the one of IPv6', here('[::1]'), 421],
    ['a name that was bound to loopback', here('attacker.example'), 421],
    ['a name that holds the address', here('127.0.0.1.nip.io'), 421],
    ['a name below localhost', here('x.localhost'), 421],
    ['localhost with the dot of a root', here('localhost.'), 421],
    ['the address with a user', here('x@127.0.0.1'), 421],
    ['the address, shortened', here('127.1'), 421],
    ['the address as one number', here('2130706433'), 421],
    ['the address of everything', here('0.0.0.0'), 421],
    ['the address inside one of IPv6', here('[::ffff:127.0.0.1]'), 421],
    ['no port', host('127.0.0.1'), 421],
    ['IPv6 without a port', host('[::1]'), 421],
    ['another port', host('127.0.0.1:1'), 421],
    ['the port with a zero before it', () => host(`127.0.0.1:0${port()}`)(), 421],
    ['two in one header', () => host(`127.0.0.1:${port()}, attacker.example`)(), 421],
    ['an empty one', host(''), 421],
    [
      'the right one from a proxy',
      () => text(WALLET, 'Host: x', `X-Forwarded-Host: 127.0.0.1:${port()}`, KEY, CLOSE),
      421,
    ],
    ['none', () => text(WALLET, KEY, CLOSE), 400],
    ['two headers', () => wallet(HOST()), 400],
  ]);
});

describe('ways to write a request', () => {
  const line = (first: string) => () => text(first, HOST(), KEY, CLOSE);
  looked([
    ['HTTP/0.9', () => 'GET /v1/wallet\r\n\r\n', 400],
    ['HTTP/1.0', line('GET /v1/wallet HTTP/1.0'), 400],
    ['HTTP/1.2', line('GET /v1/wallet HTTP/1.2'), 400],
    ['the beginning of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a handshake of TLS', () => '\x16\x03\x01\x02\x00\x01', 400],
    ['a whole address', () => line(`GET http://127.0.0.1:${port()}/v1/wallet HTTP/1.1`)(), 400],
    ['the target of everything', line('OPTIONS * HTTP/1.1'), 400],
    ['two slashes', line('GET //attacker.example/v1/wallet HTTP/1.1'), 404],
    ['a way up into the control surface', line('GET /v1/../_sandbox/v1/status HTTP/1.1'), 404],
    ['the same, encoded', line('GET /v1/%2e%2e/_sandbox/v1/status HTTP/1.1'), 404],
    ['a fragment', line('GET /v1/wallet#x HTTP/1.1'), 404],
    ['an encoding that is none', line('GET /v1/cards/%zz HTTP/1.1'), 404],
    ['TRACE', line('TRACE /v1/wallet HTTP/1.1'), 405],
    ['HEAD', line('HEAD /v1/wallet HTTP/1.1'), 405],
    ['PROPFIND', line('PROPFIND /v1/wallet HTTP/1.1'), 405],
    ['a method nobody knows', line('STEAL /v1/wallet HTTP/1.1'), 400],
    ['a method in small letters', line('get /v1/wallet HTTP/1.1'), 400],
    ['lines that end in LF', () => `${WALLET}\n${HOST()}\n${KEY}\n\n`, 400],
    ['a line that ends in CR', () => `${WALLET}\r${HOST()}\r\n${KEY}\r\n\r\n`, 400],
    ['a header that goes on', () => wallet('X-More: a', ' b'), 400],
    ['a blank before the colon', () => wallet('X-More : a'), 400],
    ['NUL in a header', () => wallet('X-More: a\0b'), 400],
    ['a header of 17,000 characters', () => wallet(`X-More: ${'x'.repeat(17_000)}`), 400],
    ['an empty origin', () => wallet('Origin:'), 403],
    ['a page of its own', () => wallet(`Origin: http://127.0.0.1:${port()}`), 403],
    ['what a page fetches', () => wallet('Sec-Fetch-Site: same-site'), 403],
  ]);
});

describe('bodies', () => {
  looked([
    ['a length given twice', () => post('{}', 'Content-Length: 2', 'Content-Length: 2'), 400],
    ['two lengths in one', () => post('{}', 'Content-Length: 2, 2'), 400],
    ['a length with a sign', () => post('{}', 'Content-Length: +2'), 400],
    ['a length below nothing', () => post('{}', 'Content-Length: -2'), 400],
    ['a length in another base', () => post('{}', 'Content-Length: 0x2'), 400],
    ['a length no number holds', () => post('{}', 'Content-Length: 99999999999999999999'), 400],
    ['a length beside chunks', () => post('0\r\n\r\n', 'Content-Length: 5', 'Transfer-Encoding: chunked'), 400],
    ['chunks by another name', () => post('0\r\n\r\n', 'Transfer-Encoding: xchunked'), 400],
    ['chunks behind a control character', () => post('0\r\n\r\n', 'Transfer-Encoding: \x0bchunked'), 400],
    ['chunks of something packed', () => post('0\r\n\r\n', 'Transfer-Encoding: gzip, chunked'), 400],
    ['chunks and then none', () => post('0\r\n\r\n', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'), 400],
    ['a size that is none', () => chunks('zz\r\n{}\r\n0\r\n\r\n'), 400],
    ['a size below nothing', () => chunks('-2\r\n{}\r\n0\r\n\r\n'), 400],
    ['a size no number holds', () => chunks('FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n'), 400],
    ['a size that is too small', () => chunks('1\r\n{}\r\n0\r\n\r\n'), 400],
    ['a size with much behind it', () => chunks(`2;${'x'.repeat(30_000)}\r\n{}\r\n0\r\n\r\n`), 400],
    ['chunks that end in LF', () => chunks('2\n{}\n0\n\n'), 400],
    ['65,537 bytes', () => post('', 'Content-Length: 65537'), 413],
    ['a form', () => text(CARDS, HOST(), KEY, 'Content-Type: text/plain', 'Content-Length: 2', CLOSE), 415],
    ['no type', () => `${text(CARDS, HOST(), KEY, 'Content-Length: 2', CLOSE)}{}`, 415],
    [
      'a type that only looks like it',
      () => text(CARDS, HOST(), KEY, 'Content-Type: application/vnd.api+json', 'Content-Length: 2', CLOSE),
      415,
    ],
    ['two types', () => post('{}', 'Content-Type: text/plain', 'Content-Length: 2'), 400],
  ]);

  it('an action has none, whatever its type is said to be', async () => {
    const action = (...lines: string[]) => text('POST /v1/cards/card_x/freeze HTTP/1.1', HOST(), KEY, ...lines, CLOSE);
    for (const lines of [[], ['Content-Length: 0'], ['Content-Type: text/plain', 'Content-Length: 0']]) {
      expect(statuses(await askRaw(service, action(...lines)))).toEqual([404]);
    }
  });

  it('what follows a head is its body and no request of its own', async () => {
    const inner = text(WALLET, HOST(), KEY, CLOSE);
    for (const [head, status] of [
      [text(WALLET, HOST(), KEY, JSON_BODY, `Content-Length: ${inner.length}`, CLOSE), 400],
      [text(CARDS, HOST(), KEY, 'Content-Type: text/plain', `Content-Length: ${inner.length}`, CLOSE), 415],
    ] as const) {
      expect(statuses(await askRaw(service, head + inner))).toEqual([status]);
    }
    // Headers behind the last chunk are of no one.
    const trailing = chunks('2\r\n{}\r\n0\r\nAuthorization: Bearer sk_live_x\r\nHost: attacker.example\r\n\r\n');
    expect(await askRaw(service, trailing)).toContain('bin_id: is missing');
  });
});

describe('several on one connection', () => {
  const one = (...lines: string[]) => text(WALLET, HOST(), KEY, ...lines);

  it('are answered in their order, and no other connection is spoken to', async () => {
    expect(statuses(await askRaw(service, one() + one('Origin: null') + one(CLOSE)))).toEqual([200, 403, 200]);
    expect(await askRaw(service, text(`CONNECT 127.0.0.1:${port()} HTTP/1.1`, HOST(), KEY))).toBe('');
    const upgrade = one('Upgrade: websocket', 'Connection: Upgrade, close', 'Sec-WebSocket-Key: x');
    expect(statuses(await askRaw(service, upgrade))).toEqual([200]);
  });

  it('nonsense behind one that is carried out is not taken for its answer', async () => {
    const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
    const body = JSON.stringify({ bin_id, amount: 5, label: 'before nonsense' });
    const create = text(CARDS, HOST(), KEY, JSON_BODY, `Content-Length: ${body.length}`) + body;
    const answer = await askRaw(service, `${create}nonsense\r\n\r\n`);
    expect(statuses(answer).filter(status => status === 400)).toEqual([]);
    const labels = async () =>
      (await ask(service, { path: '/cards' })).json.data.map(({ label }: { label: string }) => label);
    // The connection may end before the work does.
    await expect.poll(labels).toEqual(['before nonsense']);
  });

  it('a caller that leaves in the middle leaves nothing behind', async () => {
    for (const part of [WALLET, text(WALLET), `${text(CARDS, HOST(), KEY, JSON_BODY, 'Content-Length: 50')}{"a`]) {
      await new Promise<void>(resolve => {
        const socket = connect(Number(port()), '127.0.0.1', () => socket.end(part));
        socket.on('error', () => undefined).on('close', () => resolve());
        socket.resume();
      });
    }
    expect((await ask(service, { path: '/wallet' })).status).toBe(200);
    expect(service.faults).toEqual([]);
  });
});

describe('credentials', () => {
  const auth = (value: string) => () => text(WALLET, HOST(), `Authorization: ${value}`, CLOSE);
  const basic = (user: string) => `Basic ${Buffer.from(`${user}:`).toString('base64')}`;
  looked([
    ['the word may be small', auth('bearer sk_test_right'), 200],
    ['none', () => text(WALLET, HOST(), CLOSE), 401],
    ['the bare key', auth('sk_test_right'), 401],
    ['something behind the key', auth('Bearer sk_test_right x'), 401],
    ['Basic', auth(basic('sk_test_right')), 401],
    ['in a cookie', () => text(WALLET, HOST(), 'Cookie: key=sk_test_right', CLOSE), 401],
    ['in the address', () => text('GET /v1/wallet?api_key=sk_test_right HTTP/1.1', HOST(), CLOSE), 401],
    ['for a proxy', () => text(WALLET, HOST(), 'Proxy-Authorization: Bearer sk_test_right', CLOSE), 401],
    ['the token of the control surface', auth('Bearer sandbox_right'), 401],
    ['two', () => wallet(KEY), 400],
    ['the key at the control surface', () => text('GET /_sandbox/v1/status HTTP/1.1', HOST(), KEY, CLOSE), 401],
    ['the key at an export', () => text('GET /_sandbox/v1/export HTTP/1.1', HOST(), KEY, CLOSE), 401],
    ['a page at an export', () => text('GET /_sandbox/v1/export HTTP/1.1', HOST(), KEY, 'Origin: null', CLOSE), 403],
  ]);
});

describe('a live key', () => {
  const LIVE = `sk_live_${'canary'.repeat(4)}`;

  it('is refused wherever it is put, and kept nowhere', async () => {
    await using folder = await temporaryFolder();
    const faults: unknown[] = [];
    await using sandbox = await startSandbox({
      store: join(folder.path, 'store.db'),
      listen: 'tcp',
      onFault: error => void faults.push(error),
    });
    const bin_id = (await ask(sandbox, { path: '/bins' })).json.data[0].id;
    const authorization = (value: string) => ({ headers: { authorization: value } });
    const tries = [
      { path: '/wallet', ...authorization(`Bearer ${LIVE}`) },
      { path: '/wallet', ...authorization(`bearer   ${LIVE}`) },
      { path: '/_sandbox/v1/status', ...authorization(`Bearer ${LIVE}`) },
      { path: '/_sandbox/v1/export', ...authorization(`Bearer ${LIVE}`) },
      { path: '/cards', method: 'POST', body: { bin_id, amount: 5 }, idempotencyKey: LIVE },
      { path: `/cards/${LIVE}/fund`, method: 'POST', body: { amount: 5 }, idempotencyKey: 'k' },
      { path: `/cards/sk%5flive_${LIVE.slice(8)}/fund`, method: 'POST', body: { amount: 5 }, idempotencyKey: 'k' },
      { path: `/cards?bin_id=${LIVE}` },
      { path: `/cards?bin_id=%73k_live_${LIVE.slice(8)}` },
      { path: '/cards', method: 'POST', body: { bin_id, amount: 5, label: `old ${LIVE}` }, idempotencyKey: 'label' },
      { path: '/cards', method: 'POST', body: { bin_id, amount: 5, metadata: { key: LIVE } }, idempotencyKey: 'value' },
      { path: '/cards', method: 'POST', body: { bin_id, amount: 5, metadata: { [LIVE]: '' } }, idempotencyKey: 'name' },
      { path: '/cards', method: 'POST', body: `{"label":"sk\\u005flive_${LIVE.slice(8)}"}`, idempotencyKey: 'escaped' },
      { path: '/webhooks', method: 'POST', body: { url: `http://127.0.0.1:9/?key=${LIVE}`, events: ['*'] } },
      { path: '/_sandbox/v1/faults', method: 'POST', body: { match: { path: `/${LIVE}` }, action: { kind: 'reset' } } },
    ];
    const told: string[] = [];
    for (const asked of tries) {
      const { status, text: body, json } = await ask(sandbox, asked);
      expect([asked.path, status, json.error]).toEqual([asked.path, 403, 'environment_mismatch']);
      told.push(body);
    }
    for (const asked of [
      { path: '/wallet', ...authorization(LIVE), expects: 401 },
      { path: '/wallet', ...authorization(`Basic ${Buffer.from(LIVE).toString('base64')}`), expects: 401 },
      { path: `/${LIVE}`, expects: 404 },
    ]) {
      const { status, text: body } = await ask(sandbox, asked);
      expect(status).toBe(asked.expects);
      told.push(body);
    }
    await ask(sandbox, { path: '/_sandbox/v1/snapshots', method: 'POST', body: { name: 'all' } });
    const { text: requests } = await ask(sandbox, { path: '/_sandbox/v1/requests' });
    const names = await readdir(folder.path, { recursive: true, withFileTypes: true });
    const files = names.filter(each => each.isFile()).map(each => join(each.parentPath, each.name));
    // A snapshot is one file.
    expect(files.length).toBeGreaterThan(3);
    const kept = await Promise.all(files.map(path => readFile(path, 'latin1')));
    for (const found of [...told, requests, ...kept, JSON.stringify(faults)]) expect(found).not.toContain('canary');
  });
});
