/**
 * The port of `sandbox start`, as an attacker on this machine or in its browser sees it
 * (docs/design/sandbox.md, section 10).
 */
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receiver } from '../support/receiver.ts';
import { type ServedSandbox, served } from '../support/served-sandbox.ts';
import { type World, world } from '../support/world.ts';

let place: World;
let server: ServedSandbox;
let key: string;

beforeAll(async () => {
  place = await world();
  server = await served(place, 'sandbox start --json --data demo');
  key = (await readFile(String(server.row.api_key_file), 'utf8')).trim();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
});

/** Sends bytes as they are; resolves to everything that came until the server closed. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let told = '';
    const socket = connect(Number(port()), '127.0.0.1', () => socket.write(text));
    socket.setEncoding('utf8').on('data', part => {
      told += part;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(told));
  });
}

const port = () => new URL(server.row.url).port;
const host = () => `Host: 127.0.0.1:${port()}`;
const bearer = () => `Authorization: Bearer ${key}`;
const ask = (first: string, ...lines: string[]) =>
  raw(`${[first, ...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`);
const WALLET = 'GET /v1/wallet HTTP/1.1';

describe('the port', () => {
  it.each<[string, () => Promise<string>, number]>([
    ['serves whoever has the key', () => ask(WALLET, host(), bearer()), 200],
    ['goes by localhost too', () => ask(WALLET, `Host: localhost:${port()}`, bearer()), 200],
    ['and by [::1]', () => ask(WALLET, `Host: [::1]:${port()}`, bearer()), 200],
    ['refuses a name that was bound to loopback', () => ask(WALLET, `Host: attacker.example:${port()}`, bearer()), 421],
    ['refuses its name with another port', () => ask(WALLET, 'Host: 127.0.0.1:80', bearer()), 421],
    ['refuses its name without a port', () => ask(WALLET, 'Host: localhost', bearer()), 421],
    ['refuses a name that begins like its own', () => ask(WALLET, `Host: 127.0.0.1:${port()}.x`, bearer()), 421],
    ['wants a Host', () => ask(WALLET, bearer()), 400],
    ['wants one Host', () => ask(WALLET, host(), host(), bearer()), 400],
    ['wants one key', () => ask(WALLET, host(), bearer(), bearer()), 400],
    ['speaks no HTTP/1.0', () => ask('GET /v1/wallet HTTP/1.0', host(), bearer()), 400],
    ['takes no whole address as target', () => ask(`GET ${server.row.url}/wallet HTTP/1.1`, host(), bearer()), 400],
    ['takes no length given twice', () => ask(WALLET, host(), bearer(), 'Content-Length: 0', 'Content-Length: 1'), 400],
    [
      'takes no length beside chunks',
      () => ask(WALLET, host(), bearer(), 'Content-Length: 1', 'Transfer-Encoding: chunked'),
      400,
    ],
    ['refuses a page', () => ask(WALLET, host(), bearer(), `Origin: http://127.0.0.1:${port()}`), 403],
    ['refuses a page without an origin', () => ask(WALLET, host(), bearer(), 'Origin: null'), 403],
    [
      'refuses what a page makes a browser fetch',
      () => ask(WALLET, host(), bearer(), 'Sec-Fetch-Site: cross-site'),
      403,
    ],
    ['refuses its own pages, for it has none', () => ask(WALLET, host(), bearer(), 'Sec-Fetch-Site: same-origin'), 403],
    ['lets in what a person typed', () => ask(WALLET, host(), bearer(), 'Sec-Fetch-Site: none'), 200],
    ['answers no preflight', () => ask('OPTIONS /v1/wallet HTTP/1.1', host()), 405],
    ['wants a key', () => ask(WALLET, host()), 401],
    [
      'takes no form',
      () => ask('POST /v1/cards HTTP/1.1', host(), bearer(), 'Content-Type: text/plain', 'Content-Length: 2'),
      415,
    ],
    [
      'takes no large body',
      () => ask('POST /v1/cards HTTP/1.1', host(), bearer(), 'Content-Type: application/json', 'Content-Length: 65537'),
      413,
    ],
    ['wants the token for its control surface', () => ask('GET /_sandbox/v1/status HTTP/1.1', host(), bearer()), 401],
    ['wants the token for its end', () => ask('POST /_sandbox/v1/stop HTTP/1.1', host(), bearer()), 401],
  ])('%s', async (_what, asks, status) => {
    const answer = await asks();
    expect(Number(answer.split(' ')[1])).toBe(status);
    expect(answer).toMatch(/^x-sandbox: true\r$/im);
    expect(answer).not.toMatch(/^access-control-/im);
  });

  it('is open on 127.0.0.1 and on no other address of this machine', async () => {
    const others = Object.values(networkInterfaces())
      .flatMap(found => found ?? [])
      .filter(({ address, scopeid }) => address !== '127.0.0.1' && !scopeid)
      .map(({ address }) => address);
    const reached = await Promise.all(
      ['127.0.0.2', ...others].map(
        address =>
          new Promise(resolve => {
            const socket = connect({ port: Number(port()), host: address, timeout: 2_000 });
            const end = (how: string) => {
              socket.destroy();
              resolve(how);
            };
            socket
              .on('connect', () => end(`${address} is open`))
              .on('error', () => end('closed'))
              .on('timeout', () => end('closed'));
          }),
      ),
    );
    expect(reached.filter(how => how !== 'closed')).toEqual([]);
  });
});

describe('a live key', () => {
  it('is refused, and neither stored nor logged', async () => {
    const live = `sk_live_${'canary'.repeat(6)}`;
    const answer = await ask(WALLET, host(), `Authorization: Bearer ${live}`);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toContain('environment_mismatch');
    const posted = await ask('POST /_sandbox/v1/simulate/deposits HTTP/1.1', host(), `Authorization: Bearer ${live}`);
    expect(posted).toMatch(/^HTTP\/1\.1 403 /);
    const { out } = await place.run('sandbox requests --json', { env: server.env });
    const folder = join(place.folder, 'data', 'sandbox');
    const files = await Promise.all((await readdir(folder)).map(name => readFile(join(folder, name), 'latin1')));
    for (const text of [answer, posted, out, ...files]) expect(text).not.toContain('canary');
    expect(files.length).toBeGreaterThan(4);
  });
});

describe('webhooks', () => {
  it('go to this machine alone: elsewhere is said to be refused, and nothing is sent', async () => {
    await using here = await receiver();
    const env = { ...server.env, CARDWRIGHT_BASE_URL: server.row.url, CARDWRIGHT_API_KEY: key, CARDWRIGHT_PROFILE: '' };
    for (const url of ['https://192.0.2.1/hook', here.url]) {
      const made = await place.run(`webhooks create --url ${url} --event card.created -q --json --yes`, { env });
      expect(made.code, made.err).toBe(0);
    }
    expect((await place.run('cards create --bin auto --amount 5 -q', { env })).code).toBe(0);
    await here.until(1);
    const states = async () => {
      const { out } = await place.run('sandbox deliveries list --event card.created --json', { env });
      const { data } = JSON.parse(out) as { data: { state: string; attempts?: { error: string | null }[] }[] };
      return data.filter(({ attempts }) => attempts?.some(({ error }) => error !== null));
    };
    let refused = await states();
    while (refused.length === 0) refused = await states();
    expect(refused[0]?.attempts?.[0]?.error).toBe(
      '192.0.2.1 is not this machine; sandbox start --allow-remote-webhooks would send there',
    );
  });
});
