/** Whether files can be written into a folder, and how much fits. Nothing is written for that. */
import { access, constants, readFile, realpath, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inOurWords, nothingThere, systemCode } from './private-files.ts';

export interface FreeSpace {
  /** The folder itself, or the next one above it that is there. */
  readonly folder: string;
  /** Bytes that this user may still write. */
  readonly free: number;
  /** The system's code for why nothing can be written, such as `EROFS`. */
  readonly refusedBy?: string;
}

export async function freeSpaceOf(folder: string): Promise<FreeSpace> {
  const found = await inOurWords(folder, async () => statfs(folder).catch(nothingThere));
  if (found === undefined) return freeSpaceOf(dirname(folder));
  const free = found.bavail * found.bsize;
  const refusedBy = await access(folder, constants.W_OK).then(
    () => undefined,
    (error: unknown) => systemCode(error) ?? 'EACCES',
  );
  return { folder, free, ...(refusedBy !== undefined && { refusedBy }) };
}

// File systems that others share over a network: their locks and syncs do not hold what a journal needs of them.

/** What is asked of the system; tests hand in their own. */
const REAL = {
  /** The magic number of the file system that holds the path. */
  type: async (path: string) => (await statfs(path)).type,
  mounts: () => readFile('/proc/self/mountinfo', 'utf8'),
};

/** Magic numbers of Linux, <linux/magic.h>. */
const NETWORK: Readonly<Record<number, string>> = {
  26985: 'nfs',
  20859: 'smb',
  4283649346: 'cifs',
  4266872130: 'smb2',
  1397113167: 'afs',
  1799439955: 'afs',
  12805120: 'ceph',
  1937076805: 'coda',
  22092: 'ncp',
  198183888: 'lustre',
  18225520: 'gfs2',
};
const FUSE = 0x65735546;
/** Behind FUSE stands anything; these are shared. */
const SHARED_BY_FUSE =
  /^fuse\.(?:sshfs|rclone|s3fs|gcsfuse|davfs2?|glusterfs|ceph|cephfs|curlftpfs|smbnetfs|goofys|juicefs)$/;

/** Its name when the folder lies on one; undefined where it does not, or the system does not say (Linux alone does). */
export async function networkFileSystem(
  folder: string,
  platform: NodeJS.Platform,
  systems = REAL,
): Promise<string | undefined> {
  if (platform !== 'linux') return undefined;
  try {
    // Some are given with a sign.
    const type = (await systems.type(folder)) >>> 0;
    if (type !== FUSE) return NETWORK[type];
    const name = mountedAs(await realpath(folder), await systems.mounts());
    return name !== undefined && SHARED_BY_FUSE.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Type of the mount that lies nearest above a path. */
function mountedAs(path: string, mounts: string): string | undefined {
  let [nearest, name] = ['', undefined as string | undefined];
  for (const line of mounts.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const [place, type] = [before.split(' ')[4]?.replace(/\\040/g, ' '), after.split(' ')[0]];
    const holds = place !== undefined && (path === place || path.startsWith(place === '/' ? '/' : `${place}/`));
    if (holds && place.length >= nearest.length) [nearest, name] = [place, type];
  }
  return name;
}
