import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type World, world } from '../support/world.ts';

const KEY = 'sk_test_9c1e77aa03d24bfe';
const NO_PROFILE = { CARDWRIGHT_PROFILE: '' };

/** Every file below the folder of a world, with its text. */
async function files(here: World): Promise<Map<string, string>> {
  const found = await readdir(here.folder, { recursive: true, withFileTypes: true });
  const texts = new Map<string, string>();
  for (const entry of found.filter(one => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    texts.set(path, await readFile(path, 'utf8'));
  }
  return texts;
}

const holding = (texts: Map<string, string>, secret: string) =>
  [...texts].filter(([, text]) => text.includes(secret)).map(([path]) => path);

function login(here: World, { name = 'team', key = KEY } = {}) {
  const line = `login --profile ${name} --base-url https://service.invalid/v1 --key-stdin`;
  return here.run(line, { stdin: `${key}\n`, env: NO_PROFILE });
}

describe('a saved key', () => {
  test('is in one file that only its owner reads, and nowhere after logout', async () => {
    await using here = await world({ env: NO_PROFILE });
    const done = await login(here);
    expect(done.code).toBe(0);
    expect(done.all).not.toContain(KEY);
    const [path = '', ...others] = holding(await files(here), KEY);
    expect(others).toEqual([]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
    for (const line of [
      'whoami',
      'profiles show team',
      'profiles list --json',
      'profiles set team max_cards 3',
      'whoami --debug',
    ]) {
      expect((await here.run(line)).all).not.toContain(KEY);
    }
    expect((await here.run('logout --yes')).code).toBe(0);
    expect(holding(await files(here), KEY)).toEqual([]);
    expect((await here.run('wallet')).code).toBe(4);
  });
});
