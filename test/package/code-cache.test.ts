/** Where compiled code is kept, and when it is not used; `code-cache.full.ts` spoils it in more ways. */
import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { home } from './built.ts';
import { alone, kept, notUsedWhenSpoilt, SHARPEST } from './code-cache.ts';

async function inode(path: string): Promise<number> {
  return (await lstat(path)).ino;
}

describe('compiled code', () => {
  it('is kept once, privately, and used by the next run', async () => {
    await using place = await alone();
    await place.version();
    const { folder, files } = await kept(place.cache);
    expect(files).toEqual(['start.js.code']);
    expect((await lstat(folder)).mode & 0o777).toBe(0o700);
    const path = join(folder, 'start.js.code');
    expect((await lstat(path)).mode & 0o777).toBe(0o600);
    const before = await inode(path);
    await place.version();
    expect(await inode(path)).toBe(before);
    const env = { CARDWRIGHT_CACHE: place.cache };
    await place.run(['--sandbox', 'doctor'], { env });
    const { out } = await place.run(['--sandbox', 'doctor'], { env });
    expect(out).toContain(`code cache\tok\t${folder}; in use`);
  });

  it('holds words of the program and none of the user', async () => {
    await using place = await alone();
    const env = { CARDWRIGHT_CACHE: place.cache };
    await place.run(['--sandbox', 'cards', 'get', 'card_private'], { env });
    const { folder } = await kept(place.cache);
    expect(await readFile(join(folder, 'lines'), 'latin1')).toBe('\n--sandbox cards get\n');
  });

  notUsedWhenSpoilt(SHARPEST);

  it('is not used when it is a link, of a mode that others may write, or of another user', async () => {
    await using place = await alone();
    const version = await place.version();
    const { folder } = await kept(place.cache);
    const path = join(folder, 'start.js.code');
    const usedBy = async () => {
      expect(await place.version()).toBe(version);
      const { out } = await place.run(['--sandbox', 'doctor'], { env: { CARDWRIGHT_CACHE: place.cache } });
      return /in use/.test(out);
    };
    await writeFile(join(folder, 'lines'), '\n--version\n\n--sandbox doctor\n');
    expect(await usedBy()).toBe(true);
    await chmod(path, 0o622);
    expect(await usedBy()).toBe(false);
    await chmod(path, 0o600);
    await rename(path, join(place.folder, 'elsewhere'));
    await symlink(join(place.folder, 'elsewhere'), path);
    expect(await usedBy()).toBe(false);
    if (process.getuid?.() !== 0) return;
    await rm(path);
    await rename(join(place.folder, 'elsewhere'), path);
    expect(await usedBy()).toBe(true);
    await chown(path, 65_534, 65_534);
    expect(await usedBy()).toBe(false);
  });

  it('is not kept when it is off, when there is no folder to keep it in, and in a folder of another user', async () => {
    await using place = await home();
    const run = async (cache: string) => {
      const { code, err } = await place.run(['--version'], { env: { CARDWRIGHT_CACHE: cache } });
      expect({ code, err }).toEqual({ code: 0, err: '' });
    };
    await run('off');
    await run('somewhere');
    await run('/proc/nowhere');
    await writeFile(join(place.folder, 'file'), '');
    await run(join(place.folder, 'file'));
    const open = join(place.folder, 'open');
    await mkdir(open);
    await chmod(open, 0o777);
    await run(open);
    expect(await readdir(open)).toEqual([]);
    expect((await readdir(place.folder)).sort()).toEqual(['file', 'open']);
  });

  it('is whole after many runs at once', async () => {
    await using place = await alone();
    const versions = await Promise.all(Array.from({ length: 12 }, () => place.version()));
    expect(new Set(versions).size).toBe(1);
    const { files, folder } = await kept(place.cache);
    expect(files).toEqual(['start.js.code']);
    expect((await readdir(folder)).sort()).toEqual(['lines', 'start.js.code']);
    expect(await place.version()).toBe(versions[0]);
  });
});
