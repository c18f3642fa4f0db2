/** Folders above ours that somebody else can rename or replace. */
import { chmod, chown, lchown, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkPrivateFolder, preparePrivateFolder } from '../../src/files/private-files.ts';
import { random } from '../support/clocks.ts';

const around = { platform: process.platform, random, warn: () => undefined };
const isRoot = process.getuid?.() === 0;
const SOMEBODY = 12_345;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-parents-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Both for a folder that is there and for one that would be made. */
async function refusal(path: string): Promise<unknown> {
  const looked = await checkPrivateFolder(path, around).catch((error: unknown) => error);
  const made = await preparePrivateFolder(path, around).catch((error: unknown) => error);
  expect(String(looked)).toBe(String(made));
  return made;
}

test('one that everybody may write, without the sticky bit, is refused however far above', async () => {
  await mkdir(join(folder, 'open', 'between', 'ours'), { recursive: true, mode: 0o700 });
  await chmod(join(folder, 'open'), 0o777);
  for (const path of ['open/new', 'open/between/new', 'open/between/ours']) {
    expect(await refusal(join(folder, path))).toMatchObject({
      kind: 'guarded',
      message: expect.stringContaining(`${join(folder, 'open')} can be written by everybody`),
    });
  }
  await chmod(join(folder, 'open'), 0o1777);
  await preparePrivateFolder(join(folder, 'open/between/ours'), around);
});

test.runIf(isRoot)('one of another user, and a link that is theirs, are refused; a link of ours is not', async () => {
  await mkdir(join(folder, 'theirs', 'ours'), { recursive: true, mode: 0o700 });
  await chown(join(folder, 'theirs'), SOMEBODY, SOMEBODY);
  const theirs = expect.stringContaining(`${join(folder, 'theirs')} belongs to another user`);
  expect(await refusal(join(folder, 'theirs', 'ours'))).toMatchObject({ kind: 'guarded', message: theirs });
  await mkdir(join(folder, 'real'));
  await symlink(join(folder, 'real'), join(folder, 'link'));
  await preparePrivateFolder(join(folder, 'link', 'ours'), around);
  await lchown(join(folder, 'link'), SOMEBODY, SOMEBODY);
  const link = expect.stringContaining(`${join(folder, 'link')} is a link of another user`);
  expect(await refusal(join(folder, 'link', 'ours'))).toMatchObject({ kind: 'guarded', message: link });
  // A link of ours into a folder of theirs.
  await symlink(join(folder, 'theirs'), join(folder, 'way'));
  expect(await refusal(join(folder, 'way', 'ours'))).toMatchObject({ kind: 'guarded', message: theirs });
});
