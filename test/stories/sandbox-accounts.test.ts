/** `sandbox start --accounts`: accounts made on first use, each a sandbox of its own, the same after a restart. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type World, world } from '../support/world.ts';

interface Served extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<number>;
}

async function serving(place: World, more = ''): Promise<Served> {
  const stopping = new AbortController();
  let tell: (url: string) => void = () => undefined;
  const said = new Promise<string>(resolve => {
    tell = resolve;
  });
  const ended = place.run(`sandbox start --accounts accounts --json ${more}`, {
    signal: stopping.signal,
    onOut: text => tell((JSON.parse(text) as { url: string }).url),
  });
  const early = ended.then(({ err }) => Promise.reject<string>(new Error(err)));
  early.catch(() => undefined);
  const url = await Promise.race([said, early]);
  const stop = async () => {
    stopping.abort(new Error('stop'));
    return (await ended).code;
  };
  return { url, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

it('opens accounts for the token of the server alone, keeps them apart, and knows their keys again', async () => {
  await using place = await world();
  const tokenFile = join(place.folder, 'accounts', 'admin-token');
  const open = async (url: string, name: string, more = '') => {
    const env = {
      CARDWRIGHT_SANDBOX_URL: new URL(url).origin,
      CARDWRIGHT_SANDBOX_TOKEN_FILE: tokenFile,
      CARDWRIGHT_PROFILE: '',
    };
    const { code, out, err } = await place.run(`sandbox account ${name} --json ${more}`, { env });
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out) as { name: string; api_key: string; admin_token: string };
  };
  const wallet = async (url: string, key: string) =>
    fetch(`${url}/wallet`, { headers: { authorization: `Bearer ${key}` } });
  const member = async (answer: Promise<Response>, name: string) =>
    ((await (await answer).json()) as Readonly<Record<string, unknown>>)[name];
  let ana: Awaited<ReturnType<typeof open>>;
  {
    await using server = await serving(place);
    expect((await stat(tokenFile)).mode & 0o077).toBe(0);
    const second = await place.run('sandbox start --accounts accounts');
    expect([second.code, second.err]).toEqual([14, expect.stringMatching(/server\.lock|process/)]);
    ana = await open(server.url, 'ana', '--data demo --seed 7');
    const ben = await open(server.url, 'ben', '--data empty');
    expect(await open(server.url, 'ana')).toEqual(ana);
    expect(await member(wallet(server.url, ana.api_key), 'balance')).toBe(10_000);
    expect(await member(wallet(server.url, ben.api_key), 'balance')).toBe(0);

    const admin = async (path: string, token: string, body?: object) => {
      const init = body && { method: 'POST', body: JSON.stringify(body) };
      const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
      return fetch(`${new URL(server.url).origin}/_sandbox/v1${path}`, { ...init, headers });
    };
    const master = (await readFile(tokenFile, 'utf8')).trim();
    expect((await admin('/status', master)).status).toBe(403);
    expect((await admin('/accounts', ana.admin_token, { name: 'eve' })).status).toBe(409);
    expect((await admin('/accounts', ana.api_key, { name: 'eve' })).status).toBe(401);
    expect((await admin('/accounts', master, { name: '../eve' })).status).toBe(400);
    expect((await admin('/simulate/deposits', ben.admin_token, { currency: 'usdt', amount: 5 })).status).toBe(201);
    expect(await member(admin('/status', ana.admin_token), 'data_set')).toBe('demo');
    const forged = `${ana.api_key.slice(0, -1)}${ana.api_key.endsWith('A') ? 'B' : 'A'}`;
    expect((await wallet(server.url, forged)).status).toBe(401);
    expect((await wallet(server.url, ana.api_key.replace('_ana_', '_eve_'))).status).toBe(401);
    expect(await server.stop()).toBe(0);
  }
  await using again = await serving(place, '--no-rate-limits');
  expect((await wallet(again.url, ana.api_key)).status).toBe(200);
  expect(await open(again.url, 'ana')).toEqual(ana);

  const files = join(place.folder, 'keys');
  await mkdir(files, { mode: 0o700 });
  await writeFile(join(files, 'key'), `${ana.api_key}\n`, { mode: 0o600 });
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_BASE_URL: again.url,
    CARDWRIGHT_API_KEY_FILE: join(files, 'key'),
    CARDWRIGHT_SANDBOX_URL: new URL(again.url).origin,
    CARDWRIGHT_SANDBOX_TOKEN_FILE: join(files, 'token'),
  };
  await writeFile(join(files, 'token'), `${ana.admin_token}\n`, { mode: 0o600 });
  expect((await place.run('sandbox status', { env })).code).toBe(0);
});
