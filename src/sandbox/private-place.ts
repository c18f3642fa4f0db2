/** Folders and files of this user alone (SANDBOX, section 10): 0700 and 0600 whatever the umask, no symlinks. */
import { type BigIntStats, chmodSync, closeSync, constants, lstatSync, mkdirSync, openSync, type Stats } from 'node:fs';
import { userInfo } from 'node:os';
import { CliError } from '../errors.ts';

// Each of these calls takes microseconds, and a turn of the thread pool for it many times that.

/** Makes `path` a 0700 folder of ours, its parents too. Throws `guarded` for a symlink or somebody else's folder. */
export async function privateFolder(path: string, platform: NodeJS.Platform): Promise<void> {
  inOurWords(path, () => {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const found = lstatSync(path);
    if (!found.isDirectory()) throw unsafe(path, 'is not a folder');
    ourAlone(path, found, platform);
  });
}

/**
 * Creates `path` empty with mode 0600 when it is not there, so that the engine never creates it open to others.
 * An existing file is looked at but not opened: closing it again would free the engine's locks on it.
 */
export async function privateFile(path: string, platform: NodeJS.Platform): Promise<void> {
  inOurWords(path, () => {
    if (createdNow(path)) return;
    const found = lstatSync(path);
    if (!found.isFile()) throw unsafe(path, 'is not an ordinary file');
    ourAlone(path, found, platform);
  });
}

function createdNow(path: string): boolean {
  try {
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    closeSync(file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function ourAlone(path: string, found: Stats | BigIntStats, platform: NodeJS.Platform): void {
  // Windows has neither owners nor modes in this form.
  if (platform === 'win32') return;
  const mode = Number(found.mode) & 0o777;
  if (Number(found.uid) !== userInfo().uid) throw unsafe(path, 'belongs to another user');
  if ((mode & 0o002) !== 0) throw unsafe(path, 'can be written by everybody');
  const right = found.isDirectory() ? 0o700 : 0o600;
  if (mode !== right) chmodSync(path, right);
}

/** The system's code of an error, `ENOENT`; undefined for other thrown values. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function inOurWords(path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    throw new CliError('guarded', {
      message: `${path} cannot be used for the sandbox: ${code}`,
      hint: 'cardwright doctor',
      outcome: 'not_sent',
      cause: error,
    });
  }
}

function unsafe(path: string, why: string): CliError {
  return new CliError('guarded', {
    message: `${path} ${why}; the sandbox keeps its files in places of this user alone`,
    hint: 'cardwright doctor',
    outcome: 'not_sent',
  });
}
