/**
 * The built program where somebody laid traps: a working folder, a PATH, proxies, certificates
 * (docs/design/security.md, E7 to E9, E17, E18). What is in the traps writes a file when it runs; reading them shows
 * in the system calls.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningSandbox, startSandbox } from '../../src/sandbox/serving/start.ts';
import { json, listen, type Served, serve, WALLET } from '../client/served.ts';
import { CODE_CACHE, ended, type Home, home, ROOT } from '../package/built.ts';
import { LIVE_ADDRESS, type LiveFront, liveFront } from '../support/live-front.ts';
import { requires } from '../support/programs.ts';
import { isWhole } from '../support/whole.ts';

const TEST_KEY = 'sk_test_9c1e77aa03d24bfe';
const LIVE_KEY = 'sk_live_51f0c2d89ab34e67';

let place: Home;
let trap: string;
let card: string;

beforeAll(async () => {
  place = await home();
  trap = await mkdtemp(join(tmpdir(), 'cardwright-trap-'));
  card = (await place.run(['--sandbox', 'cards', 'create', '--bin', 'auto', '--amount', '5', '-q'])).out.trim();
});
afterAll(async () => {
  await place[Symbol.asyncDispose]();
  await rm(trap, { recursive: true, force: true });
});

const SPRUNG = 'sprung';
/** Files that tools of this kind read in a working folder, and packages that Node would find there. */
async function layTraps(): Promise<void> {
  const evil = JSON.stringify({
    current: 'evil',
    api_key: LIVE_KEY,
    base_url: 'https://evil.invalid/v1',
    profiles: {},
  });
  const names = ['config.json', '.cardwrightrc', '.cardwright.json', 'cardwright.json', 'cardwright.config.json'];
  for (const name of [...names, 'node.config.json']) await writeFile(join(trap, name), evil);
  const env = `CARDWRIGHT_API_KEY=${LIVE_KEY}\nCARDWRIGHT_BASE_URL=https://evil.invalid/v1\n`;
  for (const name of ['.env', '.env.local', '.envrc', '.npmrc']) await writeFile(join(trap, name), env);
  const code = `require('node:fs').writeFileSync(${JSON.stringify(join(trap, SPRUNG))}, __filename);`;
  await writeFile(join(trap, 'cardwright.config.js'), code);
  await writeFile(join(trap, 'package.json'), JSON.stringify({ name: 'evil', cardwright: { profile: 'evil' } }));
  for (const name of ['conf', 'undici', 'commander', '@napi-rs/keyring', '@photostructure/sqlite', 'yaml', 'jq-web']) {
    await mkdir(join(trap, 'node_modules', name), { recursive: true });
    await writeFile(join(trap, 'node_modules', name, 'index.js'), code);
  }
  const program = `#!/bin/sh\necho "$0 $*" >> '${join(trap, SPRUNG)}'\ncat\n`;
  await mkdir(join(trap, 'bin'));
  for (const name of [
    'xclip',
    'xsel',
    'wl-copy',
    'wl-paste',
    'pbcopy',
    'pbpaste',
    'node',
    'sh',
    'stty',
    'git',
    'pass',
  ]) {
    for (const path of [join(trap, name), join(trap, 'bin', name)]) {
      await writeFile(path, program);
      await chmod(path, 0o755);
    }
  }
}

/** Parts of the program that read a file, start another program, or reach for the clipboard and the keychain; `npm test` runs the first two. */
const LINES = [
  ['--sandbox', 'cards', 'details', 'CARD', '--reveal', '--copy', 'number'],
  ['login', '--profile', 'team', '--base-url', 'https://api.example.com/v1', '--key-command', '--', 'pass', 'show'],
  ['--sandbox', 'cards', 'list', '-o', 'csv'],
  ['login', '--profile', 'team', '--base-url', 'https://api.example.com/v1', '--keychain', '--key-stdin'],
  ['whoami'],
  ['doctor', '--sandbox'],
  ['--sandbox', 'cards', 'list'],
  ['--sandbox', 'cards', 'details', 'CARD', '--reveal', '--print', '--field', 'expiry'],
  ['--sandbox', 'cards', 'exec', 'CARD', '--reveal', '--', 'true'],
  ['profiles', 'list'],
] as const;

describe('a working folder and a PATH full of traps', () => {
  it('change no answer, and nothing in them runs', async () => {
    await layTraps();
    const elsewhere = await mkdtemp(join(tmpdir(), 'cardwright-plain-'));
    const run = (cwd: string, words: readonly string[], path: string) =>
      ended(
        place.start(
          words.map(word => (word === 'CARD' ? card : word)),
          { cwd, env: { PATH: path, DISPLAY: ':99', CARDWRIGHT_CONFIG_DIR: place.folder, NO_COLOR: '1' } },
        ),
        TEST_KEY,
      );
    const usual = process.env['PATH'] ?? '';
    for (const words of isWhole ? LINES : LINES.slice(0, 2)) {
      const plain = await run(elsewhere, words, usual);
      const trapped = await run(trap, words, `:.:${usual}:bin`);
      expect({ words, code: trapped.code }).toEqual({ words, code: plain.code });
      expect({ words, err: trapped.err.includes('evil') }).toEqual({ words, err: false });
    }
    expect(await readdir(trap)).not.toContain(SPRUNG);
    await rm(elsewhere, { recursive: true });
  });

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
