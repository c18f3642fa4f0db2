/** A file that says "ready" to a script that waits for it: one line, an address, and only while somebody is there. */
import { lstat, readFile, rm } from 'node:fs/promises';
import { CliError } from '../core/errors.ts';
import { type FileDependencies, inOurWords, readOrdinary, systemCode, writePrivate } from './private-files.ts';

const LONGEST = 4_096;

/**
 * Takes away what an earlier run left, so that whoever waits sees only what is written from now on. Throws `usage` when
 * something else stands there: nobody's file is overwritten because of a mistyped name.
 */
export async function clearReadyFile(path: string): Promise<void> {
  await inOurWords(path, async () => {
    const found = await lstat(path).catch((error: unknown) => {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (found === undefined) return;
    const text = found.isFile() && found.size <= LONGEST ? await readFile(path, 'utf8') : undefined;
    if (text === undefined || !/^(?:https?:\/\/\S+\n)?$/.test(text)) {
      throw new CliError('usage', {
        message: `--ready-file ${JSON.stringify(path)} is there already and is no ready file; nothing is overwritten`,
        outcome: 'not_sent',
      });
    }
    await rm(path);
  });
}

/** Appears whole. Throws `guarded` when it cannot be written. */
export async function writeReadyFile(path: string, address: string, around: FileDependencies): Promise<void> {
  await writePrivate(path, `${address}\n`, around);
}

/** Takes it away at the end, unless another run has written its own there. */
export async function removeReadyFile(path: string, address: string): Promise<void> {
  const bytes = await readOrdinary(path).catch((error: unknown) => {
    if (systemCode(error) !== undefined || error instanceof CliError) return undefined;
    throw error;
  });
  if (bytes?.toString('utf8') === `${address}\n`) await rm(path, { force: true });
}
