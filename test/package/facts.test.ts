import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { publint } from 'publint';
import { beforeAll, describe, expect, it } from 'vitest';
import { home, ROOT } from './built.ts';
import { type Packed, packed } from './tarball.ts';

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly keywords: readonly string[];
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

  it('has the HTTP client without its known holes: 7.24.0 at least (CVE-2026-1525)', () => {
    const [major = 0, minor = 0] = (lock.packages['node_modules/undici']?.version ?? '').split('.').map(Number);
    expect(major * 1000 + minor).toBeGreaterThanOrEqual(7024);
  });

  it('has a checksum for every package and names no host', () => {
    expect(entries.length).toBeGreaterThan(20);
    expect(entries.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? '')).map(([path]) => path)).toEqual([]);
    expect(entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  });
});

describe('the packed package', () => {
  let tarball: Packed;
  beforeAll(async () => {
    tarball = await packed();
  });

  it('holds what the committed list says, with nothing that another build would name otherwise', async () => {
    const names = tarball.files.map(({ path, mode }) => `${(mode & 0o777).toString(8)} ${path}\n`);
    await expect(names.sort().join('')).toMatchFileSnapshot('packed.txt');
  });

  it('holds what its pages link to, and the pages of CI that the README names', async () => {
    const there = new Set(tarball.files.map(({ path }) => path));
    const pages = [...there].filter(path => /\.md$|^llms\.txt$/.test(path));
    const dead = pages.flatMap(page => {
      const links = readFileSync(join(ROOT, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g);
      return [...links]
        .map(([, target = '']) => join(dirname(page), target))
        .filter(target => !there.has(target))
        .map(target => `${page} -> ${target}`);
    });
    expect(pages).toContain('llms.txt');
    expect(dead).toEqual([]);
    expect([...there]).toEqual(expect.arrayContaining(['docs/CI.md', 'docs/testing.md', 'action.yml']));
  });

  it('has at most 5.9 MB beside WebAssembly (docs/decisions/0028-package-size.md)', () => {
    const counted = tarball.files.filter(({ path }) => !path.endsWith('.wasm'));
    expect(counted.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(5_900_000);
  });

  it('is what publint would have it be', async () => {
    const bytes = await readFile(tarball.path);
    const { messages } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true });
    expect(messages).toEqual([]);
  });
});

describe('the shim', () => {
  it('reads on the first Node releases', () => {
    const text = readFileSync(join(ROOT, 'bin', 'cardwright.js'), 'utf8').replace(/\/\/.*$/gm, '');
    expect(text).not.toMatch(/\b(?:const|let|class|async|await|import)\b|=>|`|\?\.|\?\?|\*\*|\.\.\./);
  });

  it.each(['20.18.3'])('says on Node %s what is needed, with exit code 2', async old => {
    await using place = await home();
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${old}' } })`;
    const node = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
    const { code, out, err } = await place.run(['--version'], { node });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe(`error: cardwright needs Node 20.19 or newer, and this is ${old}\n`);
  });
});
