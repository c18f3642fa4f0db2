/** A lock that ends with its process, however that ends: the one of SQLite on an empty file. The file stays. */
import { existsSync } from 'node:fs';
import { notSent } from '../core/errors.ts';
import { privateFile } from '../files/private-files.ts';
import type { Host } from '../platform/host.ts';
import { between } from '../platform/time.ts';
import type { Connection } from './connection.ts';
import { connectTo, isBusy } from './open.ts';

interface LockOptions extends Pick<Host, 'clock' | 'random' | 'platform'> {
  /** How long another holder is waited for, milliseconds; 0 tries once. */
  readonly timeoutMs: number;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

const LONGEST_PAUSE_MS = 64;

/**
 * Runs `work` while nobody else holds the lock file `path`, whose folder must exist. Throws `guarded` when others held it
 * for too long. Not re-entrant.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const { clock, random, platform, timeoutMs, signal } = options;
  const deadline = clock.monotonic() + timeoutMs;
  let lock = lockNow(path, platform);
  while (lock === undefined) {
    const left = deadline - clock.monotonic();
    if (left <= 0) throw notSent('guarded', `${path} is held by another process`, 'cardwright doctor');
    await clock.sleep(Math.min(left, between(random, 1, LONGEST_PAUSE_MS)), signal);
    lock = lockNow(path, platform);
  }
  try {
    return await work();
  } finally {
    lock.close();
  }
}

/** Whether somebody holds the lock. */
export function isLocked(path: string, platform: NodeJS.Platform): boolean {
  if (!existsSync(path)) return false;
  const lock = lockNow(path, platform);
  lock?.close();
  return lock === undefined;
}

/** The connection that holds it until it is closed; undefined where another one does. */
function lockNow(path: string, platform: NodeJS.Platform): Connection | undefined {
  privateFile(path, platform);
  const connection = connectTo(path);
  try {
    // Nothing is written, so nothing stands beside the file.
    connection.exec('pragma journal_mode = memory; begin immediate');
    return connection;
  } catch (error) {
    connection.close();
    if (isBusy(error)) return undefined;
    throw notSent('guarded', `${path} cannot be locked: ${(error as Error).message}`, {
      hint: 'cardwright doctor',
      cause: error,
    });
  }
}
