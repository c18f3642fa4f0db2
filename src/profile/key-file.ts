/** Keys from a file that the user names. */
import { open } from 'node:fs/promises';
import { CliError } from '../core/errors.ts';
import { shellWord } from '../core/shell-quote.ts';
import { inOurWords } from '../files/private-files.ts';
import { quoted } from './name.ts';

const MOST_BYTES = 4096;
const LONGEST_PATH = 1024;

export interface KeyFileSurroundings {
  readonly platform: NodeJS.Platform;
  readonly warn: (text: string) => void;
}

/**
 * The text of a key file somebody named. Symlinks and pipes are fine here (mounted secrets, `<(command)`); what
 * everybody may read or write is not. Throws `guarded` for that, `not_authenticated` when there is no such file.
 */
export async function readKeyFile(path: string, around: KeyFileSurroundings): Promise<string> {
  return inOurWords(`the key file ${quoted(path, LONGEST_PATH)}`, async () => {
    const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new CliError('not_authenticated', {
        message: `there is no key file ${quoted(path, LONGEST_PATH)}`,
        hint: 'cardwright help environment',
      });
    });
    try {
      const found = await file.stat();
      if (!found.isFile() && !found.isFIFO()) throw refused(path, 'is neither a file nor a pipe');
      if (around.platform !== 'win32') checkMode(path, found.mode, around.warn);
      return await readSome(file, path);
    } finally {
      await file.close();
    }
  });
}

function checkMode(path: string, mode: number, warn: (text: string) => void): void {
  if ((mode & 0o006) !== 0) throw refused(path, 'is open to everybody', `chmod 600 ${shellWord(path)}`);
  if ((mode & 0o060) !== 0) warn(`the key file ${quoted(path, LONGEST_PATH)} is open to its group`);
}

async function readSome(file: Awaited<ReturnType<typeof open>>, path: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: MOST_BYTES })) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MOST_BYTES) throw refused(path, 'is too large for a key');
  }
  return Buffer.concat(chunks).toString('utf8');
}

function refused(path: string, why: string, hint = 'cardwright help environment'): CliError {
  return new CliError('guarded', {
    message: `the key file ${quoted(path, LONGEST_PATH)} ${why}`,
    hint,
    outcome: 'not_sent',
  });
}
