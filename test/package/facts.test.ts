import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { home, ROOT } from './built.ts';

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
}

const manifest = read('package.json') as Manifest;
const lock = read('package-lock.json') as {
  readonly version: string;
  readonly packages: Readonly<Record<string, Locked>>;
};

describe('package.json', () => {
  it('says which Node it needs, as the shim does', () => {
    expect(manifest.engines).toEqual({ node: '>=20.19' });
    expect(readFileSync(join(ROOT, 'bin', 'cardwright.js'), 'utf8')).toContain('20.19');
  });

  it('pins every package to one version', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it('installs the SQLite package alone beside the bundle', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['@photostructure/sqlite']);
  });

  it('runs nothing of ours when it is installed from the registry', () => {
    for (const name of ['preinstall', 'install', 'postinstall']) expect(manifest.scripts[name]).toBeUndefined();
  });
});

describe('package-lock.json', () => {
  const entries = Object.entries(lock.packages).filter(([path]) => path !== '');

  it('is of this version and these packages', () => {
    expect(lock.version).toBe(manifest.version);
    for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
      expect(lock.packages[`node_modules/${name}`]?.version, name).toBe(version);
    }
  });

  it('has a checksum for every package and names no host', () => {
    expect(entries.length).toBeGreaterThan(20);
    expect(entries.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? '')).map(([path]) => path)).toEqual([]);
    expect(entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  });
});

describe('the packed package', () => {
  const ALLOWED = [
    /^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
    /^bin\/(?:cardwright\.js|package\.json)$/,
    /^dist\/(?:[\w-]+\.js|package\.json|notices\.txt)$/,
    // Code that V8 compiled at the build; other versions leave it alone.
    /^dist\/[\w-]+\.js\.[0-9a-f]{8}-[\w.-]+$/,
    /^completions\/[\w.-]+$/,
  ];

  it('holds what a user needs and nothing else', async () => {
    await using place = await home();
    const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: ROOT,
      env: { ...process.env, npm_config_cache: join(place.folder, 'npm'), npm_config_loglevel: 'silent' },
    });
    const [packed] = JSON.parse(stdout) as { files: { path: string }[] }[];
    const paths = packed?.files.map(({ path }) => path) ?? [];
    expect(paths.filter(path => !ALLOWED.some(allowed => allowed.test(path)))).toEqual([]);
    const needed = ['package.json', 'README.md', 'LICENSE', 'bin/cardwright.js', 'bin/package.json'];
    expect(paths).toEqual(expect.arrayContaining([...needed, 'dist/main.js', 'dist/package.json', 'dist/notices.txt']));
  });
});

describe('the shim', () => {
  it('reads on the first Node releases', () => {
    const text = readFileSync(join(ROOT, 'bin', 'cardwright.js'), 'utf8').replace(/\/\/.*$/gm, '');
    expect(text).not.toMatch(/\b(?:const|let|class|async|await|import)\b|=>|`|\?\.|\?\?|\*\*|\.\.\./);
  });

  it.each(['0.10.48', '18.20.4', '20.18.3'])('says on Node %s what is needed, with exit code 2', async old => {
    await using place = await home();
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${old}' } })`;
    const node = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
    const { code, out, err } = await place.run(['--version'], { node });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe(`error: cardwright needs Node 20.19 or newer, and this is ${old}\n`);
  });
});
