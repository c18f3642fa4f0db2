/**
 * Folders and files of this user alone, made without waiting: 0700 and 0600 whatever the umask, no symlinks. What is
 * open to others is closed without a word. For what is made on every run, where each turn of the thread pool counts.
 */
import { type BigIntStats, chmodSync, closeSync, constants, lstatSync, openSync, type Stats } from 'node:fs';
import { makeFolders } from './make-folders.ts';
import { atOnceInOurWords, ourUid, systemCode, unsafe, WORLD_WRITES } from './private-files.ts';

/** Makes `path` a 0700 folder of ours, its parents too. Throws `guarded` for a symlink or somebody else's folder. */
export function privateFolder(path: string, platform: NodeJS.Platform): void {
  atOnceInOurWords(path, () => {
    makeFolders(path, 0o700);
    const found = lstatSync(path);
    if (!found.isDirectory()) throw unsafe(path, 'is not a folder');
    ourAlone(path, found, platform);
  });
}

/**
 * Creates `path` empty with mode 0600 when it is not there, so that a database engine never creates it open to others.
 * An existing file is looked at but not opened: closing it again would free the engine's locks on it.
 */
export function privateFile(path: string, platform: NodeJS.Platform): void {
  atOnceInOurWords(path, () => {
    if (createdNow(path)) return;
    const found = lstatSync(path);
    if (!found.isFile()) throw unsafe(path, 'is not an ordinary file');
    ourAlone(path, found, platform);
  });
}

function createdNow(path: string): boolean {
  try {
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    closeSync(file);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function ourAlone(path: string, found: Stats | BigIntStats, platform: NodeJS.Platform): void {
  // Windows has neither owners nor modes in this form.
  if (platform === 'win32') return;
  const us = ourUid();
  const mode = Number(found.mode) & 0o777;
  if (us !== undefined && Number(found.uid) !== us) throw unsafe(path, 'belongs to another user');
  if ((mode & WORLD_WRITES) !== 0) throw unsafe(path, 'can be written by everybody');
  const right = found.isDirectory() ? 0o700 : 0o600;
  if (mode !== right) chmodSync(path, right);
}
