/** New private files that appear whole or not at all. */
import { constants } from 'node:fs';
import { copyFile, link, rm } from 'node:fs/promises';
import { createPrivate, systemCode } from './private-files.ts';

/**
 * Makes a private file that appears under its name with its content in it: a crash cannot leave half of one, and of
 * several processes one succeeds. `beside` is a name that nobody else uses. Rejects with the system's EEXIST when the
 * name is taken.
 */
export async function createWhole(path: string, text: string, beside: string): Promise<void> {
  await createPrivate(beside, text);
  try {
    await linkOrCopy(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    // File systems without hard links: still exclusive, only a crash in between needs a hand.
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(systemCode(error) ?? '')) throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}
