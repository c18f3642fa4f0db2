/** Snapshots by name in a folder of ours: saved beside, synced, renamed; a folder that is not ours is left alone. */
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { SNAPSHOT_MARK, SNAPSHOT_NAME } from '../../contract/sandbox/snapshots.ts';
import { DAY } from '../../core/durations.ts';
import { type IsRunning, markUsed, removeAbandoned } from '../../files/lock.ts';
import { privateFolder, syncFolder, systemCode } from '../../files/private-files.ts';
import type { Clock, Randomness } from '../../platform/host.ts';
import { Refused } from '../calls/handler.ts';
import type { Sql } from '../store/sql.ts';
import { Damaged, MANIFEST_FILE, type Manifest, manifestOf, type Saving, saveInto, tableFile } from './save.ts';

interface ArchivesParts {
  /** Where they are kept; a temporary folder that goes with this object when left out. */
  readonly folder?: string | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Randomness;
  readonly platform: NodeJS.Platform;
  /** Whose folder a temporary one is; when that process is gone, the next sandbox takes it away. */
  readonly pid: number;
  readonly isRunning?: IsRunning | undefined;
}

export interface Snapshot {
  readonly name: string;
  /** Undefined when its manifest is not as it was written. */
  readonly manifest: Manifest | undefined;
  /** Each file that the manifest names has its length. */
  readonly isComplete: boolean;
}

/** ms after which what a dead process left unfinished is taken away. */
const LEFT_FOR = DAY;
const TEMPORARY = 'cardwright-snapshots-';

export class Archives {
  readonly #parts: ArchivesParts;
  #folder: Promise<string> | undefined;
  #changes = 0;

  constructor(parts: ArchivesParts) {
    this.#parts = parts;
  }

  /** How often this process saved or removed one. */
  get changes(): number {
    return this.#changes;
  }

  async list(): Promise<readonly Snapshot[]> {
    const folder = await this.#tidied();
    const names = (await readdir(folder)).filter(name => SNAPSHOT_NAME.test(name)).sort();
    const found: Snapshot[] = [];
    for (const name of names) {
      if (!(await isOurs(join(folder, name)))) continue;
      const manifest = await readable(join(folder, name));
      const isComplete = manifest !== undefined && (await hasItsFiles(join(folder, name), manifest));
      found.push({ name, manifest, isComplete });
    }
    return found;
  }

  /** Saves under a name; a snapshot of that name is replaced, anything else of that name refused. */
  async save(name: string, sql: Sql, saving: Omit<Saving, 'platform'>): Promise<Manifest> {
    const target = await this.#named(name);
    if (await isThere(target)) await refuseForeign(target);
    const fresh = await this.unfinished('new');
    try {
      const manifest = await saveInto(fresh, sql, { ...saving, platform: this.#parts.platform });
      await this.#putInPlace(fresh, target);
      this.#changes += 1;
      return manifest;
    } catch (error) {
      await rm(fresh, { recursive: true, force: true });
      throw error;
    }
  }

  /** Throws `not_found` for a name nobody saved under; what is there may be damaged all the same. */
  async folderOf(name: string): Promise<string> {
    const target = await this.#named(name);
    if (await isThere(target)) return target;
    throw new Refused('not_found', `no snapshot ${name}`);
  }

  async remove(name: string): Promise<void> {
    const folder = await this.folderOf(name);
    await refuseForeign(folder);
    await rm(folder, { recursive: true });
    this.#changes += 1;
  }

  /** Name of a folder that does not exist yet, for what is not finished; it begins as no name of a snapshot does. */
  async unfinished(kind: 'new' | 'old' | 'export' | 'import'): Promise<string> {
    const folder = await this.#place();
    return join(folder, `.${kind}-${Buffer.from(this.#parts.random.bytes(8)).toString('hex')}`);
  }

  /** Takes the folder away where it was made for this object alone. */
  async close(): Promise<void> {
    if (this.#folder === undefined || this.#parts.folder !== undefined) return;
    await rm(dirname(await this.#folder), { recursive: true, force: true });
  }

  async #named(name: string): Promise<string> {
    if (!SNAPSHOT_NAME.test(name)) {
      throw new Refused('invalid_request', 'name: lower-case letters, digits, - and _, at most 64 of them');
    }
    return join(await this.#tidied(), name);
  }

  /** The old one goes aside first, for a folder cannot replace another in one step; it comes back after a crash. */
  async #putInPlace(fresh: string, target: string): Promise<void> {
    const aside = `${await this.unfinished('old')}-${basename(target)}`;
    const replaces = await isThere(target);
    if (replaces) await rename(target, aside);
    try {
      await rename(fresh, target);
    } catch (error) {
      if (replaces) await rename(aside, target);
      throw error;
    }
    await syncFolder(dirname(target), this.#parts.platform);
    if (replaces) await rm(aside, { recursive: true });
  }

  /** After a process that died: what it put aside comes back, what it never finished goes after a day. */
  async #tidied(): Promise<string> {
    const folder = await this.#place();
    const names = await readdir(folder);
    for (const name of names) {
      const [, target] = /^\.old-[0-9a-f]+-(.+)$/.exec(name) ?? [];
      const path = join(folder, name);
      if (target !== undefined && !names.includes(target)) await rename(path, join(folder, target));
      else if (/^\.(?:new|export|import)-/.test(name) && (await this.#isLeft(path)))
        await rm(path, { recursive: true });
    }
    return folder;
  }

  async #isLeft(path: string): Promise<boolean> {
    return this.#parts.clock.now() - (await lstat(path)).mtimeMs > LEFT_FOR;
  }

  #place(): Promise<string> {
    this.#folder ??= this.#made();
    return this.#folder;
  }

  async #made(): Promise<string> {
    const { folder, platform } = this.#parts;
    if (folder === undefined) return this.#madeForUs();
    privateFolder(folder, platform);
    return folder;
  }

  /** A folder below one that says whose it is, so that nothing in it but snapshots has a name. */
  async #madeForUs(): Promise<string> {
    const { pid, isRunning } = this.#parts;
    await removeAbandoned(tmpdir(), TEMPORARY, { pid, isRunning });
    const own = await mkdtemp(join(tmpdir(), TEMPORARY));
    await markUsed(own, pid);
    const folder = join(own, 'snapshots');
    await mkdir(folder, { mode: 0o700 });
    return folder;
  }
}

async function refuseForeign(path: string): Promise<void> {
  if (await isOurs(path)) return;
  throw new Refused('invalid_request', `${path} exists and is not a snapshot; it was not changed`, 409);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Whether a folder holds a manifest of ours, be it damaged further on. */
async function isOurs(folder: string): Promise<boolean> {
  try {
    if (!(await lstat(folder)).isDirectory()) return false;
    return (await readFile(join(folder, MANIFEST_FILE), 'utf8')).startsWith(SNAPSHOT_MARK);
  } catch (error) {
    if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}

async function readable(folder: string): Promise<Manifest | undefined> {
  try {
    return await manifestOf(folder);
  } catch (error) {
    if (error instanceof Damaged) return undefined;
    throw error;
  }
}

async function hasItsFiles(folder: string, { tables }: Manifest): Promise<boolean> {
  const sizes = await Promise.all(tables.map(({ name }) => sizeOf(join(folder, tableFile(name)))));
  return tables.every(({ bytes }, at) => sizes[at] === bytes);
}

/** Undefined where there is no file. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const found = await lstat(path);
    return found.isFile() ? found.size : undefined;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
