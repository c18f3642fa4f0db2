/** A container may run us under an id that has no name: `docker run --user 54321`. Files are made there all the same. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chown, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { program } from '../support/child.ts';

const NAMELESS = 54_321;

it.runIf(userInfo().uid === 0)('private folders and files are made', async () => {
  await using child = await program(`
    import { userInfo } from 'node:os';
    import { privateFile, privateFolder } from './src/files/private-files.ts';
    import { preparePrivateFolder, writePrivate } from './src/files/private-files.ts';
    const around = { platform: process.platform, random: { bytes: n => new Uint8Array(n), fraction: () => 0 }, warn: console.log };
    try {
      userInfo();
    } catch ({ code }) {
      console.log(code);
    }
    privateFolder('data/store', process.platform);
    privateFile('data/store/store.db', process.platform);
    privateFile('data/store/store.db', process.platform);
    await preparePrivateFolder('config', around);
    await writePrivate('config/profiles', 'text', around);
  `);
  // Beside the folder of this run, which nobody else may enter.
  const folder = await mkdtemp(join(dirname(tmpdir()), 'cw-nameless-'));
  try {
    await chown(folder, NAMELESS, NAMELESS);
    const told = spawnSync(process.execPath, ['--input-type=commonjs'], {
      cwd: folder,
      uid: NAMELESS,
      gid: NAMELESS,
      // Its file is in the folder of this run, too.
      input: readFileSync(child.file, 'utf8'),
      encoding: 'utf8',
    });
    expect([told.stdout, told.stderr, told.status]).toEqual(['ERR_SYSTEM_ERROR\n', '', 0]);
    const made = await readdir(folder, { recursive: true });
    expect(made.sort()).toEqual(['config', 'config/profiles', 'data', 'data/store', 'data/store/store.db']);
    for (const path of made) {
      const { uid, mode } = await stat(join(folder, path));
      expect([path, uid, mode & 0o077]).toEqual([path, NAMELESS, 0]);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
