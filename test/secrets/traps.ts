/** A working folder and a PATH full of traps, and the same answers among them as elsewhere. */
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect } from 'vitest';
import { ended, type Home, home } from '../package/built.ts';

export const TEST_KEY = 'sk_test_9c1e77aa03d24bfe';
export const LIVE_KEY = 'sk_live_51f0c2d89ab34e67';

export let place: Home;
export let trap: string;
let card: string;

/** A home with a card, and a folder for the traps, for the tests of this file. */
export function withTrap(): void {
  beforeAll(async () => {
    place = await home();
    trap = await mkdtemp(join(tmpdir(), 'cardwright-trap-'));
    card = (await place.run(['--sandbox', 'cards', 'create', '--bin', 'auto', '--amount', '5', '-q'])).out.trim();
  });
  afterAll(async () => {
    await place[Symbol.asyncDispose]();
    await rm(trap, { recursive: true, force: true });
  });
}

export const SPRUNG = 'sprung';
/** Files that tools of this kind read in a working folder, and packages that Node would find there. */
export async function layTraps(): Promise<void> {
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
export const LINES = [
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

/** Among the traps each line ends as it does elsewhere, and nothing in them runs. */
export async function changeNoAnswer(lines: readonly (readonly string[])[]): Promise<void> {
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
  for (const words of lines) {
    const plain = await run(elsewhere, words, usual);
    const trapped = await run(trap, words, `:.:${usual}:bin`);
    expect({ words, code: trapped.code }).toEqual({ words, code: plain.code });
    expect({ words, err: trapped.err.includes('evil') }).toEqual({ words, err: false });
  }
  expect(await readdir(trap)).not.toContain(SPRUNG);
  await rm(elsewhere, { recursive: true });
}
