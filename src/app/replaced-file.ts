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
  { text, mark }: { readonly text: string; readonly mark: string },
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
  await writeAtomically(join(place, name), whole(text), { random: noise, platform, name: shown, mark });
  return shown;
}

async function* whole(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
