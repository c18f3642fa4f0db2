/** Everything `npm run package` makes, each installed and run; and the steps of the workflow that publishes it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requires } from '../support/programs.ts';
import { ROOT } from './built.ts';
import { mainJob } from './main-job.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const built = join(ROOT, 'packaging', 'build');
const debian = join(built, `cardwright_${version}_amd64.deb`);
const folder = mkdtempSync(join(tmpdir(), 'cardwright-executable-'));
beforeAll(() => {
  execFileSync('npm', ['run', 'package'], { cwd: ROOT, stdio: 'ignore' });
}, 1_800_000);
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
    expect(manual.sort()).toEqual(readdirSync(join(ROOT, 'man')).sort());
    dpkg('--purge', 'cardwright');
    expect(readdirSync(root)).toEqual(['var']);
  });

  it.skipIf(requires('lintian'))('is clean for lintian', () => {
    // It leaves a file among temporary ones.
    const env = { ...process.env, TMPDIR: folder };
    const { stdout } = spawnSync('lintian', ['--fail-on', 'none', debian], { encoding: 'utf8', env });
    expect(stdout).toBe('');
  });
});

describe('the release', () => {
  const released = join(built, 'release');
  const tarball = `cardwright-${version}.tgz`;

  it('has a package for each way to install it, what is inside, and their sums', () => {
    const sums = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: released, encoding: 'utf8' });
    const named = sums.match(/^.+(?=: OK$)/gm);
    expect(named).toEqual([
      `cardwright-${version}-linux-x64.tar.xz`,
      `cardwright-${version}.cdx.json`,
      tarball,
      `cardwright_${version}_amd64.deb`,
    ]);
    expect(readdirSync(released).sort()).toEqual(['SHA256SUMS', ...(named ?? [])].sort());
  });

  it('is the executable in its archive, ready to run', () => {
    const place = mkdtempSync(join(folder, 'unpacked-'));
    execFileSync('tar', ['-xf', join(released, `cardwright-${version}-linux-x64.tar.xz`), '-C', place]);
    expect(readdirSync(place)).toEqual(['cardwright']);
    expect(run(join(place, 'cardwright'), ['--version']).stdout).toBe(`${version}\n`);
  });

  it('is installed by npm for a user, with its manual and without scripts', () => {
    const prefix = join(folder, 'prefix');
    const npm = (...words: string[]) =>
      // What the packages are called and hold is in npm's cache where they were installed before.
      execFileSync('npm', [...words, '--global', '--prefix', prefix, '--ignore-scripts', '--prefer-offline'], {
        cwd: folder,
        stdio: 'ignore',
      });
    npm('install', join(released, tarball));
    mainJob([process.execPath, join(prefix, 'bin', 'cardwright')]);
    expect(readdirSync(join(prefix, 'share', 'man', 'man1')).sort()).toEqual(readdirSync(join(ROOT, 'man')).sort());
    npm('uninstall', 'cardwright');
    expect(readdirSync(join(prefix, 'bin'))).toEqual([]);
    expect(readdirSync(join(prefix, 'lib', 'node_modules'))).toEqual([]);
  });
});
