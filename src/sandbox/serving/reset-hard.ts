/** The way out of a store that cannot be used: aside with it. Nothing is deleted. */
import { lstat, mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CliError } from '../../core/errors.ts';
import { holderOf } from '../../files/lock.ts';
import { systemCode } from '../../files/private-files.ts';
import type { Clock, Folders } from '../../platform/host.ts';
import { storeFile, storeFolder } from './embedded.ts';
import { serverPaths } from './started.ts';

/** The log first: a database without it is older but whole, a log beside another database is a danger. */
const PARTS = ['-wal', '-shm', ''] as const;

interface Moving {
  readonly folders: Pick<Folders, 'data'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly pid: number;
  readonly isRunning: (pid: number) => boolean;
}

/**
 * Moves the store and its two companions into a fresh 0700 folder beside it, `store-<time>`. Resolves to where they
 * are now; empty when there was no store. The next command makes a new one.
 * Throws `guarded` while a started sandbox serves it.
 */
export async function resetHard({ folders, clock, ...us }: Moving): Promise<string[]> {
  const holder = await holderOf(serverPaths(folders.data).lock, us, us.isRunning);
  if (holder !== 'nobody') {
    throw new CliError('guarded', {
      message: `the store is not moved aside: process ${holder} serves it (sandbox start)`,
      hint: 'cardwright sandbox stop',
      outcome: 'not_sent',
    });
  }
  const time = new Date(clock.now()).toISOString().replaceAll(/[-:]/g, '');
  const aside = join(storeFolder(folders.data), `store-${time}`);
  const here = await existing(PARTS.map(part => storeFile(folders.data) + part));
  if (here.length > 0) await mkdir(aside, { mode: 0o700 });
  const moved: string[] = [];
  for (const path of here) {
    const target = join(aside, basename(path));
    if (await isMoved(path, target)) moved.push(target);
  }
  return moved;
}

/** False for a companion that is gone meanwhile: whoever closed the store last has put it into the database. */
async function isMoved(path: string, target: string): Promise<boolean> {
  try {
    await rename(path, target);
    return true;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || path.endsWith('.db')) throw error;
    return false;
  }
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    try {
      await lstat(path);
      found.push(path);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }
  return found;
}
