/** Damaged profile files, kept beside the place they stood at. */
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createPrivate, readOrdinary, systemCode } from '../files/private-files.ts';

/**
 * Keeps the bytes of a damaged file beside it as `<path>.corrupt-<n>`, 0600, and returns that path. The same
 * bytes are kept once, however often the file is read.
 */
export async function keepCorruptCopy(path: string): Promise<string> {
  const bytes = await readOrdinary(path);
  for (const kept of await besides(path, 'corrupt-')) {
    if (bytes.equals(await readOrdinary(kept))) return kept;
  }
  for (let n = 1; ; n += 1) {
    const copy = `${path}.corrupt-${n}`;
    if (await createdAs(copy, bytes)) return copy;
  }
}

/** Removes files beside `path` named `<path>.<prefix>...` and returns how many there were. */
export async function removeBesides(path: string, prefix: 'corrupt-' | 'tmp-'): Promise<number> {
  const found = await besides(path, prefix);
  for (const file of found) await rm(file, { force: true });
  return found.length;
}

async function besides(path: string, prefix: string): Promise<string[]> {
  const folder = dirname(path);
  const names = await readdir(folder);
  return names.filter(name => name.startsWith(`${basename(path)}.${prefix}`)).map(name => join(folder, name));
}

async function createdAs(path: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await createPrivate(path, bytes);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}
