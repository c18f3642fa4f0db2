/** A home that is empty or relative, in a working folder that somebody else has filled: nothing of it is read or run. */
import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CODE_CACHE, ended, ROOT } from '../package/built.ts';

const SPRUNG = 'sprung';

/** Profiles whose key command leaves a trace, wherever a relative home could lead. */
async function layTraps(folder: string): Promise<void> {
  const script = join(folder, 'key.sh');
  await writeFile(script, `#!/bin/sh\ntouch ${folder}/${SPRUNG}\necho sk_test_0123456789abcdef\n`);
  await chmod(script, 0o700);
  const source = { base_url: 'http://127.0.0.1:9/', key_source: 'key_command', command: [script] };
  const profile = { ...source, mode: 'test', hint: 'sk_test_…cdef', settings: {} };
  const text = JSON.stringify({ version: 1, current: 'team', profiles: { team: profile } });
  for (const place of ['.config/cardwright', 'here/.config/cardwright', 'here/config', 'cardwright']) {
    await mkdir(join(folder, place), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, place, 'config.json'), text, { mode: 0o600 });
  }
}

test('exit 2 says so before anything is read; help needs no home', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-no-home-'));
  await layTraps(folder);
  const run = (env: Record<string, string>, words: readonly string[]) => {
    const program = join(ROOT, 'bin', 'cardwright.js');
    const all = { PATH: process.env['PATH'] ?? '', CARDWRIGHT_CACHE: CODE_CACHE, ...env };
    return ended(spawn(process.execPath, [program, ...words], { cwd: folder, env: all, stdio: 'pipe' }));
  };
  const before = await readdir(folder, { recursive: true });
  const homes: Record<string, string>[] = [
    { HOME: '' },
    { HOME: folder, CARDWRIGHT_CONFIG_DIR: 'here' },
    { HOME: '.', XDG_CONFIG_HOME: '.', XDG_STATE_HOME: folder },
  ];
  for (const env of homes) {
    const { code, err } = await run(env, ['cards', 'list']);
    expect({ env, code }).toEqual({ env, code: 2 });
    expect(err).toMatch(
      /(?:HOME|CARDWRIGHT_CONFIG_DIR) is (?:set and empty|(?:empty|"[^"]*"|\\"[^"]*\\"), (?:so|no absolute path))/,
    );
  }
  expect((await run({ HOME: '.' }, ['cards', '--help'])).code).toBe(0);
  expect((await run({ HOME: '.' }, ['completion', 'install', 'bash'])).code).toBe(2);
  expect((await readdir(folder, { recursive: true })).sort()).toEqual(before.sort());
  // A place of one's own is enough.
  const named = { HOME: '', CARDWRIGHT_CONFIG_DIR: join(folder, 'mine') };
  expect((await run(named, ['--sandbox', 'wallet', '--json'])).code).toBe(0);
  await rm(folder, { recursive: true });
});
