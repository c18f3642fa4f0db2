/** The one way to replace a file: filled beside it, synced, renamed, so that a crash leaves the old or the new one. */
import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Randomness } from '../platform/host.ts';

/** Windows has no such flag. */
const { O_NOFOLLOW: NO_FOLLOW = 0 } = constants;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;

export interface Replacing {
  readonly random: Randomness;
  readonly platform: NodeJS.Platform;
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
  const beside = `${path}${suffix}${Buffer.from(random.bytes(8)).toString('hex')}`;
  try {
    const filled = await filledWith(await open(beside, NEW_FILE, mode), fill, mayBeLost);
    await rename(beside, path);
    if (!mayBeLost) await syncFolder(dirname(path), platform);
    return filled;
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

async function filledWith<T>(file: FileHandle, fill: (file: FileHandle) => Promise<T>, mayBeLost: boolean): Promise<T> {
  try {
    const filled = await fill(file);
    if (!mayBeLost) await file.sync();
    return filled;
  } finally {
    await file.close();
  }
}

/** Makes names in a folder durable. Windows has no such call, its renames are journaled. */
export async function syncFolder(path: string, platform: NodeJS.Platform): Promise<void> {
  if (platform === 'win32') return;
  const folder: FileHandle = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
