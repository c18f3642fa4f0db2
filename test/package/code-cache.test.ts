/** Where compiled code is kept, and when it is not used. */
import { readFileSync } from 'node:fs';
import { chmod, chown, lstat, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { isWhole } from '../support/whole.ts';
import { home, ROOT } from './built.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };

/** A home whose compiled code is in it and nowhere else. */
async function alone() {
  const place = await home();
  const cache = join(place.folder, 'cache');
  const run = (...words: readonly string[]) => place.run(words, { env: { CARDWRIGHT_CACHE: cache } });
  await run('--version');
  const { folder, files } = await kept(cache);
  const path = join(folder, files[0] ?? '');
  return {
    ...place,
    ...{ cache, run, folder, files, path },
    /** Whether a run took what is there; one that did not writes it anew. */
    async isUsed(): Promise<boolean> {
      const before = await lstat(path);
      const { code, out, err } = await run('--version');
      expect({ code, out, err }).toEqual({ code: 0, out: `${version}\n`, err: '' });
      return (await lstat(path)).ino === before.ino;
    },
  };
}

/** The folder of this build, and the files in it. */
async function kept(cache: string) {
  const [build = ''] = await readdir(join(cache, 'code'));
  const folder = join(cache, 'code', build);
  return { folder, files: await readdir(folder) };
}

const half = (bytes: Buffer) => bytes.length >> 1;
function turned(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

const SPOILT: readonly ((bytes: Buffer) => Buffer)[] = [
  bytes => bytes.subarray(0, half(bytes)),
  bytes => turned(bytes, half(bytes) - 500),
  ...(isWhole
    ? [(bytes: Buffer) => turned(bytes, bytes.length - 500), () => Buffer.alloc(0), (bytes: Buffer) => turned(bytes, 5)]
    : []),
];

describe('compiled code', () => {
  it('is kept once a command, privately, and used by the next run of it', async () => {
    await using place = await alone();
    expect(place.files).toHaveLength(1);
    expect((await lstat(place.folder)).mode & 0o777).toBe(0o700);
    expect((await lstat(place.path)).mode & 0o777).toBe(0o600);
    expect(await place.isUsed()).toBe(true);
    await place.run('--help');
    expect((await kept(place.cache)).files).toHaveLength(2);
    await place.run('--sandbox', 'doctor');
    const { out } = await place.run('--sandbox', 'doctor');
    expect(out).toContain(`code cache\tok\t${place.folder}; in use`);
  });

  it('is not used when it is spoilt, and written anew; its names have no word of the user', async () => {
    await using place = await alone();
    for (const spoil of SPOILT) {
      await writeFile(place.path, spoil(await readFile(place.path)));
      expect([String(spoil), await place.isUsed()]).toEqual([String(spoil), false]);
    }
    expect(await place.isUsed()).toBe(true);
    await place.run('private-word', '--label', 'x');
    for (const file of (await kept(place.cache)).files) expect(file).toMatch(/^[0-9a-f]{1,8}\.code$/);
  });

  it('is not used when it is a link, of a mode that others may write, or of another user', async () => {
    await using place = await alone();
    const { path, isUsed } = place;
    await chmod(path, 0o622);
    expect(await isUsed()).toBe(false);
    await rename(path, join(place.folder, 'elsewhere'));
    await symlink(join(place.folder, 'elsewhere'), path);
    expect(await isUsed()).toBe(false);
    if (process.getuid?.() !== 0) return;
    await chown(path, 65_534, 65_534);
    expect(await isUsed()).toBe(false);
  });
});
