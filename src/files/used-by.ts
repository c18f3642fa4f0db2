/**
 * Folders that belong to processes: each names itself in one, and when all of them are provably gone, whoever comes
 * next may take the folder away. A folder that names nobody is nobody's business.
 */
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { holderOf } from './lock.ts';
import { createPrivate, ourUid, systemCode } from './private-files.ts';
import { type IsRunning, identify } from './process-identity.ts';

const MARK = /^used-by-\d+$/;

/** Says in a folder that a process uses it. */
export async function markUsed(folder: string, pid: number): Promise<void> {
  // In the form of a lock, which is read for its holder alone.
  const mark = { ...identify(pid), nonce: '' };
  await createPrivate(join(folder, `used-by-${pid}`), `${JSON.stringify(mark)}\n`);
}

/** Whoever tidies. */
export interface Remover {
  readonly pid: number;
  /** For systems that have no /proc. */
  readonly isRunning?: IsRunning | undefined;
}

/** Removes the folders in `parent` whose names begin with `prefix` and whose processes are all provably gone. */
export async function removeAbandoned(parent: string, prefix: string, us: Remover): Promise<void> {
  // A folder that cannot be read holds nothing we could take away.
  const names = await readdir(parent).catch((error: unknown) => {
    if (systemCode(error) === undefined) throw error;
    return [];
  });
  for (const name of names.filter(each => each.startsWith(prefix))) {
    try {
      const folder = join(parent, name);
      if (await isAbandoned(folder, us)) await rm(folder, { recursive: true, force: true });
    } catch (error) {
      // Another process tidies too, or may and we may not.
      if (systemCode(error) === undefined) throw error;
    }
  }
}

async function isAbandoned(folder: string, us: Remover): Promise<boolean> {
  const [found, uid] = [await lstat(folder), ourUid()];
  // Windows has no owners in this form: -1.
  if (!found.isDirectory() || (uid !== undefined && uid >= 0 && found.uid !== uid)) return false;
  const marks = (await readdir(folder)).filter(name => MARK.test(name));
  for (const mark of marks) {
    if ((await holderOf(join(folder, mark), us, us.isRunning)) !== 'nobody') return false;
  }
  return marks.length > 0;
}
