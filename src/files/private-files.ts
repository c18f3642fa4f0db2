/** Files and folders of this user alone: made with their modes, replaced whole, refused where others can reach them. */
import { constants } from 'node:fs';
import { access, chmod, lstat, open, rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { CliError } from '../core/errors.ts';
import type { Randomness } from '../platform/host.ts';
import { makeFolders } from './make-folders.ts';
import { unsafeParent, WORLD_WRITES } from './parent-folders.ts';
import { replaceFile } from './replace-file.ts';
import { systemWords } from './system-words.ts';

/** What private files need of their surroundings. */
export interface FileDependencies {
  /** Windows has no owners and modes to check. */
  readonly platform: NodeJS.Platform;
  readonly random: Randomness;
  /** Told in one line about every repaired mode. */
  readonly warn: (text: string) => void;
}

interface Found {
  readonly path: string;
  readonly what: 'folder' | 'file';
  readonly uid: number;
  readonly mode: number;
}

const OTHERS = 0o077;

export { WORLD_WRITES } from './parent-folders.ts';

// Windows lacks the flag; there `lstat` alone stands guard.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
/** A pipe in place of a file of ours would otherwise wait for somebody to write, and no signal would end that. */
export const NO_WAITING = constants.O_NONBLOCK ?? 0;

/**
 * Makes `path` a folder of ours alone (0700), with missing parents. Repairs and throws like `checkPrivateFolder`,
 * and throws `guarded` when it cannot be made.
 */
export async function preparePrivateFolder(path: string, around: FileDependencies): Promise<void> {
  if (await checkPrivateFolder(path, around)) return;
  atOnceInOurWords(path, () => makeFolders(path, 0o700));
  // The umask may have taken bits, and somebody may have been quicker.
  await inOurWords(path, () => chmod(path, 0o700));
  await checkPrivateFolder(path, around);
}

/**
 * Whether the folder is there; if so it is ours alone afterwards: one that is open to others is repaired to 0700
 * with a warning. Throws `guarded` for a symlink, somebody else's folder or a world-writable one.
 */
export async function checkPrivateFolder(path: string, around: FileDependencies): Promise<boolean> {
  return inOurWords(path, async () => {
    checkParents(path, around.platform);
    const found = await statIfThere(path);
    if (found === undefined) return false;
    if (found.isSymbolicLink()) throw unsafe(path, 'is a symlink');
    if (!found.isDirectory()) throw unsafe(path, 'is not a folder');
    const repair = needsRepair({ path, what: 'folder', uid: found.uid, mode: found.mode }, around);
    if (repair) await chmod(path, 0o700);
    return true;
  });
}

/** Windows has no owners and modes to check. */
function checkParents(path: string, platform: NodeJS.Platform): void {
  const us = platform === 'win32' ? undefined : ourUid();
  const wrong = us === undefined ? undefined : unsafeParent(path, us);
  if (wrong !== undefined) throw unsafe(wrong.path, wrong.why);
}

/**
 * The text of a private file, undefined when there is none. One that others may read is repaired to 0600 with a
 * warning. Throws `guarded` for a symlink, somebody else's file or one that everybody may write.
 */
export async function readPrivate(path: string, around: FileDependencies): Promise<string | undefined> {
  return inOurWords(path, async () => {
    const seen = await statIfThere(path);
    if (seen === undefined) return undefined;
    if (seen.isSymbolicLink()) throw unsafe(path, 'is a symlink');
    if (!seen.isFile()) throw unsafe(path, 'is not an ordinary file');
    const file = await open(path, constants.O_RDONLY | NO_FOLLOW | NO_WAITING);
    try {
      // The open file is judged, not the name: the name may point elsewhere by now.
      const found = await file.stat();
      if (!found.isFile()) throw unsafe(path, 'is not an ordinary file');
      const repair = needsRepair({ path, what: 'file', uid: found.uid, mode: found.mode }, around);
      if (repair) await file.chmod(0o600);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  });
}

/**
 * Replaces a private file so that a crash leaves the old or the new text, never a mixture: a 0600 file beside it,
 * synced, renamed, folder synced. Its name is `<path>.tmp-<hex>`. Throws `guarded` when `path` is a symlink or
 * cannot be written; then nothing is left behind.
 */
export async function writePrivate(path: string, text: string, around: FileDependencies): Promise<void> {
  await inOurWords(path, async () => {
    if ((await statIfThere(path))?.isSymbolicLink()) throw unsafe(path, 'is a symlink');
    await replaceFile(path, { ...around, mode: 0o600 }, async file => {
      // A strange umask may have taken our own bits away.
      await file.chmod(0o600);
      await file.writeFile(text);
    });
  });
}

/** Rejects with the system's error, EEXIST for a name that is taken, when a new file could not be made there. */
export async function checkNew(path: string): Promise<void> {
  if ((await statIfThere(path)) !== undefined) throw Object.assign(new Error('taken'), { code: 'EEXIST' });
  await access(dirname(path), constants.W_OK);
}

/**
 * Writes a new 0600 file and syncs it. Rejects with the system's own EEXIST when the name is taken; a file that could
 * not be written whole is removed.
 */
export async function createPrivate(path: string, content: string | Uint8Array): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
  const file = await open(path, flags, 0o600);
  try {
    // A strange umask may have taken our own bits away.
    await file.chmod(0o600);
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** The bytes of a file of ours that was opened. Throws `guarded` for what is no ordinary file: nothing is read of it. */
export async function readOrdinary(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | NO_WAITING);
  try {
    if (!(await file.stat()).isFile()) throw unsafe(path, 'is not an ordinary file');
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** The system's code of an error (`ENOENT`), undefined for any other thrown value. */
export function systemCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

async function statIfThere(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function needsRepair(found: Found, around: FileDependencies): boolean {
  if (around.platform === 'win32') return false;
  const us = ourUid();
  if (us !== undefined && found.uid !== us) throw unsafe(found.path, 'belongs to another user');
  if ((found.mode & WORLD_WRITES) !== 0) throw unsafe(found.path, 'can be written by everybody');
  if ((found.mode & OTHERS) === 0) return false;
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  const right = found.what === 'folder' ? '0700' : '0600';
  around.warn(`the ${found.what} ${found.path} was open to other users (mode ${mode}); it is now ${right}`);
  return true;
}

/**
 * Our user id. A container may run us under an id without a name; then it cannot be asked for, and somebody
 * else's private file is refused by the system itself.
 */
export function ourUid(): number | undefined {
  us ??= { uid: uidOfSystem() };
  return us.uid;
}

/** Asked for once: the system reads its list of users for it. */
let us: { readonly uid: number | undefined } | undefined;

function uidOfSystem(): number | undefined {
  try {
    return userInfo().uid;
  } catch (error) {
    if (systemCode(error) !== undefined) return undefined;
    throw error;
  }
}

/** Runs file work; a system error comes out as `guarded` naming `path` and the system's code. */
export async function inOurWords<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw cannotBeUsed(path, error);
  }
}

/** As `inOurWords`, for work that is done at once. */
export function atOnceInOurWords<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw cannotBeUsed(path, error);
  }
}

function cannotBeUsed(path: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === undefined) return error;
  return new CliError('guarded', {
    message: `${path} cannot be used: ${systemWords(code)}`,
    hint: 'cardwright doctor',
    outcome: 'not_sent',
    cause: error,
  });
}

export function unsafe(path: string, why: string): CliError {
  return new CliError('guarded', {
    message: `${path} ${why}; private files are kept only in files and folders of this user alone`,
    hint: 'cardwright doctor',
    outcome: 'not_sent',
  });
}
