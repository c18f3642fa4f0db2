/** Files and folders of this user alone: made with their modes, replaced whole, refused where others can reach them. */
import {
  chmodSync,
  closeSync,
  constants,
  promises as disk,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import * as own from 'node:process';
import { type CliError, notSent, usage } from '../core/errors.ts';
import type { Host } from '../platform/host.ts';

/** What private files need of their surroundings. */
export interface FileDependencies extends Pick<Host, 'platform' | 'random'> {
  /** Told in one line about every repaired mode. */
  readonly warn: (text: string) => void;
}

const PRIVATE = 0o600;
const OTHERS = 0o077;
// Windows lacks the flag; there `lstat` alone stands guard.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
/** A pipe in place of a file of ours would otherwise wait for somebody to write, and no signal would end that. */
export const NO_WAITING = constants.O_NONBLOCK ?? 0;

/**
 * Makes `path` a folder of ours alone (0700), with missing parents. Repairs and throws like `checkPrivateFolder`,
 * and throws `guarded` when it cannot be made.
 */
export async function preparePrivateFolder(path: string, around: FileDependencies): Promise<void> {
  if (!(await checkPrivateFolder(path, around))) privateFolder(path, around.platform);
}

/**
 * Whether the folder is there; if so it is ours alone afterwards: one that is open to others is repaired to 0700
 * with a warning. Throws `guarded` for a symlink, somebody else's folder or a world-writable one.
 */
export async function checkPrivateFolder(path: string, around: FileDependencies): Promise<boolean> {
  return atOnceInOurWords(path, () => {
    // Windows has no owners and modes to check.
    if (around.platform !== 'win32') refuseUnsafeParent(path);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return false;
    refuseOther(path, found, 'a folder');
    if (isOpenToOthers(path, found, around)) chmodSync(path, 0o700);
    return true;
  });
}

/** Throws `guarded` for what is no folder, or no ordinary file: a link as well. */
function refuseOther(path: string, found: Stats, what: 'a folder' | 'an ordinary file'): void {
  if (found.isSymbolicLink()) throw unsafe(path, 'is a symlink');
  const isRight = what === 'a folder' ? found.isDirectory() : found.isFile();
  if (!isRight) throw unsafe(path, `is not ${what}`);
}

/**
 * The text of a private file, undefined when there is none. One that others may read is repaired to 0600 with a
 * warning. Throws `guarded` for a symlink, somebody else's file or one that everybody may write.
 */
export async function readPrivate(path: string, around: FileDependencies): Promise<string | undefined> {
  return inOurWords(path, async () => {
    const seen = await statIfThere(path);
    if (seen === undefined) return undefined;
    refuseOther(path, seen, 'an ordinary file');
    await using file = await disk.open(path, constants.O_RDONLY | NO_FOLLOW | NO_WAITING);
    // The open file is judged, not the name: the name may point elsewhere by now.
    const found = await file.stat();
    refuseOther(path, found, 'an ordinary file');
    if (isOpenToOthers(path, found, around)) await file.chmod(PRIVATE);
    return await file.readFile('utf8');
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
    await replaceFile(path, { ...around, mode: PRIVATE }, file => file.writeFile(text));
  });
}

/** Rejects with the system's error, EEXIST for a name that is taken, when a new file could not be made there. */
export async function checkNew(path: string): Promise<void> {
  if ((await statIfThere(path)) !== undefined) throw Object.assign(new Error('taken'), { code: 'EEXIST' });
  await disk.access(dirname(path), constants.W_OK);
}

/**
 * Writes a new 0600 file and syncs it. Rejects with the system's own EEXIST when the name is taken; a file that could
 * not be written whole is removed.
 */
export async function createPrivate(path: string, content: string | Uint8Array): Promise<void> {
  await fillNew(path, { mode: PRIVATE }, file => file.writeFile(content));
}

/** The bytes of a file of ours that was opened. Throws `guarded` for what is no ordinary file: nothing is read of it. */
export async function readOrdinary(path: string): Promise<Buffer> {
  await using file = await disk.open(path, constants.O_RDONLY | NO_WAITING);
  refuseOther(path, await file.stat(), 'an ordinary file');
  return await file.readFile();
}

/** The system's code of an error (`ENOENT`), undefined for any other thrown value. */
export function systemCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** What stands there, a link as itself; undefined where nothing does. */
export async function statIfThere(path: string): Promise<Stats | undefined> {
  return disk.lstat(path).catch(nothingThere);
}

/** For whatever rejects because there is no such file. */
export function nothingThere(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
}

/** The mode of what is ours. Throws `guarded` for what belongs to somebody else or can be written by everybody. */
function ownMode(path: string, { uid, mode }: Stats): number {
  const us = ourUid();
  if (us !== undefined && uid !== us) throw unsafe(path, 'belongs to another user');
  if ((mode & WORLD_WRITES) !== 0) throw unsafe(path, 'can be written by everybody');
  return mode & 0o777;
}

/** Whether it must be closed to other users, which is then said. */
function isOpenToOthers(path: string, found: Stats, { platform, warn }: FileDependencies): boolean {
  if (platform === 'win32') return false;
  const mode = ownMode(path, found);
  if ((mode & OTHERS) === 0) return false;
  const [what, right] = found.isDirectory() ? ['folder', '0700'] : ['file', '0600'];
  warn(`the ${what} ${path} was open to other users (mode ${mode.toString(8).padStart(4, '0')}); it is now ${right}`);
  return true;
}

/** Our user id; Windows has none. A container may run us under an id without a name. */
function ourUid(): number | undefined {
  return own.getuid?.();
}

/** Runs file work; a system error comes out as `guarded` naming `path` and the system's code. */
export async function inOurWords<T>(path: string, work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    throw cannotBeUsed(path, error);
  });
}

/** `inOurWords` for work that is done at once. */
export function atOnceInOurWords<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw cannotBeUsed(path, error);
  }
}

/** For work on a file that the user named: throws a system error as `usage`. `cannot`: `cannot read "a.csv"`. */
export function asUsage(cannot: string): (error: unknown) => never {
  return error => {
    const code = systemCode(error);
    // A connection that breaks has a code as well, and is told by who made it.
    if (code === undefined || !/^(?:E[A-Z]+|ERR_INVALID_ARG_VALUE)$/.test(code) || code === 'ECONNRESET') throw error;
    throw usage(`${cannot}: ${systemWords(code)}`);
  };
}

function cannotBeUsed(path: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === undefined) return error;
  const more = { hint: 'cardwright doctor', cause: error };
  return notSent('guarded', `${path} cannot be used: ${systemWords(code)}`, more);
}

export function unsafe(path: string, why: string): CliError {
  return notSent(
    'guarded',
    `${path} ${why}; private files are kept only in files and folders of this user alone`,
    'cardwright doctor',
  );
}

// Made without waiting, for what every run makes: each turn of the thread pool counts there. What is open to others is closed
// without a word.

/** Makes `path` a 0700 folder of ours, its parents too. Throws `guarded` for a symlink or somebody else's folder. */
export function privateFolder(path: string, platform: NodeJS.Platform): void {
  atOnceInOurWords(path, () => {
    makeFolders(path, 0o700);
    const found = lstatSync(path);
    refuseOther(path, found, 'a folder');
    if (platform !== 'win32' && ownMode(path, found) !== 0o700) chmodSync(path, 0o700);
  });
}

/**
 * Creates `path` empty with mode 0600 when it is not there, so that a database engine never creates it open to others.
 * An existing file is looked at but not opened: closing it again would free the engine's locks on it.
 */
export function privateFile(path: string, platform: NodeJS.Platform): void {
  atOnceInOurWords(path, () => {
    try {
      return closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600));
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    const found = lstatSync(path);
    refuseOther(path, found, 'an ordinary file');
    if (platform !== 'win32' && ownMode(path, found) !== 0o600) chmodSync(path, 0o600);
  });
}

// Replacing a file: filled beside it, synced, renamed, so that a crash leaves the old or the new one.

interface Replacing extends Pick<Host, 'platform' | 'random'> {
  /** What the file is made with; the umask of the process takes its bits away. */
  readonly mode: number;
  /** Between the path and 16 hex digits in the name of the file beside it. */
  readonly suffix?: string;
  /** Whether a crash may take the new text away: then nothing is synced. */
  readonly mayBeLost?: boolean;
}

/**
 * Fills a new file beside `path` and puts it in its place, then makes its name durable. Resolves to what `fill` resolves
 * to. Rejects with the system's error or that of `fill`; then nothing is left beside it and the old file is whole.
 */
export async function replaceFile<T>(
  path: string,
  { random, platform, mode, suffix = '.tmp-', mayBeLost = false }: Replacing,
  fill: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const temporary = `${path}${suffix}${Buffer.from(random.bytes(8)).toString('hex')}`;
  try {
    const filled = await fillNew(temporary, { mode, mayBeLost }, fill);
    await disk.rename(temporary, path);
    if (!mayBeLost) await syncFolder(dirname(path), platform);
    return filled;
  } catch (error) {
    await disk.rm(temporary, { force: true });
    throw error;
  }
}

/** Makes a file and fills it; one that could not be filled is removed. */
async function fillNew<T>(
  path: string,
  { mode, mayBeLost = false }: Pick<Replacing, 'mode' | 'mayBeLost'>,
  fill: (file: FileHandle) => Promise<T>,
): Promise<T> {
  await using file = await disk.open(path, NEW_FILE, mode);
  try {
    // A strange umask may have taken our own bits away.
    if (mode === PRIVATE) await file.chmod(PRIVATE);
    const filled = await fill(file);
    if (!mayBeLost) await file.sync();
    return filled;
  } catch (error) {
    await disk.rm(path, { force: true });
    throw error;
  }
}

/** Makes names in a folder durable. Windows has no such call, its renames are journaled. */
export async function syncFolder(path: string, platform: NodeJS.Platform): Promise<void> {
  if (platform === 'win32') return;
  await using folder = await disk.open(path, constants.O_RDONLY);
  await folder.sync();
}

/** Makes `path` and what is missing above it with `mode`, less the umask; a folder that is there stays as it is. Throws the system's error. */
export function makeFolders(path: string, mode: number): void {
  mkdirSync(path, { mode, recursive: true });
}

// The folders above: whoever may rename one of them may put another folder in its place.

const WORLD_WRITES = 0o002;
const STICKY = 0o1000;
const ROOT = 0;

/**
 * Throws `guarded` where a folder above `path` belongs to somebody who is neither us nor root, can be written by everybody
 * without the sticky bit, or is reached through a link of somebody else. What is not there is not looked at: it is made by us.
 */
function refuseUnsafeParent(path: string): void {
  const us = ourUid();
  if (us === undefined) return;
  const trusted = new Set([us, ROOT, ...unmapped()]);
  const there = upFrom(dirname(resolve(path))).flatMap(folder => {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    return found === undefined ? [] : [{ folder, found }];
  });
  const links = there.filter(({ found }) => found.isSymbolicLink());
  for (const { folder, found } of links) if (!trusted.has(found.uid)) throw unsafe(folder, 'is a link of another user');
  // Without a link they stand where their names say.
  const [nearest] = there;
  const real =
    links.length === 0 || nearest === undefined
      ? there
      : upFrom(realpathSync(nearest.folder)).map(folder => ({ folder, found: statSync(folder) }));
  for (const { folder, found } of real) {
    if (!trusted.has(found.uid)) throw unsafe(folder, 'belongs to another user');
    if ((found.mode & WORLD_WRITES) !== 0 && (found.mode & STICKY) === 0)
      throw unsafe(folder, 'can be written by everybody');
  }
}

/** A folder and those above it, the nearest first. */
function upFrom(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upFrom(above)];
}

/** In a container whose ids are mapped, what belongs to root outside has the owner that stands for all others. */
function unmapped(): number[] {
  try {
    const isWhole = /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'));
    return isWhole ? [] : [Number(readFileSync('/proc/sys/kernel/overflowuid', 'utf8'))];
  } catch {
    return [];
  }
}

const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the quota is used up',
  EFBIG: 'the file is too large',
  EIO: 'the device failed',
  EISDIR: 'it is a folder',
  ELOOP: 'it is a symbolic link',
  EMFILE: 'too many files are open',
  ENODEV: 'it is a device, not a file or a pipe',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'no space is left',
  ENOTDIR: 'a part of the path is no folder',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** `no space is left (ENOSPC)`; an unknown code as it is. */
export function systemWords(code: string): string {
  return Object.hasOwn(SYSTEM_WORDS, code) ? `${SYSTEM_WORDS[code]} (${code})` : code;
}
