import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './built.ts';
import { mainJob } from './main-job.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const built = join(ROOT, 'packaging', 'build');
const debian = join(built, `cardwright_${version}_amd64.deb`);
const folder = mkdtempSync(join(tmpdir(), 'cardwright-executable-'));
beforeAll(() => {
  for (const script of ['executable.mjs', 'deb.mjs']) {
    execFileSync(process.execPath, [join(ROOT, 'packaging', script)], { stdio: 'ignore' });
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(program: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(program, words, {
    env: { PATH: '/usr/bin:/bin', CARDWRIGHT_CONFIG_DIR: join(folder, 'home'), ...env },
    input: '',
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('the single executable', () => {
  /** Away from the sources and from node_modules, which it must not need. */
  const program = join(folder, 'cardwright');
  beforeAll(() => execFileSync('cp', [join(built, 'cardwright'), program]));

  it('does the main job offline', () => mainJob([program]));

  it('answers as the package does', () => {
    const packaged = [join(ROOT, 'bin', 'cardwright.js')];
    for (const line of [
      '--version',
      '--help',
      'cards create --help',
      'commands --json',
      'nonsense',
      'contract openapi',
    ]) {
      const ours = run(program, line.split(' '));
      expect({ line, ...ours }).toEqual({ line, ...run(process.execPath, [...packaged, ...line.split(' ')]) });
    }
  });

  it('takes no options of Node from its surroundings', () => {
    writeFileSync(join(folder, 'preload.cjs'), 'process.stdout.write("preloaded\\n");');
    const { status, stdout } = run(program, ['--version'], {
      NODE_OPTIONS: `--require ${join(folder, 'preload.cjs')}`,
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${version}\n` });
  });
});

describe('the Debian package', () => {
  it('installs into a system, works there and leaves nothing behind', () => {
    const root = join(folder, 'root');
    for (const name of ['updates', 'info']) mkdirSync(join(root, 'var', 'lib', 'dpkg', name), { recursive: true });
    for (const name of ['status', 'available']) writeFileSync(join(root, 'var', 'lib', 'dpkg', name), '');
    // The root folder has no packages of its own; the libraries are those of this system.
    const how = [`--root=${root}`, '--force-not-root', '--force-depends', '--log=/dev/null'];
    const dpkg = (...words: string[]) =>
      execFileSync('dpkg', [...how, ...words], { stdio: ['ignore', 'pipe', 'ignore'] });
    dpkg('--install', debian);
    expect(dpkg('--verify', 'cardwright').toString()).toBe('');
    mainJob([join(root, 'usr', 'bin', 'cardwright')]);
    for (const [path, stub] of [
      ['bash-completion/completions/cardwright', 'cardwright.bash'],
      ['zsh/vendor-completions/_cardwright', '_cardwright'],
      ['fish/vendor_completions.d/cardwright.fish', 'cardwright.fish'],
    ] as const) {
      const installed = readFileSync(join(root, 'usr', 'share', path), 'utf8');
      expect(installed).toBe(readFileSync(join(ROOT, 'completions', stub), 'utf8'));
    }
    const manual = readdirSync(join(root, 'usr', 'share', 'man', 'man1'));
    expect(manual.sort()).toEqual(
      readdirSync(join(ROOT, 'man'))
        .map(name => `${name}.gz`)
        .sort(),
    );
    dpkg('--purge', 'cardwright');
    expect(readdirSync(root)).toEqual(['var']);
  });

  it('is the same from the same commit', () => {
    const first = readFileSync(debian);
    execFileSync(process.execPath, [join(ROOT, 'packaging', 'deb.mjs')], { stdio: 'ignore' });
    expect(readFileSync(debian).equals(first)).toBe(true);
  });

  const lintian = spawnSync('lintian', ['--version']).status === 0;
  it.runIf(lintian)('is clean for lintian', () => {
    const { stdout } = spawnSync('lintian', ['--fail-on', 'none', debian], { encoding: 'utf8' });
    expect(stdout).toBe('');
  });
});
