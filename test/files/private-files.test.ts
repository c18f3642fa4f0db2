import { chmod, chown, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkPrivateFolder, preparePrivateFolder, readPrivate, writePrivate } from '../../src/files/private-files.ts';
import { readKeyFile } from '../../src/profile/store.ts';
import { chance, failure, freshFolder, modeOf, TEST_KEY } from '../profile/dependencies.ts';
import { realClock } from '../support/clocks.ts';

function careful() {
  const warnings: string[] = [];
  return { platform: 'linux' as const, random: chance, warn: (text: string) => void warnings.push(text), warnings };
}

describe('private folders', () => {
  test('open to others are repaired with a warning', async () => {
    await using fresh = await freshFolder();
    const around = careful();
    await chmod(fresh.path, 0o755);
    expect(await checkPrivateFolder(fresh.path, around)).toBe(true);
    expect(await modeOf(fresh.path)).toBe('700');
    expect(around.warnings).toEqual([expect.stringContaining('mode 0755')]);
  });

  test('world-writable, symlinked or not folders are refused', async () => {
    await using fresh = await freshFolder();
    const around = careful();
    const [open, link, file] = [join(fresh.path, 'open'), join(fresh.path, 'link'), join(fresh.path, 'file')];
    await mkdir(open);
    await chmod(open, 0o777);
    await symlink(open, link);
    await writeFile(file, '');
    for (const [path, why] of [
      [open, 'written by everybody'],
      [link, 'symlink'],
      [file, 'not a folder'],
    ] as const) {
      const error = await failure(() => preparePrivateFolder(path, around));
      expect([error.kind, error.message]).toEqual(['guarded', expect.stringContaining(why)]);
    }
    expect(await modeOf(open)).toBe('777');
  });

  test.runIf(userInfo().uid === 0)('of another user are refused', async () => {
    await using fresh = await freshFolder();
    const [folder, file] = [join(fresh.path, 'theirs'), join(fresh.path, 'file')];
    await mkdir(folder, { mode: 0o700 });
    await writeFile(file, 'x', { mode: 0o600 });
    for (const path of [folder, file]) await chown(path, 12345, 12345);
    expect((await failure(() => checkPrivateFolder(folder, careful()))).message).toContain('another user');
    expect((await failure(() => readPrivate(file, careful()))).message).toContain('another user');
  });
});

describe('private files', () => {
  test('open to others are repaired with a warning, world-writable ones refused', async () => {
    await using fresh = await freshFolder();
    const around = careful();
    const path = join(fresh.path, 'x');
    await writeFile(path, 'text');
    await chmod(path, 0o644);
    expect(await readPrivate(path, around)).toBe('text');
    expect([await modeOf(path), around.warnings.length]).toEqual(['600', 1]);
    await chmod(path, 0o646);
    expect((await failure(() => readPrivate(path, around))).kind).toBe('guarded');
  });

  test('under a symlink are neither read nor written', async () => {
    await using fresh = await freshFolder();
    const [victim, link] = [join(fresh.path, 'victim'), join(fresh.path, 'link')];
    await writeFile(victim, 'mine', { mode: 0o600 });
    await symlink(victim, link);
    expect((await failure(() => readPrivate(link, careful()))).message).toContain('symlink');
    expect((await failure(() => writePrivate(link, 'theirs', careful()))).message).toContain('symlink');
    expect([await readFile(victim, 'utf8'), await readdir(fresh.path)]).toEqual(['mine', ['link', 'victim']]);
  });

  test('that cannot be written leave nothing behind', async () => {
    await using fresh = await freshFolder();
    const path = join(fresh.path, 'taken');
    await mkdir(join(path, 'full'), { recursive: true });
    const error = await failure(() => writePrivate(path, TEST_KEY, careful()));
    expect([error.kind, await readdir(fresh.path)]).toEqual(['guarded', ['taken']]);
  });
});

const waiting = { clock: realClock, signal: AbortSignal.any([]) };

describe('key files', () => {
  test('open to everybody are refused, to their group warned about', async () => {
    await using fresh = await freshFolder();
    const path = join(fresh.path, 'key');
    await writeFile(path, `${TEST_KEY}\n`);
    for (const [mode, expected] of [
      [0o600, 0],
      [0o640, 1],
      [0o644, 'guarded'],
      [0o602, 'guarded'],
    ] as const) {
      const around = careful();
      await chmod(path, mode);
      const outcome = await readKeyFile(path, { ...around, ...waiting }).then(
        () => around.warnings.length,
        error => error.kind,
      );
      expect(outcome).toBe(expected);
    }
  });

  test('may be symlinks, but not devices, folders or large', async () => {
    await using fresh = await freshFolder();
    const [path, link, large] = ['key', 'link', 'large'].map(name => join(fresh.path, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(path, TEST_KEY, { mode: 0o600 });
    await symlink(path, link);
    await writeFile(large, 'x'.repeat(5000), { mode: 0o600 });
    expect(await readKeyFile(link, { ...careful(), ...waiting })).toBe(TEST_KEY);
    for (const wrong of ['/dev/zero', fresh.path, large]) {
      expect((await failure(() => readKeyFile(wrong, { ...careful(), ...waiting }))).kind).toBe('guarded');
    }
    expect((await failure(() => readKeyFile(join(fresh.path, 'none'), { ...careful(), ...waiting }))).kind).toBe(
      'not_authenticated',
    );
  });
});
