/** Makes a folder and those above it, step by step. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../core/errors.ts';

/**
 * Makes `path` and what is missing above it with `mode`, less the umask; a folder that is there stays as it is. Throws
 * the system's error, and `guarded` where a system takes no folders. Node's own `recursive` never comes back from there:
 * below /proc the answer to mkdir is that the parent is missing, though it is there (Node 20 to 26).
 */
export function makeFolders(path: string, mode: number): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolders(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Somebody was quicker.
    if (isFolder(path)) return;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !isFolder(parent)) throw error;
    throw new CliError('guarded', {
      message: `${path} cannot be made: ${parent} takes no folders`,
      hint: 'cardwright doctor',
      outcome: 'not_sent',
      cause: error,
    });
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    // Not by `throwIfNoEntry`: from Node 22 on it keeps quiet about a file on the way too.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
