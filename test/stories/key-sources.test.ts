/** Where a key may come from, and what is told about it (docs/design/cli.md, "Keys and profiles"). */
import { chmod, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import type { Keychain } from '../../src/profile/keychain.ts';
import { type World, world } from '../support/world.ts';

const KEY = 'sk_test_9c1e77aa03d24bfe';
const NO_PROFILE = { CARDWRIGHT_PROFILE: '' };
const ADDRESS = '--base-url https://service.invalid/v1';

async function holding(here: World, secret: string): Promise<string[]> {
  const found = await readdir(here.folder, { recursive: true, withFileTypes: true });
  const files = found.filter(one => one.isFile()).map(one => join(one.parentPath, one.name));
  const texts = await Promise.all(files.map(async path => [path, await readFile(path, 'utf8')] as const));
  return texts.filter(([, text]) => text.includes(secret)).map(([path]) => path);
}

const whoami = async (here: World, env = {}) =>
  JSON.parse((await here.run('whoami --json', { env })).out) as Record<string, string>;

test('a key file is read each time and never copied', async () => {
  await using here = await world({ env: NO_PROFILE });
  const file = join(here.folder, 'team.key');
  await writeFile(file, `${KEY}\n`, { mode: 0o600 });
  const { code, all } = await here.run(`login --profile team ${ADDRESS} --key-file team.key`);
  expect({ code, shown: all.includes(KEY) }).toEqual({ code: 0, shown: false });
  expect(await holding(here, KEY)).toEqual([file]);
  expect(await whoami(here)).toMatchObject({ key_source: 'key_file', key_home: `the key file ${file}`, mode: 'test' });
  await writeFile(file, 'sk_live_51f0c2d89ab34e67\n');
  expect((await here.run('wallet --timeout 2s')).code).toBe(14);
  await chmod(file, 0o644);
  expect((await here.run('wallet --timeout 2s')).code).toBe(14);
});

test('a key command runs without a shell, by its absolute path, without our variables', async () => {
  await using here = await world({ env: NO_PROFILE });
  const program = join(here.folder, 'pass');
  await writeFile(program, `#!/bin/sh\nenv > '${here.folder}/env'\necho "$*" > '${here.folder}/args'\necho ${KEY}\n`);
  await chmod(program, 0o755);
  const env = { PATH: process.env['PATH'], CARDWRIGHT_SANDBOX_TOKEN: 'CANARYTOKEN' };
  const line = `login --profile team ${ADDRESS} --key-command -- ${program} show 'cards/a b' --quiet`;
  const { code, all } = await here.run(line, { env });
  expect({ code, all }).toMatchObject({ code: 0 });
  expect(await readFile(join(here.folder, 'args'), 'utf8')).toBe('show cards/a b --quiet\n');
  expect(await readFile(join(here.folder, 'env'), 'utf8')).not.toContain('CARDWRIGHT_');
  expect(await whoami(here)).toMatchObject({ key_source: 'key_command', key_home: `told by ${program}` });
  expect((await here.run(`login ${ADDRESS} --key-command -- pass show`)).code).toBe(2);
  expect((await here.run(`login ${ADDRESS} --key-command`)).code).toBe(2);
  expect((await here.run(`login ${ADDRESS} --key-stdin -- pass`, { stdin: KEY })).code).toBe(2);
  expect((await here.run(`login ${ADDRESS} --key-stdin --key-file x`, { stdin: KEY })).code).toBe(2);
});

/** A keychain in memory, with one way to fail. */
function keychainOf(
  kept: Map<string, string>,
  fails: Partial<Record<'problem' | 'write' | 'remove', string>> = {},
): Keychain {
  return {
    problem: async () => fails.problem,
    async read(account) {
      const text = kept.get(account);
      return text === undefined ? undefined : new Secret(text);
    },
    async write(account, key) {
      kept.set(account, key.expose());
      return fails.write;
    },
    async remove(account) {
      if (fails.remove === undefined) kept.delete(account);
      return fails.remove;
    },
  };
}

describe('the keychain', () => {
  const login = `login --profile team ${ADDRESS} --key-stdin --keychain`;

  test('keeps the key instead of a file, and gives it back at logout', async () => {
    await using here = await world({ env: NO_PROFILE });
    const kept = new Map<string, string>();
    const keychain = keychainOf(kept);
    const { code, err } = await here.run(login, { stdin: KEY, keychain });
    expect({ code, err }).toMatchObject({ code: 0 });
    expect([...kept.values()]).toEqual([KEY]);
    expect(await holding(here, KEY)).toEqual([]);
    expect(await whoami(here)).toMatchObject({ key_source: 'keychain', key: 'sk_test_…4bfe', mode: 'test' });
    expect((await here.run('wallet --timeout 2s', { keychain })).code).toBe(12);
    expect((await here.run('logout --yes', { keychain })).code).toBe(0);
    expect(kept.size).toBe(0);
  });

  test('that fails half-way is cleaned, or its leftover is named, and nothing is saved', async () => {
    for (const [remove, said] of [
      [undefined, 'did not keep the key'],
      ['refused', 'A copy may be left in the keychain as team@'],
    ] as const) {
      await using here = await world({ env: NO_PROFILE });
      const kept = new Map<string, string>();
      const keychain = keychainOf(kept, { write: 'refused', ...(remove && { remove }) });
      const { code, err } = await here.run(login, { stdin: KEY, keychain });
      expect(code).toBe(14);
      expect(err).toContain(said);
      expect(await holding(here, KEY)).toEqual([]);
      expect(kept.size).toBe(remove === undefined ? 0 : 1);
    }
  });

  test.each(['logout --yes', 'profiles remove team --yes'])(
    'that keeps the key at %s makes it fail, and say where',
    async line => {
      await using here = await world({ env: NO_PROFILE });
      const kept = new Map<string, string>();
      expect((await here.run(login, { stdin: KEY, keychain: keychainOf(kept) })).code).toBe(0);
      const keychain = keychainOf(kept, { remove: 'the keychain did not answer within 3 s' });
      const { code, err, out } = await here.run(line, { keychain });
      expect({ code, out }).toMatchObject({ code: 15 });
      expect(err).toContain('team is removed, and its key may still be in the keychain of this system as team@');
      expect(err).toContain('did not answer within 3 s');
      expect(`${out}${err}`).not.toContain('deleted from this machine');
      expect((await here.run('profiles list')).out).not.toContain('team');
    },
  );
});

describe('bad input', () => {
  test('what is no key is refused, not repeated, not kept and not sent', async () => {
    await using here = await world({ env: NO_PROFILE });
    const file = join(here.folder, 'bad.key');
    const base = { CARDWRIGHT_BASE_URL: 'https://service.invalid/v1' };
    for (const text of [
      'pk_test_9c1e77aa03d24bfe',
      'sk_test_9c1e77aa 03d24bfe',
      ' sk_test_9c1e77aa03d24bfe',
      'sk_test_9c1e77aa\r\nX-Evil: 1',
      'sk_test_9c1e77aa03d24bfe\nsk_test_9c1e77aa03d24bfe',
      'sk_test_9c1e77aa03d24bf\u00e9',
      'sk_test_9c1e77aa\u200b03d24bfe',
      'sk_test_9c1e77aa\u000003d24bfe',
      'sk_test_',
      '\n',
    ]) {
      await writeFile(file, text, { mode: 0o600 });
      const runs = [
        await here.run(`login ${ADDRESS} --key-stdin`, { stdin: text }),
        await here.run(`login ${ADDRESS} --key-file bad.key`),
        await here.run('wallet --debug', { env: { ...base, CARDWRIGHT_API_KEY_FILE: file } }),
      ];
      const inVariable = { ...base, CARDWRIGHT_API_KEY: text };
      if (!text.includes('\0')) runs.push(await here.run('wallet --debug', { env: inVariable }));
      for (const { code, all } of runs) {
        expect([text, code]).toEqual([text, 2]);
        if (text.length > 10) expect(all).not.toContain(text.slice(-6));
      }
      if (text.length > 10) expect(await holding(here, text)).toEqual([file]);
    }
  });

  test('a profile name that is a path, a word of ours or too long is refused', async () => {
    await using here = await world({ env: NO_PROFILE });
    for (const name of ['../x', 'a/b', '/etc/passwd', 'a.b', '__proto__', 'A', 'x'.repeat(33), 'env', 'sandbox']) {
      const ran = await here.run(`login --profile '${name}' ${ADDRESS} --key-stdin`, { stdin: KEY });
      expect({ name, code: ran.code }).toEqual({ name, code: 2 });
    }
    expect(await holding(here, KEY)).toEqual([]);
  });

  test('a symlinked configuration is refused and its target untouched; a group-writable one is repaired aloud', async () => {
    await using here = await world({ env: NO_PROFILE });
    const file = join(here.folder, 'config', 'config.json');
    await here.run(`login --profile team ${ADDRESS} --key-stdin`, { stdin: KEY });
    await chmod(file, 0o660);
    const { err } = await here.run('whoami');
    expect(err).toContain('was open to other users');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await using other = await world({ env: NO_PROFILE });
    await symlink(join(here.folder, 'config'), join(other.folder, 'config'));
    const before = await readFile(file, 'utf8');
    expect((await other.run('whoami')).code).toBe(14);
    expect((await other.run(`login ${ADDRESS} --key-stdin`, { stdin: KEY })).code).toBe(14);
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  test('nothing is read from the working folder', async () => {
    await using here = await world({ env: NO_PROFILE });
    const hostile = { current: 'evil', version: 1, profiles: {} };
    for (const name of ['config.json', '.cardwrightrc', 'cardwright.json', '.env', '.npmrc', 'package.json']) {
      await writeFile(join(here.folder, name), JSON.stringify(hostile));
    }
    expect((await here.run('wallet')).code).toBe(4);
  });
});
