/** A program that a command starts acts for the account of that command, or for none: never for another one. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWhole } from '../support/whole.ts';
import { type World, world } from '../support/world.ts';

const BEN = 'sk_test_key_of_ben_0123';
const KEEP = `sh -c 'env > env.txt'`;
const NAMES = ['API_KEY', 'API_KEY_FILE', 'BASE_URL', 'PROFILE', 'CONTRACT'].map(name => `CARDWRIGHT_${name}`);

/** Where the account of a run comes from; ben is the current profile, at the same address. */
type Source = readonly [
  string,
  { readonly options?: string; readonly env?: Record<string, string>; readonly terminal?: number },
];

describe('the account of a program', () => {
  let here: World;
  /** The built-in sandbox of `here`. */
  let own: World;
  let base: string;
  let ana: string;

  beforeAll(async () => {
    own = await world();
    const { socketPath = '', key, adminToken, deliver, honoursKeys } = own.sandbox;
    const stop = async () => undefined;
    const embedded = { socketPath, origin: 'http://localhost', key, adminToken, deliver, honoursKeys, stop };
    here = await world({ served: true, env: { CARDWRIGHT_PROFILE: '' }, openSandbox: async () => embedded });
    base = here.sandbox.url;
    ana = here.sandbox.key.expose();
    await writeFile(join(here.folder, 'ana.key'), ana, { mode: 0o600 });
    await writeFile(join(here.folder, 'own.json'), '{}');
    for (const [name, key] of [
      ['ana', ana],
      ['ben', BEN],
    ] as const) {
      const saved = await here.run(`login --profile ${name} --base-url ${base} --key-stdin`, { stdin: key });
      expect([saved.code, saved.err]).toEqual([0, '']);
    }
  });
  afterAll(async () => {
    await here[Symbol.asyncDispose]();
    await own[Symbol.asyncDispose]();
  });

  const sources = (): readonly Source[] => [
    ['--profile', { options: '--profile ana' }],
    [
      '--profile beside a key',
      { options: '--profile ana', env: { CARDWRIGHT_API_KEY: BEN, CARDWRIGHT_BASE_URL: 'http://127.0.0.1:9/v1' } },
    ],
    ['CARDWRIGHT_PROFILE', { env: { CARDWRIGHT_PROFILE: 'ana', CARDWRIGHT_BASE_URL: base } }],
    ['a key', { env: { CARDWRIGHT_API_KEY: ana, CARDWRIGHT_BASE_URL: base } }],
    ['a key file', { env: { CARDWRIGHT_API_KEY_FILE: join(here.folder, 'ana.key'), CARDWRIGHT_BASE_URL: base } }],
    [
      'a key, before CARDWRIGHT_PROFILE',
      { env: { CARDWRIGHT_PROFILE: 'ben', CARDWRIGHT_API_KEY: ana, CARDWRIGHT_BASE_URL: base } },
    ],
    [
      '--profile env',
      {
        options: '--profile env',
        env: { CARDWRIGHT_API_KEY_FILE: join(here.folder, 'ana.key'), CARDWRIGHT_BASE_URL: base },
      },
    ],
    ['--sandbox', { options: '--sandbox', env: { CARDWRIGHT_API_KEY: BEN, CARDWRIGHT_BASE_URL: base } }],
    ['--contract', { options: `--profile ana --contract ${join(here.folder, 'own.json')}` }],
  ];

  /** What `whoami` says of the command, and in the program it starts. */
  async function compared(line: string, { options = '', env = {}, terminal }: Source[1]) {
    await writeFile(join(here.folder, 'env.txt'), '');
    const told = { env, ...(terminal !== undefined && { terminal }) };
    const parent = await here.run(`whoami --json ${options}`, told);
    expect(parent.code).toBe(0);
    const { code, err } = await here.run(`${line} ${options} -- ${KEEP}`, { ...told, onPause: () => undefined });
    const lines = (await readFile(join(here.folder, 'env.txt'), 'utf8')).split('\n');
    const childs = Object.fromEntries(lines.map(each => [each.split('=', 1)[0], each.slice(each.indexOf('=') + 1)]));
    const child = await here.run('whoami --json', {
      env: Object.fromEntries(NAMES.map(name => [name, childs[name] ?? ''])),
    });
    const who = (text: string) => {
      const { profile, mode, base_url, key, key_source, contract } = JSON.parse(text);
      return { profile, mode, base_url, key, key_source, contract };
    };
    return { code, err, parent: who(parent.out), child, same: () => who(child.out), childs };
  }

  it('is the same for a program of webhooks listen', async () => {
    const given = [
      '--profile beside a key',
      'CARDWRIGHT_PROFILE',
      'a key, before CARDWRIGHT_PROFILE',
      '--profile env',
      '--contract',
    ];
    for (const [name, source] of sources().filter(([name]) => isWhole || given.includes(name))) {
      const ran = await compared('webhooks listen --wait-timeout 1s', source);
      expect([name, ran.code, ran.err]).toEqual([name, 0, expect.any(String)]);
      expect([name, ran.child.code, ran.child.err]).toEqual([name, 0, '']);
      expect([name, ran.same()]).toEqual([name, ran.parent]);
    }
  });

  it('is the same for a program with a card, which is given no key', async () => {
    const given = ['--profile', 'a key', 'a key file', '--sandbox'];
    for (const [name, source] of sources().filter(([name]) => isWhole || given.includes(name))) {
      const ran = await compared('cards lease --amount 5 --reveal --yes', source);
      expect([name, ran.code, ran.err.replace(/^warning: .*\n/gm, '')]).toEqual([name, 0, '']);
      const isOfEnvironment = ran.parent.profile === 'env';
      expect([name, ran.child.code]).toEqual([name, isOfEnvironment ? 4 : 0]);
      if (isOfEnvironment)
        expect(ran.child.err).toContain('the programs of cards exec and cards lease are not given them');
      else expect([name, ran.same()]).toEqual([name, ran.parent]);
      expect(JSON.stringify(ran.childs)).not.toContain(ana);
    }
  });
});
