/** A private file that arrives in pieces: written beside its target, synced, renamed. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rm } from 'node:fs/promises';
import { CliError } from '../core/errors.ts';
import type { Randomness } from '../platform/host.ts';
import { systemCode } from './private-files.ts';
import { replaceFile } from './replace-file.ts';
import { systemWords } from './system-words.ts';

export interface AtomicWrite {
  readonly random: Randomness;
  readonly platform: NodeJS.Platform;
  /** What the user called it, for messages. */
  readonly name: string;
  /** How a file that may be replaced begins; any other is left as it is. */
  readonly mark: string;
}

/**
 * Puts the pieces in a 0600 file at `path`, whole or not at all. Resolves to the number of bytes. Throws `guarded` when
 * something else is there, `usage` when it cannot be written; then nothing is left behind and the old file is whole.
 */
export async function writeAtomically(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  beside: AtomicWrite,
): Promise<number> {
  return inTheUsersWords(beside.name, async () => {
    await refuseForeign(path, beside);
    return replaceFile(path, { ...beside, mode: 0o600 }, file => writeAll(file, pieces));
  });
}

/** Whether that can be done at `path` now: what is there may be replaced, and a file beside it can be made. */
export async function checkWritable(path: string, beside: AtomicWrite): Promise<void> {
  await inTheUsersWords(beside.name, async () => {
    await refuseForeign(path, beside);
    const fresh = `${path}.tmp-${Buffer.from(beside.random.bytes(8)).toString('hex')}`;
    await (await open(fresh, CREATE, 0o600)).close();
    await rm(fresh);
  });
}

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

async function writeAll(file: FileHandle, pieces: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten;
    size += piece.length;
  }
  return size;
}

async function refuseForeign(path: string, { name, mark }: AtomicWrite): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined || (found.isFile() && (await beginning(path, mark.length)) === mark)) return;
  throw new CliError('guarded', {
    message: `${JSON.stringify(name)} exists and was not written by cardwright; it was not changed`,
    outcome: 'not_sent',
  });
}

async function beginning(path: string, length: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function inTheUsersWords<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = systemCode(error);
    // A connection that breaks has a code as well, and is told by who made it.
    if (error instanceof CliError || code === undefined || !/^E[A-Z]+$/.test(code) || code === 'ECONNRESET')
      throw error;
    throw new CliError('usage', {
      message: `cannot write ${JSON.stringify(name)}: ${systemWords(code)}`,
      outcome: 'not_sent',
    });
  }
}
