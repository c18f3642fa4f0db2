/** A file of the user's own that we change: what it is to its owner stays as it is, and a crash leaves it whole. */
import { constants } from 'node:fs';
import { access, lstat, readFile, realpath, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError } from '../core/errors.ts';
import type { Randomness } from '../platform/host.ts';
import { makeFolders } from './make-folders.ts';
import { inOurWords, systemCode } from './private-files.ts';
import { replaceFile } from './replace-file.ts';

export interface UsersFile {
  readonly path: string;
  /** Where it really is: a link stays a link, and what it points to is changed. */
  readonly real: string;
  readonly isLink: boolean;
  /** Undefined when there is none. */
  readonly bytes: Buffer | undefined;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

const ABSENT = { bytes: undefined, mode: 0o644, uid: -1, gid: -1 };
const OWNER_WRITES = 0o200;

/**
 * Reads it, and throws `guarded` where it could not be changed, or not without becoming another file: one that may not
 * be written, a link to nothing, one with a second name, none at all.
 */
export async function readUsersFile(path: string): Promise<UsersFile> {
  return inOurWords(path, async () => {
    const named = await lstat(path).catch(nothingThere);
    if (named === undefined) return { ...ABSENT, path, real: path, isLink: false };
    const isLink = named.isSymbolicLink();
    const real = await realpath(path).catch(nothingThere);
    if (real === undefined) throw leftAlone(path, 'is a link to a file that is not there');
    const found = await lstat(real);
    if (!found.isFile()) throw leftAlone(path, 'is not an ordinary file');
    if (found.nlink > 1) throw leftAlone(path, 'has a second name (a hard link)');
    // The system lets root write anything; whoever took the right away meant it all the same.
    if ((found.mode & OWNER_WRITES) === 0) throw leftAlone(path, 'is write-protected');
    await access(real, constants.W_OK);
    const { mode, uid, gid } = found;
    return { path, real, isLink, bytes: await readFile(real), mode: mode & 0o7777, uid, gid };
  });
}

/**
 * Puts other bytes in its place, or takes it away; mode and owner stay. Throws `guarded` when it was changed meanwhile
 * or cannot be written; then it is as it was.
 */
export async function replaceUsersFile(
  file: UsersFile,
  next: Uint8Array | undefined,
  { random, platform }: { readonly random: Randomness; readonly platform: NodeJS.Platform },
): Promise<void> {
  const { path, real, isLink, bytes, mode, uid, gid } = file;
  await inOurWords(path, async () => {
    const now = await readFile(real).catch(nothingThere);
    if (now === undefined ? bytes !== undefined : bytes === undefined || !now.equals(bytes)) {
      throw leftAlone(path, 'was changed by somebody else meanwhile');
    }
    if (next === undefined && !isLink) return rm(real, { force: true });
    makeFolders(dirname(real), 0o777);
    await replaceFile(real, { random, platform, mode, suffix: '.cardwright-' }, async fresh => {
      if (uid >= 0 && platform !== 'win32') await fresh.chown(uid, gid);
      if (uid >= 0) await fresh.chmod(mode);
      await fresh.writeFile(next ?? '');
    });
  });
}

function nothingThere(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
}

function leftAlone(path: string, why: string): CliError {
  return new CliError('guarded', { message: `${path} ${why}; it was not changed`, outcome: 'not_sent' });
}
