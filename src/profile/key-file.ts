/** Keys from a file that the user names. */

import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { CliError } from '../core/errors.ts';
import { KEY_TEXT_BYTES } from '../core/input-limits.ts';
import { shellWord } from '../core/shell-quote.ts';
import { openPipe } from '../files/pipe.ts';
import { inOurWords, NO_WAITING } from '../files/private-files.ts';
import type { Clock } from '../platform/host.ts';
import { quoted } from './name.ts';

const LONGEST_PATH = 1024;

export interface KeyFileDependencies {
  readonly platform: NodeJS.Platform;
  readonly warn: (text: string) => void;
  /** What the file is called in errors; `key file` when left out. */
  readonly called?: string;
  readonly clock: Clock;
  /** Ends the waiting for a pipe; its reason is thrown. */
  readonly signal: AbortSignal;
}

interface KeyPath {
  readonly given: string;
  /** With what it is called, for errors. */
  readonly shown: string;
}

/**
 * The text of a key file somebody named. Symlinks and pipes are fine here (mounted secrets, `<(command)`); what
 * everybody may read or write is not. Throws `guarded` for that, `not_authenticated` when there is no such file.
 */
export async function readKeyFile(given: string, around: KeyFileDependencies): Promise<string> {
  const { called = 'key file' } = around;
  const path = { given, shown: `${called} ${quoted(given, LONGEST_PATH)}` };
  return inOurWords(`the ${path.shown}`, async () => {
    const found = await stat(given).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new CliError('not_authenticated', {
        message: `there is no ${path.shown}`,
        hint: 'cardwright help environment',
      });
    });
    if (found.isFIFO()) return readPipe(path, around);
    if (!found.isFile()) throw refused(path, 'is neither a file nor a pipe');
    const file = await open(given, constants.O_RDONLY | NO_WAITING);
    try {
      // The open file is judged, not the name: the name may point elsewhere by now.
      const opened = await file.stat();
      if (!opened.isFile()) throw refused(path, 'is neither a file nor a pipe');
      if (around.platform !== 'win32') checkMode(path, opened.mode, around.warn);
      return await readSome(file.createReadStream({ autoClose: false, highWaterMark: KEY_TEXT_BYTES }), path);
    } finally {
      await file.close();
    }
  });
}

async function readPipe(path: KeyPath, { platform, warn, clock, signal }: KeyFileDependencies): Promise<string> {
  const onLong = () => warn(`still waiting for the ${path.shown}: nothing was written to it yet`);
  await using pipe = await openPipe(path.given, { clock, signal, onLong });
  if (platform !== 'win32') checkMode(path, Number(pipe.found.mode), warn);
  return await readSome(pipe.pieces, path);
}

function checkMode(path: KeyPath, mode: number, warn: (text: string) => void): void {
  if ((mode & 0o006) !== 0) throw refused(path, 'is open to everybody', `chmod 600 ${shellWord(path.given)}`);
  if ((mode & 0o060) !== 0) warn(`the ${path.shown} is open to its group`);
}

async function readSome(pieces: AsyncIterable<Uint8Array>, path: KeyPath): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of pieces) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > KEY_TEXT_BYTES) throw refused(path, 'is too large for a key');
  }
  return Buffer.concat(chunks).toString('utf8');
}

function refused({ shown }: KeyPath, why: string, hint = 'cardwright help environment'): CliError {
  return new CliError('guarded', {
    message: `the ${shown} ${why}`,
    hint,
    outcome: 'not_sent',
  });
}
