/** Whether files can be written into a folder, and how much fits. Nothing is written for that. */
import { access, constants, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inOurWords, systemCode } from './private-files.ts';

export interface FreeSpace {
  /** The folder itself, or the next one above it that is there. */
  readonly folder: string;
  /** Bytes that this user may still write. */
  readonly free: number;
  /** The system's code for why nothing can be written, such as `EROFS`. */
  readonly refusedBy?: string;
}

export async function freeSpaceOf(folder: string): Promise<FreeSpace> {
  const found = await inOurWords(folder, async () =>
    statfs(folder).catch((error: unknown) => {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }),
  );
  if (found === undefined) return freeSpaceOf(dirname(folder));
  const free = found.bavail * found.bsize;
  const refusedBy = await access(folder, constants.W_OK).then(
    () => undefined,
    (error: unknown) => systemCode(error) ?? 'EACCES',
  );
  return { folder, free, ...(refusedBy !== undefined && { refusedBy }) };
}
