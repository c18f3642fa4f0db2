/** Whether files can be written into a folder, and how much fits. Nothing is written for that. */
import { access, constants, readFile, realpath, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inOurWords, nothingThere, systemCode } from './private-files.ts';

/**
 * The folder, or the next one above it that is there, with the bytes that this user may still write, and the system's code for why
 * nothing can be written, such as `EROFS`.
 */
export async function freeSpaceOf(
  folder: string,
): Promise<{ readonly folder: string; readonly free: number; readonly refusedBy?: string }> {
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

/** Names of Linux; behind FUSE stands anything, and these are shared. */
const NETWORK =
  /^(?:nfs4?|smb[23]?|smbfs|cifs|afs|ceph|coda|ncpfs|lustre|gfs2|fuse\.(?:sshfs|rclone|s3fs|gcsfuse|davfs2?|glusterfs|ceph|cephfs|curlftpfs|smbnetfs|goofys|juicefs))$/;

/** Its name when the folder lies on one; undefined where it does not, or the system does not say (Linux alone does). */
export async function networkFileSystem(
  folder: string,
  platform: NodeJS.Platform,
  mounts = () => readFile('/proc/self/mountinfo', 'utf8'),
): Promise<string | undefined> {
  if (platform !== 'linux') return undefined;
  try {
    const name = mountedAs(await realpath(folder), await mounts());
    return NETWORK.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Type of the mount that lies nearest above a path. */
function mountedAs(path: string, mounts: string): string {
  let [nearest, name] = ['', ''];
  for (const line of mounts.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const [place, type = ''] = [before.split(' ')[4]?.replace(/\\040/g, ' '), after.split(' ')[0]];
    const holds = place !== undefined && (path === place || path.startsWith(place === '/' ? '/' : `${place}/`));
    if (holds && place.length >= nearest.length) [nearest, name] = [place, type];
  }
  return name;
}
