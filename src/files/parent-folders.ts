/** The folders above a private one: whoever may rename one of them may put another in its place, guards and all. */
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export const WORLD_WRITES = 0o002;
const STICKY = 0o1000;
const ROOT = 0;

/** A folder, and what is wrong with it. */
export interface UnsafeFolder {
  readonly path: string;
  readonly why: string;
}

/**
 * The folder above `path` that is not safe: it belongs to somebody who is neither `us`, a user id, nor root, can be
 * written by everybody without the sticky bit, or is reached through a link of somebody else. What is not there is not
 * looked at: it is made by us.
 */
export function unsafeParent(path: string, us: number): UnsafeFolder | undefined {
  const trusted = new Set([us, ROOT, ...unmapped()]);
  const nearest = above(path).find(folder => existing(() => lstatSync(folder)) !== undefined);
  if (nearest === undefined) return undefined;
  for (const link of [nearest, ...above(nearest)]) {
    const found = lstatSync(link);
    if (found.isSymbolicLink() && !trusted.has(found.uid)) return { path: link, why: 'is a link of another user' };
  }
  const real = existing(() => realpathSync(nearest)) ?? nearest;
  for (const folder of [real, ...above(real)]) {
    const { uid, mode } = statSync(folder);
    if (!trusted.has(uid)) return { path: folder, why: 'belongs to another user' };
    const isOpen = (mode & WORLD_WRITES) !== 0 && (mode & STICKY) === 0;
    if (isOpen) return { path: folder, why: 'can be written by everybody' };
  }
  return undefined;
}

/** The folders above, the nearest first. */
function above(path: string): string[] {
  const found: string[] = [];
  for (let [below, folder] = [path, dirname(path)]; folder !== below; folder = dirname(folder)) {
    found.push(folder);
    below = folder;
  }
  return found;
}

function existing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** In a container whose ids are mapped, what belongs to root outside has the owner that stands for all others. */
function unmapped(): number[] {
  try {
    const isWhole = /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'));
    return isWhole ? [] : [Number(readFileSync('/proc/sys/kernel/overflowuid', 'utf8'))];
  } catch {
    return [];
  }
}
