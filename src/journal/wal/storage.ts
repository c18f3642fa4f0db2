/** The file system as the journal uses it: few calls, each either durable or not done. Tests hand in their own. */
import { constants, fdatasync, fstatSync, readSync, writeSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HOUR } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { createWhole } from '../../files/create-whole.ts';
import { keepOpen } from '../../files/keep-open.ts';
import { type LockOptions, withLock } from '../../files/lock.ts';
import { type FileSystems, networkFileSystem } from '../../files/network-file-system.ts';
import {
  atOnceInOurWords,
  createPrivate,
  type FileDependencies,
  inOurWords,
  NO_WAITING,
  preparePrivateFolder,
  readOrdinary,
  systemCode,
  unsafe,
  writePrivate,
} from '../../files/private-files.ts';
import { syncFolder } from '../../files/replace-file.ts';
import type { Randomness } from '../../platform/host.ts';

/** An open journal. Nothing is durable before `sync`. */
export interface JournalFile {
  readAll(): Promise<Uint8Array>;
  /** Bytes of a place, fewer where the file ends before; at once, as `append` is. */
  readAt(at: number, length: number): Uint8Array;
  append(bytes: Uint8Array): Promise<void>;
  /** fdatasync. */
  sync(): Promise<void>;
  size(): Promise<number>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

export interface JournalDisk {
  /** Makes a folder of ours alone, with its parents, its name durable. */
  prepareFolder(path: string): Promise<void>;
  /** Throws `guarded` when the folder, which is there, lies on a file system that is shared over a network. */
  refuseNetwork(path: string): Promise<void>;
  /** Names in a folder; none when it is not there. */
  names(folder: string): Promise<readonly string[]>;
  /** Names of the folders in a folder; none when it is not there. */
  folders(folder: string): Promise<readonly string[]>;
  /** A new journal; rejects when the name is taken. */
  create(path: string): Promise<JournalFile>;
  /** Undefined when there is none. */
  open(path: string): Promise<JournalFile | undefined>;
  /** A small file whole and durable under its name at once; false when the name is taken. */
  note(path: string, text: string): Promise<boolean>;
  /** Text of such a file, undefined when there is none. */
  read(path: string): Promise<string | undefined>;
  /** A small file whole and durable in place of the one that is there: a crash leaves the old or the new text. */
  replace(path: string, text: string): Promise<void>;
  /** Removes what `replace` and `note` of `path` have left beside it where their process was killed, an hour before it was written. */
  sweep(path: string): Promise<void>;
  /** Makes the names in a folder durable. */
  syncNames(folder: string): Promise<void>;
  /** Gives a file another name; one that has it is replaced. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a folder with what is in it; fine when it is not there. */
  remove(path: string): Promise<void>;
  /**
   * Holds a lock file until let go. Rejects with `guarded` when somebody else holds it: at once, or after `patienceMs`
   * of waiting for one holder.
   */
  hold(path: string, patienceMs?: number): Promise<() => Promise<void>>;
}

export interface DiskDependencies extends FileDependencies {
  readonly lock: Omit<LockOptions, 'timeoutMs' | 'signal'>;
  /** For locks that are waited for: they take nothing from the numbers that ids are made of. That of `lock` if left out. */
  readonly noise?: Randomness;
  /** What the system says of file systems; the real one if left out. */
  readonly fileSystems?: FileSystems;
}

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const FLAGS = constants.O_RDWR | constants.O_APPEND | NO_FOLLOW;

/** The real one. Every error of the system comes out as `guarded` naming path and code: nothing was sent. */
export function createDisk(around: DiskDependencies): JournalDisk {
  return {
    prepareFolder: path => preparePrivateFolder(path, around),
    async refuseNetwork(path) {
      const name = await networkFileSystem(path, around.platform, around.fileSystems);
      if (name !== undefined) throw sharedFolder(path, name);
    },
    names: folder => inOurWords(folder, () => orNothing([], () => readdir(folder))),
    folders: folder =>
      inOurWords(folder, async () => {
        const found = await orNothing([], () => readdir(folder, { withFileTypes: true }));
        return found.filter(entry => entry.isDirectory()).map(({ name }) => name);
      }),
    create: path =>
      inOurWords(path, async () => {
        const file = await open(path, FLAGS | constants.O_CREAT | constants.O_EXCL, 0o600);
        // A strange umask may have taken our own bits away.
        await keepOpen(file, () => file.chmod(0o600));
        return journalFile(file, path);
      }),
    open: path =>
      inOurWords(path, async () => {
        const file = await orNothing(undefined, () => open(path, FLAGS | NO_WAITING));
        if (file === undefined) return undefined;
        return keepOpen(file, async () => {
          const found = await file.stat();
          if (!found.isFile()) throw unsafe(path, 'is not an ordinary file');
          if (around.platform !== 'win32' && (found.mode & 0o077) !== 0) await file.chmod(0o600);
          return journalFile(file, path);
        });
      }),
    note: (path, text) =>
      inOurWords(path, async () => {
        try {
          const { random } = around.lock;
          // Nothing of an empty file can be missing.
          if (text === '') await createPrivate(path, text);
          else await createWhole(path, text, `${path}.${Buffer.from(random.bytes(8)).toString('hex')}`);
          return true;
        } catch (error) {
          if (systemCode(error) === 'EEXIST') return false;
          throw error;
        }
      }),
    read: path =>
      inOurWords(path, () =>
        orNothing(undefined, async () => {
          if ((await lstat(path)).isSymbolicLink()) throw unsafe(path, 'is a symlink');
          return (await readOrdinary(path)).toString('utf8');
        }),
      ),
    replace: (path, text) => writePrivate(path, text, around),
    sweep: path => inOurWords(path, () => sweepBeside(path)),
    syncNames: folder => inOurWords(folder, () => syncFolder(folder, around.platform)),
    rename: (from, to) => inOurWords(from, () => rename(from, to)),
    remove: path => inOurWords(path, () => rm(path, { recursive: true, force: true })),
    hold: (path, patienceMs = 0) => {
      const random = patienceMs > 0 ? around.noise : undefined;
      return holdLock(path, { ...around.lock, ...(random && { random }), timeoutMs: patienceMs });
    },
  };
}

const LEFT = /^\.(?:tmp-)?[0-9a-f]{16}$/;

/** By the times of the files: one that is younger may be on its way to its place. */
async function sweepBeside(path: string): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)];
  const names = await orNothing([], () => readdir(folder));
  const left = names.filter(each => each.startsWith(name) && LEFT.test(each.slice(name.length)));
  for (const each of left) {
    const [own, beside] = await Promise.all([path, join(folder, each)].map(modifiedAt));
    if (own !== undefined && beside !== undefined && own - beside > HOUR) await rm(join(folder, each), { force: true });
  }
}

function modifiedAt(path: string): Promise<number | undefined> {
  return orNothing(undefined, async () => (await lstat(path)).mtimeMs);
}

function sharedFolder(path: string, name: string): CliError {
  return new CliError('guarded', {
    message: `${path} lies on a network file system (${name}), where locks and syncs cannot be relied on; no money is moved from there`,
    notes: ['Keep the state on a disk of this machine: XDG_STATE_HOME or CARDWRIGHT_CONFIG_DIR names another folder.'],
    hint: 'cardwright help environment',
    outcome: 'not_sent',
  });
}

function journalFile(file: FileHandle, path: string): JournalFile {
  return {
    readAll: () =>
      inOurWords(path, async () => {
        const { size } = await file.stat();
        const bytes = new Uint8Array(size);
        let at = 0;
        while (at < size) {
          const { bytesRead } = await file.read(bytes, at, size - at, at);
          if (bytesRead === 0) break;
          at += bytesRead;
        }
        return bytes.subarray(0, at);
      }),
    readAt: (at, length) => atOnceInOurWords(path, () => readPlace(file.fd, at, length)),
    // At once, into the page cache: a way through the thread pool and back costs more than the write itself, and
    // every row of a run would wait for it. Only the sync goes there.
    append: bytes => inOurWords(path, async () => appendWhole(file.fd, bytes)),
    sync: () => inOurWords(path, () => dataSync(file.fd)),
    size: () => inOurWords(path, async () => fstatSync(file.fd).size),
    truncate: size => inOurWords(path, () => file.truncate(size)),
    close: () => file.close(),
  };
}

function readPlace(fd: number, at: number, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  for (let more = 1; more > 0 && read < length; read += more) {
    more = readSync(fd, bytes, read, length - read, at + read);
  }
  return bytes.subarray(0, read);
}

/** As `FileHandle.datasync`, at half of its price for the main thread. */
function dataSync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(fd, error => (error === null ? resolve() : reject(error)));
  });
}

/** The system may take a part only. */
function appendWhole(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

/** `withLock` ends with its work; here the work is whatever happens until the lock is let go. */
function holdLock(path: string, options: LockOptions): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    let letGo = (): void => undefined;
    const over = new Promise<void>(done => {
      letGo = done;
    });
    const released = withLock(path, options, () => {
      resolve(async () => {
        letGo();
        await released;
      });
      return over;
    });
    released.catch(reject);
  });
}

async function orNothing<T>(nothing: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return nothing;
    throw error;
  }
}
