/** Files in places of the user, written beside their targets, synced, renamed: those of ours, and one of theirs that we change. */
import { constants, createReadStream, promises as disk } from 'node:fs';
import { dirname } from 'node:path';
import { CliError, notSent, usage } from '../core/errors.ts';
import type { Host } from '../platform/host.ts';
import {
  asUsage,
  type FileDependencies,
  inOurWords,
  makeFolders,
  nothingThere,
  readOrdinary,
  replaceFile,
  statIfThere,
  systemCode,
  writePrivate,
} from './private-files.ts';

interface AtomicWrite extends Pick<Host, 'platform' | 'random'> {
  /** What the user called it, for messages. */
  readonly name: string;
  /** How a file that may be replaced begins; any other is left as it is. */
  readonly mark: string;
}

/**
 * Puts the pieces in a 0600 file at `path`, whole or not at all. Resolves to the number of bytes. Throws `guarded` when
 * something else is there, `usage` when it cannot be written; then nothing is left behind and the old file is whole.
 */
export async function writeAtomically(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  around: AtomicWrite,
): Promise<number> {
  const { name, mark } = around;
  const replacing = async () => {
    const found = await statIfThere(path);
    const { buffer } = await import('node:stream/consumers');
    const beginning = found?.isFile() ? await buffer(createReadStream(path, { end: mark.length - 1 })) : undefined;
    if (found !== undefined && beginning?.toString('latin1') !== mark)
      throw notSent('guarded', `${JSON.stringify(name)} exists and was not written by cardwright; it was not changed`);
    return replaceFile(path, { ...around, mode: 0o600 }, async file => {
      await disk.writeFile(file, pieces);
      return (await file.stat()).size;
    });
  };
  return replacing().catch(asUsage(`cannot write ${JSON.stringify(name)}`));
}

// A file of the user's own that we change: what it is to its owner stays as it is, and a crash leaves it whole.

const ABSENT = { bytes: undefined, mode: 0o644, uid: -1, gid: -1 };
const OWNER_WRITES = 0o200;

/**
 * Reads it, and throws `guarded` where it could not be changed, or not without becoming another file: one that may not
 * be written, a link to nothing, one with a second name, none at all. `real` is where it really is: a link stays a link, and what it
 * points to is changed. `bytes` are undefined when there is none.
 */
export async function readUsersFile(path: string) {
  return inOurWords(path, async () => {
    const named = await statIfThere(path);
    if (named === undefined) return { ...ABSENT, path, real: path, isLink: false };
    const isLink = named.isSymbolicLink();
    const real = await disk.realpath(path).catch(nothingThere);
    if (real === undefined) throw leftAlone(path, 'is a link to a file that is not there');
    const found = await disk.lstat(real);
    if (!found.isFile()) throw leftAlone(path, 'is not an ordinary file');
    if (found.nlink > 1) throw leftAlone(path, 'has a second name (a hard link)');
    // The system lets root write anything; whoever took the right away meant it all the same.
    if ((found.mode & OWNER_WRITES) === 0) throw leftAlone(path, 'is write-protected');
    await disk.access(real, constants.W_OK);
    const { mode, uid, gid } = found;
    return { path, real, isLink, bytes: await disk.readFile(real), mode: mode & 0o7777, uid, gid };
  });
}

/**
 * Puts other bytes in its place, or takes it away; mode and owner stay. Throws `guarded` when it was changed meanwhile
 * or cannot be written; then it is as it was.
 */
export async function replaceUsersFile(
  file: Awaited<ReturnType<typeof readUsersFile>>,
  next: Uint8Array | undefined,
  { random, platform }: Pick<Host, 'platform' | 'random'>,
): Promise<void> {
  const { path, real, isLink, bytes, mode, uid, gid } = file;
  await inOurWords(path, async () => {
    const now = await disk.readFile(real).catch(nothingThere);
    if (now === undefined ? bytes !== undefined : bytes === undefined || !now.equals(bytes)) {
      throw leftAlone(path, 'was changed by somebody else meanwhile');
    }
    if (next === undefined && !isLink) return disk.rm(real, { force: true });
    makeFolders(dirname(real), 0o777);
    await replaceFile(real, { random, platform, mode, suffix: '.cardwright-' }, async fresh => {
      if (uid >= 0 && platform !== 'win32') await fresh.chown(uid, gid);
      if (uid >= 0) await fresh.chmod(mode);
      await fresh.writeFile(next ?? '');
    });
  });
}

function leftAlone(path: string, why: string): CliError {
  return notSent('guarded', `${path} ${why}; it was not changed`);
}

// A file that says "ready" to a script that waits for it: one line, an address, and only while somebody is there.

const LONGEST = 4_096;

/**
 * Takes away what an earlier run left, so that whoever waits sees only what is written from now on. Throws `usage` when
 * something else stands there: nobody's file is overwritten because of a mistyped name.
 */
export async function readyFile(path: string, around: FileDependencies) {
  await inOurWords(path, async () => {
    const found = await statIfThere(path);
    if (found === undefined) return;
    const text = found.isFile() && found.size <= LONGEST ? await disk.readFile(path, 'utf8') : undefined;
    if (text === undefined || !/^(?:https?:\/\/\S+\n)?$/.test(text)) {
      throw usage(`--ready-file ${JSON.stringify(path)} is there already and is no ready file; nothing is overwritten`);
    }
    await disk.rm(path);
  });
  return {
    /** It appears whole. Throws `guarded` when it cannot be written. */
    write: (address: string) => writePrivate(path, `${address}\n`, around),
    /** Takes it away at the end, unless another run has written its own there. */
    async remove(address: string): Promise<void> {
      const bytes = await readOrdinary(path).catch((error: unknown) => {
        if (systemCode(error) !== undefined || error instanceof CliError) return undefined;
        throw error;
      });
      if (bytes?.toString('utf8') === `${address}\n`) await disk.rm(path, { force: true });
    },
  };
}
