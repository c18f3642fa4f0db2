/**
 * The built program where somebody laid traps: a working folder, a PATH, proxies, certificates
 * (docs/design/security.md, E7 to E9, E17, E18). What is in the traps writes a file when it runs; reading them shows
 * in the system calls.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningSandbox, startSandbox } from '../../src/sandbox/serving/start.ts';
import { json, listen, type Served, serve, WALLET } from '../client/served.ts';
import { CODE_CACHE, ended, ROOT } from '../package/built.ts';
import { LIVE_ADDRESS, type LiveFront, liveFront } from '../support/live-front.ts';
import { requires } from '../support/programs.ts';
import { isWhole } from '../support/whole.ts';
import { changeNoAnswer, LINES, LIVE_KEY, place, SPRUNG, TEST_KEY, trap, withTrap } from './traps.ts';

withTrap();

describe('a working folder and a PATH full of traps', () => {
  it('change no answer, and nothing in them runs', () => changeNoAnswer(isWhole ? LINES : LINES.slice(0, 2)));

  it.skipIf(requires('strace'))('are not even opened (needs strace)', async () => {
    const trace = join(place.folder, 'trace');
    const words = ['doctor', '--sandbox', '--json'];
    const program = [process.execPath, join(ROOT, 'bin', 'cardwright.js'), ...words];
    const options = {
      cwd: trap,
      env: { PATH: process.env['PATH'], CARDWRIGHT_CONFIG_DIR: place.folder, CARDWRIGHT_CACHE: CODE_CACHE },
    };
    spawnSync('strace', ['-f', '-qq', '-e', 'trace=open,openat,openat2,execve', '-o', trace, ...program], options);
    const calls = (await readFile(trace, 'utf8')).split('\n');
    expect(calls.length).toBeGreaterThan(20);
    expect(calls.filter(call => call.includes(trap) || /open(?:at2?)?\((?:AT_FDCWD, )?"[^/"]/.test(call))).toEqual([]);
  });
});

describe.skipIf(requires('strace'))('connections (needs strace)', () => {
  it('go to the address of the profile alone, and to none from the sandbox', async () => {
    const service = await serve((_, response) => json(response, 200, WALLET));
    const trace = join(place.folder, 'connections');
    const key = { CARDWRIGHT_API_KEY: TEST_KEY, CARDWRIGHT_BASE_URL: service.baseUrl };
    for (const [words, env] of [
      [['--sandbox', 'doctor'], {}],
      [['doctor'], key],
    ] as const) {
      const program = [process.execPath, join(ROOT, 'bin', 'cardwright.js'), ...words];
      const surroundings = {
        PATH: process.env['PATH'],
        CARDWRIGHT_CONFIG_DIR: place.folder,
        CARDWRIGHT_CACHE: CODE_CACHE,
        ...env,
      };
      const options = ['-f', '-qq', '-e', 'trace=connect,sendto', '-o', trace];
      // Not to be waited for synchronously: the service is in this process.
      await ended(spawn('strace', [...options, ...program], { env: surroundings }));
      const inet = (await readFile(trace, 'utf8')).split('\n').filter(call => /AF_INET/.test(call));
      const own = `htons(${new URL(service.baseUrl).port})`;
      expect({ words, other: inet.filter(call => !call.includes(own)) }).toEqual({ words, other: [] });
      expect({ words, some: inet.length > 0 }).toEqual({ words, some: env === key });
    }
    await service.close();
  });
});

describe('a proxy', () => {
  let service: Served;
  beforeAll(async () => {
    service = await serve((_, response) => json(response, 200, WALLET));
  });
  afterAll(() => service.close());

  it('sees neither the sandbox nor this machine; another host goes through it, and its password is told nobody', async () => {
    const came: string[] = [];
    const { port, close } = await listen(socket => {
      came.push('connected');
      socket.on('data', data => came.push(String(data)));
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    const address = `http://user:CANARYPASS@127.0.0.1:${port}`;
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
    const env = { ...Object.fromEntries(names.map(name => [name, address])), NO_PROXY: '', no_proxy: '' };
    expect((await place.run(['--sandbox', 'cards', 'list'], { env })).code).toBe(0);
    expect((await place.run(['wallet'], { env, baseUrl: service.baseUrl })).code).toBe(0);
    expect(came).toEqual([]);
    const { out, err } = await place.run(['doctor', '--json', '--debug'], {
      env,
      baseUrl: 'https://api.example.com/v1',
    });
    expect(`${out}${err}`).not.toContain('CANARYPASS');
    expect(came).toContain('connected');
    // The password goes to the proxy, and the key does not.
    expect(came.join('').toLowerCase()).toContain('proxy-authorization: basic');
    expect(came.join('')).not.toContain('sk_test_');
    close();
  });
});

describe('certificates', () => {
  let sandbox: RunningSandbox;
  let front: LiveFront;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cardwright-front-'));
    sandbox = await startSandbox({ listen: 'socket' });
    front = await liveFront(sandbox, folder);
  });
  afterAll(async () => {
    await front[Symbol.asyncDispose]();
    await sandbox.stop();
    await rm(folder, { recursive: true });
  });
  const env = (key: string, more = {}) => ({
    ...front.env,
    CARDWRIGHT_API_KEY: key,
    CARDWRIGHT_BASE_URL: LIVE_ADDRESS,
    ...more,
  });

  it('of a private authority are trusted through NODE_EXTRA_CA_CERTS', async () => {
    const more = { SSL_CERT_FILE: '', NODE_EXTRA_CA_CERTS: front.env.SSL_CERT_FILE };
    const { code, err } = await place.run(['wallet', '--json'], { env: env(LIVE_KEY, more) });
    expect({ code, err }).toEqual({ code: 0, err: 'LIVE · env\n' });
    expect(front.tunnels).toEqual(['cards.example:443']);
  });

  it('of nobody we trust: the issuer is named, and the key stays here', async () => {
    const before = front.asked.length;
    const { code, err } = await place.run(['wallet'], { env: env(LIVE_KEY, { SSL_CERT_FILE: '' }) });
    expect({ code, named: err.includes('Live Front') }).toEqual({ code: 12, named: true });
    expect(front.asked.length).toBe(before);
  });

  it('are not left unchecked with a live key; with a test key that is said', async () => {
    const before = front.asked.length;
    const off = { NODE_TLS_REJECT_UNAUTHORIZED: '0', SSL_CERT_FILE: '' };
    const live = await place.run(['wallet'], { env: env(LIVE_KEY, off) });
    expect({ code: live.code, err: live.err }).toMatchObject({ code: 14 });
    expect(front.asked.length).toBe(before);
    const test = await place.run(['wallet'], { env: env(TEST_KEY, off) });
    expect({ code: test.code, err: test.err }).toMatchObject({ code: 0 });
    expect(test.err).toContain('the receiver of the key is not checked');
  });
});

it('the trap would have sprung', () => {
  execFileSync(join(trap, 'bin', 'git'), ['x'], { input: '' });
  expect(execFileSync('ls', [trap], { encoding: 'utf8' })).toContain(SPRUNG);
});
