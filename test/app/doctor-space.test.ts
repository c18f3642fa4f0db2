/** `doctor` where the system takes no more files: what cannot be written down is not sent, and that must be seen here. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fileFindings } from '../../src/app/doctor.ts';
import { type FreeSpace, freeSpaceOf } from '../../src/files/file-system.ts';
import { random } from '../support/clocks.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MB = 1_000_000;

async function spaceSaid(of: (folder: string) => Promise<FreeSpace>) {
  await using place = await temporaryFolder();
  const at = (name: string) => join(place.path, name);
  const folders = {
    config: at('config'),
    state: at('my state'),
    data: at('data'),
    cache: at('cache'),
    runtime: at('run'),
  };
  const files = { platform: process.platform, random };
  const found = await fileFindings({ folders, files, pid: 1, isRunning: () => false, freeSpaceOf: of });
  return found.find(({ check }) => check === 'space');
}

it.each([
  [5_000 * MB, undefined, 'ok', /^folders can be written$/],
  [5 * MB, undefined, 'warn', /^5 MB are left for .*my state$/],
  [0, undefined, 'fail', /^0 MB are left for .*my state: no money is moved until there is room$/],
  [5_000 * MB, 'EROFS', 'fail', /my state cannot be written \(EROFS\): no money is moved$/],
] as const)('%i bytes left, refused by %s: %s', async (free, refusedBy, status, says) => {
  const found = await spaceSaid(async folder =>
    folder.endsWith('my state')
      ? { folder, free, ...(refusedBy !== undefined && { refusedBy }) }
      : { folder, free: 5_000 * MB },
  );
  expect(found).toMatchObject({ status, says: expect.stringMatching(says) });
  if (status !== 'ok') expect(found?.hint).toMatch(/^(df -h|ls -ld) '.*my state'$/);
});

it('a folder that is not made yet has the room of the one above it', async () => {
  await using place = await temporaryFolder();
  const { folder, free } = await freeSpaceOf(join(place.path, 'not', 'made', 'yet'));
  expect([folder, free > MB]).toEqual([place.path, true]);
});
