/** Folders, private files and locks of this user, as `doctor` sees them. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../../cli/finding.ts';
import { CliError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { FreeSpace } from '../../files/free-space.ts';
import { isLocked } from '../../files/lock.ts';
import { checkPrivateFolder, type FileDependencies, inOurWords, systemCode } from '../../files/private-files.ts';
import type { IsRunning } from '../../files/process-identity.ts';
import type { Folders } from '../../platform/host.ts';

export interface FileFacts {
  readonly folders: Folders;
  readonly files: Omit<FileDependencies, 'warn'>;
  readonly pid: number;
  readonly isRunning: IsRunning;
  readonly freeSpaceOf: (folder: string) => Promise<FreeSpace>;
}

/** Deep enough for a folder per operation. */
const DEEPEST = 3;
const OTHERS = 0o077;

export async function fileFindings(facts: FileFacts): Promise<readonly Finding[]> {
  try {
    return [await modesFinding(facts), await spaceFinding(facts), await locksFinding(facts)];
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    return [{ check: 'files', status: 'fail', says: thrown.message }];
  }
}

async function modesFinding({ folders, files }: FileFacts): Promise<Finding> {
  const repaired: string[] = [];
  const around = { ...files, warn: (text: string) => void repaired.push(text) };
  const there: string[] = [];
  for (const folder of new Set([folders.config, folders.state, folders.data, folders.cache])) {
    if (await checkPrivateFolder(folder, around)) there.push(folder);
  }
  const open = files.platform === 'win32' ? [] : await openFiles(there);
  if (repaired.length > 0) return { check: 'files', status: 'warn', says: repaired.join('; ') };
  const [first] = open;
  if (first === undefined)
    return { check: 'files', status: 'ok', says: `private: ${there.join(', ') || 'none made yet'}` };
  const says = `${open.length} open to other users, the first is ${first}`;
  return { check: 'files', status: 'warn', says, hint: `chmod 600 ${JSON.stringify(first)}` };
}

const MEGABYTE = 1_000_000;
/** A journal of some thousand rows; and less than that may hold no plan at all. */
const LITTLE = 20 * MEGABYTE;
const TOO_LITTLE = MEGABYTE;

/** Without room nothing can be written down, and what cannot be written down is not sent. */
async function spaceFinding({ folders, freeSpaceOf }: FileFacts): Promise<Finding> {
  const check = 'space';
  const asked = [...new Set([folders.state, folders.data, folders.config])];
  const spaces = await Promise.all(asked.map(freeSpaceOf));
  const barred = spaces.find(({ refusedBy }) => refusedBy !== undefined);
  if (barred !== undefined) {
    const says = `${barred.folder} cannot be written (${barred.refusedBy}): no money is moved`;
    return { check, status: 'fail', says, hint: `ls -ld ${shellWord(barred.folder)}` };
  }
  const [least] = spaces.toSorted((a, b) => a.free - b.free);
  if (least === undefined || least.free >= LITTLE) return { check, status: 'ok', says: 'folders can be written' };
  const left = `${Math.floor(least.free / MEGABYTE)} MB are left for ${least.folder}`;
  const hint = `df -h ${shellWord(least.folder)}`;
  if (least.free >= TOO_LITTLE) return { check, status: 'warn', says: left, hint };
  return { check, status: 'fail', says: `${left}: no money is moved until there is room`, hint };
}

async function openFiles(folders: readonly string[]): Promise<readonly string[]> {
  const open: string[] = [];
  for await (const path of filesBelow(folders)) {
    const found = await statOf(path);
    if (found?.isFile() && (found.mode & OTHERS) !== 0) open.push(path);
  }
  return open;
}

async function locksFinding({ folders, pid, isRunning }: FileFacts): Promise<Finding> {
  const stale: string[] = [];
  let held = 0;
  for await (const path of filesBelow([folders.config, folders.state, folders.data])) {
    if (!/(?:\.lock|\/lock|\.takeover)$/.test(path)) continue;
    if (await isLocked(path, { pid }, isRunning)) held += 1;
    else if ((await statOf(path)) !== undefined) stale.push(path);
  }
  if (stale.length === 0)
    return { check: 'locks', status: 'ok', says: held === 0 ? 'none' : `${held} held by running processes` };
  const says = `${stale.length} left by processes that are gone; the next command takes them over`;
  return { check: 'locks', status: 'warn', says: `${says}: ${stale.join(', ')}` };
}

async function* filesBelow(folders: readonly string[], depth = DEEPEST): AsyncGenerator<string> {
  for (const folder of folders) {
    const entries = await inOurWords(folder, async () =>
      readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
        if (systemCode(error) === 'ENOENT') return [];
        throw error;
      }),
    );
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isFile()) yield path;
      else if (entry.isDirectory() && depth > 0) yield* filesBelow([path], depth - 1);
    }
  }
}

/** A file may be gone since it was listed: another process is at work. */
async function statOf(path: string) {
  return lstat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
}
