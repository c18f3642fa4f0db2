/**
 * The canary scan: the built program in child processes, against a service whose key, card number, code and signing
 * secret occur nowhere else in the world. Afterwards every byte it left is searched. Each story names the one place its
 * secret may be in. (The store of the built-in sandbox is the service's side and may hold numbers: no sandbox here.)
 * The whole run has more stories, and each command both ways.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CARD, json, type Seen, type Served, serve, WALLET } from '../client/served.ts';
import { ROOT } from '../package/built.ts';
import { unpack } from '../package/tarball.ts';
import { isWhole } from '../support/whole.ts';
import { world } from '../support/world.ts';
import { everyCommand } from './guard-cases.ts';
import { stopAfter } from './hostile-walk.ts';

const CANARIES = {
  key: 'sk_test_CANARYkey7f3e9d2c1b5a',
  number: '4000009471306822',
  cvv: '7391',
  code: '739146',
  secret: 'whsec_CANARYsecret0a1b2c3d4e5f',
  bearer: 'CANARYbearer00112233445566',
} as const;
type Canary = keyof typeof CANARIES;
const EVERY = Object.keys(CANARIES) as Canary[];

/** A short one counts only where it stands alone: digests and ids are full of digits. */
const FORMS: Readonly<Record<Canary, RegExp>> = {
  key: /CANARYkey7f3e9d2c1b5a/,
  number: /4000[ -]?0094[ -]?7130[ -]?6822/,
  cvv: /(?<![0-9A-Za-z.:_-])7391(?![0-9A-Za-z.:_-])/,
  code: /(?<![0-9A-Za-z])739146(?![0-9A-Za-z])/,
  secret: /CANARYsecret0a1b2c3d4e5f/,
  bearer: /CANARYbearer00112233445566/,
};

const held = (text: string): Canary[] => EVERY.filter(name => FORMS[name].test(text));

const DETAILS = { card_id: 'card_1', number: CANARIES.number, cvv: CANARIES.cvv, exp_month: 11, exp_year: 2029 };
const OWN = { ...CARD, last4: CANARIES.number.slice(-4) };
const CHALLENGE = {
  id: 'tds_1',
  card_id: 'card_1',
  merchant: 'Shop',
  amount: 5,
  otp: CANARIES.code,
  status: 'pending',
  expires_at: '2026-11-20T14:08:11Z',
};
/**
 * An error that quotes what the service knows. Not the code in a sentence: six digits that this process never met are a
 * number like any other, and SECURITY.md says so.
 */
const QUOTING = {
  error: 'validation_error',
  message: `card ${CANARIES.number} key ${CANARIES.key} with ${CANARIES.secret}`,
  details: {
    number: CANARIES.number,
    cvv: CANARIES.cvv,
    otp: CANARIES.code,
    authorization: `Bearer ${CANARIES.bearer}`,
  },
};

/** The card that every path shows, as the last one that was asked for, and the wallet that paid. */
let card: object = OWN;
let wallet = WALLET;

function answer({ method, url, body }: Seen, response: ServerResponse): void {
  const path = url.replace(/^\/v1/, '').replace(/\?.*/, '');
  if (path === '/cards/card_bad/details') {
    response.end(`{"card_id":"card_bad","pan_x":"${CANARIES.number}","cvv":"${CANARIES.cvv}`);
  } else if (path.includes('card_quote')) json(response, 400, QUOTING);
  else if (path.endsWith('/details')) json(response, 200, DETAILS);
  else if (path === '/wallet') json(response, 200, wallet);
  else if (path.startsWith('/3ds')) json(response, 200, { data: [CHALLENGE] });
  else if (path === '/webhooks' && method === 'POST') {
    json(response, 201, { id: 'wh_1', url: 'https://example.com/h', events: ['*'], secret: CANARIES.secret });
  } else if (path === '/cards' && method === 'GET') json(response, 200, { data: [card], page: 1, total: 1 });
  else if (path === '/transactions') json(response, 200, { data: [] });
  else if (path === '/cards') {
    const { amount, ...asked } = JSON.parse(body);
    card = { ...OWN, balance: amount, ...asked };
    wallet = { ...wallet, balance: wallet.balance - amount };
    json(response, 201, card);
  } else json(response, 200, card);
}

let service: Served;
let folder: string;

beforeAll(async () => {
  service = await serve(answer);
  folder = await mkdtemp(join(tmpdir(), 'cardwright-canary-'));
  for (const name of ['home', 'tmp', 'work']) await mkdir(join(folder, name));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

interface Story {
  readonly words: readonly string[];
  /** What may stand on standard output, because it was asked for. */
  readonly out?: readonly Canary[];
  readonly stdin?: string;
  /** Variables of the program; `key` puts the key there. */
  readonly env?: 'key';
}

interface Watched {
  readonly out: string;
  readonly err: string;
  readonly code: number | null;
  /** Argument lists of every process, and environments of ours, sampled while it ran. */
  readonly args: string;
  readonly environs: string;
}

/** The built program in a process of its own. */
async function run({ words, stdin, env }: Story): Promise<Watched> {
  const program = [join(ROOT, 'bin', 'cardwright.js'), ...words];
  const child = spawn(process.execPath, program, {
    cwd: join(folder, 'work'),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: join(folder, 'home'),
      TMPDIR: join(folder, 'tmp'),
      ...(env === 'key' && { CARDWRIGHT_BASE_URL: service.baseUrl }),
      ...(env === 'key' && { CARDWRIGHT_API_KEY: CANARIES.key }),
    },
  });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin ?? '');
  let running = true;
  const over = new Promise<number | null>(resolve =>
    child.on('close', code => {
      running = false;
      resolve(code);
    }),
  );
  const sampled = { args: '', environs: '' };
  const pids = new Set([child.pid ?? 0]);
  while (running) {
    sample(pids, env === 'key', sampled);
    await new Promise(resolve => setTimeout(resolve, 15));
  }
  return { out: String(Buffer.concat(out)), err: String(Buffer.concat(err)), code: await over, ...sampled };
}

/**
 * The program and every process it was seen to start. Reads at once: such files through the threads of the runtime cost more
 * than the program that is watched.
 */
function sample(pids: Set<number>, keyInEnvironment: boolean, into: { args: string; environs: string }): void {
  const [program] = [...pids].map(pid => readIfThere(`/proc/${pid}/cmdline`));
  // What is added meanwhile is looked at too.
  for (const pid of pids) {
    for (const each of readIfThere(`/proc/${pid}/task/${pid}/children`).match(/\d+/g) ?? []) pids.add(Number(each));
    const line = readIfThere(`/proc/${pid}/cmdline`);
    into.args += line;
    // The program itself got the key there from us; nobody it starts may have it, once that is no copy of it any more.
    if (line !== program || !keyInEnvironment) into.environs += readIfThere(`/proc/${pid}/environ`);
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Every file below the folder with what it holds. */
async function left(folder: string): Promise<Map<string, Canary[]>> {
  const found = new Map<string, Canary[]>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const canaries = held(await readFile(path, 'latin1'));
    if (canaries.length > 0) found.set(path.slice(folder.length + 1), canaries);
  }
  return found;
}

const EXEC = 'printf %s "$CARD_NUMBER" | wc -c';
/** A card to each place it may go to, an answer that quotes every secret, and a program that is handed one. */
const STORIES: readonly Story[] = [
  { words: ['cards', 'create', '--bin', 'bin_1', '--amount', '5', '--debug', '--json'] },
  { words: ['cards', 'details', 'card_1', '--reveal', '--print', '--debug'], out: ['number', 'cvv'] },
  { words: ['cards', 'details', 'card_1', '--reveal', '--out', 'chosen.json', '--debug'] },
  { words: ['cards', 'get', 'card_quote', '--json', '--debug'] },
  {
    words: ['cards', 'exec', 'card_1', '--reveal', '--', 'sh', '-c', 'env; sleep 0.1'],
    env: 'key',
    out: ['number', 'cvv'],
  },
];

/** Other words for what those show. */
const MORE_STORIES: readonly Story[] = [
  { words: ['3ds', 'list', '--json', '--debug'], out: ['code'] },
  {
    words: ['webhooks', 'create', '--url', 'https://example.com/h', '--event', '*', '--json', '--debug'],
    out: ['secret'],
  },
  { words: ['api', 'GET', '/cards/card_1/details', '--debug'] },
  { words: ['whoami', '--json', '--debug'] },
  { words: ['cards', 'details', 'card_bad', '--reveal', '--print', '--debug'] },
  { words: ['api', 'POST', '/cards/card_quote/boost', '-f', 'a=b', '--debug'] },
  { words: ['doctor', '--json'] },
  { words: ['cards', 'get', 'card_1', '--verbose'] },
  { words: ['cards', 'details', 'card_1', '--reveal', '--print', '--field', 'cvv', '--debug'], out: ['cvv'] },
  { words: ['cards', 'exec', 'card_1', '--reveal', '--debug', '--', 'sh', '-c', EXEC] },
  { words: ['cards', 'details', 'card_quote', '--reveal', '--print', '--debug'] },
  { words: ['cards', 'fund', 'card_quote', '--amount', '5', '--debug'] },
  {
    words: ['webhooks', 'create', '--url', 'https://example.com/h', '--event', '*', '--secret-stdin', '--dry-run'],
    stdin: CANARIES.secret,
  },
  { words: ['api', 'GET', '/3ds/challenges', '--paginate', '--json', '--debug'] },
  { words: ['audit', 'export'] },
  { words: ['wallet', '--debug', '--json'], env: 'key' },
  { words: ['whoami'] },
  { words: ['profiles', 'list', '--json'] },
  { words: ['wallet', '--debug'] },
  { words: ['cards', 'list', '--json', '--debug'] },
  { words: ['cards', 'create', '--bin', 'bin_1', '--amount', '5', '--dry-run'] },
  { words: ['cards', 'freeze', 'card_1', '--debug'] },
  { words: ['cards', 'details', 'card_1'] },
  { words: ['cards', 'details', 'card_1', '--reveal', '--print', '--json', '--debug'], out: ['number', 'cvv'] },
  { words: ['cards', 'details', 'card_bad', '--reveal', '--print', '--json'] },
  { words: ['3ds', 'list', '--debug'], out: ['code'] },
  { words: ['api', 'GET', '/other/details', '-i', '--debug'] },
  { words: ['api', 'POST', '/other/details', '-f', 'a=b', '--json', '--debug'] },
  { words: ['tx', 'list', '--debug'] },
  { words: ['ops', 'list', '--json'] },
  { words: ['audit', 'list', '--json'] },
];

/** Commands of the built-in sandbox and of the program itself never meet the service that tells the secrets, nor its key. */
const MEET_NO_SERVICE = /^(?:sandbox|help|completion|commands|schema|explain)\b/;

describe.runIf(process.platform === 'linux')('no byte outside the chosen place', () => {
  it('stays in streams, arguments, environments and files', async () => {
    const login = ['login', '--profile', 'team', '--base-url', service.baseUrl, '--key-stdin', '--debug'];
    const leaks: unknown[] = [];
    let seen = '';
    for (const story of [{ words: login, stdin: CANARIES.key }, ...STORIES, ...(isWhole ? MORE_STORIES : [])]) {
      const { out, err, args, environs } = await run(story);
      seen += args;
      const outside = held(out).filter(name => !story.out?.includes(name));
      const handed = story.words.includes('exec') ? held(environs).filter(name => name === 'key') : held(environs);
      const found = { out: outside, err: held(err), args: held(args), environs: handed };
      if (Object.values(found).some(names => names.length > 0))
        leaks.push({ words: story.words.join(' '), found, err });
      for (const name of story.out ?? [])
        expect([story.words, held(out)]).toEqual([story.words, expect.arrayContaining([name])]);
    }
    expect(leaks).toEqual([]);
    // What a program of a program was started with was looked at too.
    expect(seen).toContain('sleep\u00000.1\u0000');
    const chosen = await left(folder);
    expect(chosen.get('work/chosen.json')).toEqual(['number', 'cvv']);
    expect(
      [...chosen]
        .filter(([path]) => path !== 'work/chosen.json')
        .map(([path, names]) => [path.split('/').at(-1), names]),
    ).toEqual([['config.json', ['key']]]);
    expect((await run({ words: ['logout', '--profile', 'team', '--yes'] })).code).toBe(0);
    expect([...(await left(folder)).keys()]).toEqual(['work/chosen.json']);
  }, 120_000);

  it('a key on the command line, which no option takes, is repeated by no message', async () => {
    const { key } = CANARIES;
    const { out, err } = await run({ words: ['wallet', '--json', `--api-key=${key}`], stdin: key });
    expect([held(out), held(err)]).toEqual([[], []]);
    await using here = await world();
    for (const line of [
      `wallet --api-key ${key}`,
      `wallet --key=${key}`,
      `wallet ${key}`,
      key,
      `cards ${key}`,
      `cards create --bin bin_1 --amount ${key}`,
      `cards details card_1 --field ${key}`,
      `--profile ${key} wallet`,
      `--sandbox wallet --contract ${key}`,
      `-o ${key} wallet`,
      `login --base-url https://${key}@api.example.com/v1 --key-stdin`,
      `profiles show ${key}`,
      `webhooks verify ${key}`,
    ]) {
      const { out, err } = await here.run(line, { stdin: key });
      expect([line, held(out), held(err)]).toEqual([line, [], []]);
    }
  });

  it('every command that meets the service keeps them, one with --debug and the next as data', async () => {
    await using here = await world({ env: { CARDWRIGHT_PROFILE: '' } });
    const login = `login --profile team --base-url ${service.baseUrl} --key-stdin`;
    expect((await here.run(login, { stdin: CANARIES.key })).code).toBe(0);
    const leaks: unknown[] = [];
    // What changes the profile is told elsewhere, and so are programs of others.
    const cases = (await everyCommand()).filter(
      ({ command }) => !/^(?:login|logout|profiles)/.test(command.path) && !MEET_NO_SERVICE.test(command.path),
    );
    for (const [nth, { command, line }] of cases.filter(({ command }) => !command.rest).entries()) {
      const way = command.operation === 'cards.details' ? ' --reveal' : ' --yes';
      for (const look of [' --debug', ' --json'].filter((_, each) => isWhole || each === nth % 2)) {
        const asked = `${line}${way}${look}`;
        const { done, ...stopping } = stopAfter(1_000);
        const { out, err } = await here.run(asked, { ...stopping, stdin: CANARIES.secret }).finally(done);
        const asks = command.path.startsWith('3ds')
          ? 'code'
          : command.path === 'webhooks create'
            ? 'secret'
            : undefined;
        const outside = held(out).filter(name => name !== asks);
        if (outside.length > 0 || held(err).length > 0) leaks.push({ asked, outside, err });
      }
    }
    expect(leaks).toEqual([]);
    const files = [...(await left(here.folder))].map(([path, names]) => [path.split('/').at(-1), names]);
    expect(files).toEqual([['config.json', ['key']]]);
  }, 120_000);

  it('the service saw the key in one header alone', () => {
    for (const { url, body, headers } of service.seen) {
      const { authorization, ...others } = headers;
      expect(held(`${url}${body}${JSON.stringify(others)}`).filter(name => name !== 'secret')).toEqual([]);
      expect(authorization).toBe(`Bearer ${CANARIES.key}`);
    }
  });

  it('the package holds none of it, and nothing of a user', async () => {
    const packed = await mkdtemp(join(tmpdir(), 'cardwright-packed-'));
    await unpack(packed);
    const inside = await readdir(join(packed, 'package'), { recursive: true, withFileTypes: true });
    const files = inside.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) {
      const path = file.slice(join(packed, 'package').length + 1);
      expect(path).toMatch(
        /^(?:bin|dist|completions|man|skills|docs|examples)\/|^(?:package\.json|(?:README|CHANGELOG|SECURITY)\.md|action\.yml|llms\.txt|LICENSE)$/,
      );
      expect([path, held(await readFile(file, 'latin1'))]).toEqual([path, []]);
    }
    await rm(packed, { recursive: true });
  });
});
