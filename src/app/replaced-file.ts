/** A file that a command writes into a folder of the user, again and again under the same name. */
import { join, resolve } from 'node:path';
import { CliError } from '../core/errors.ts';
import { makeFolders } from '../files/make-folders.ts';
import { systemCode } from '../files/private-files.ts';
import { systemWords } from '../files/system-words.ts';
import { writeAtomically } from '../files/write-atomically.ts';
import type { AppHost } from './app-host.ts';

/** See `replaceFile` of the context. */
export async function replaceFile(
  { cwd, noise, platform }: AppHost,
  [folder, name]: readonly [string, string],
  { pieces, mark }: { readonly pieces: Iterable<string>; readonly mark: string },
): Promise<string> {
  const place = resolve(cwd, folder);
  try {
    makeFolders(place, 0o700);
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined || error instanceof CliError) throw error;
    throw new CliError('usage', {
      message: `the folder ${JSON.stringify(folder)} cannot be made: ${systemWords(code)}`,
      outcome: 'not_sent',
      cause: error,
    });
  }
  const shown = join(folder, name);
  await writeAtomically(join(place, name), bytesOf(pieces), { random: noise, platform, name: shown, mark });
  return shown;
}

/** In writes of a size that is worth a call of the system. */
async function* bytesOf(pieces: Iterable<string>): AsyncGenerator<Uint8Array> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < WRITE) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

const WRITE = 65_536;
