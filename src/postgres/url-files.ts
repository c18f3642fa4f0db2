/** Files that the address of a database names, or that hold a part of it. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { CliError } from '../core/errors.ts';
import { shellWord } from '../core/shell-quote.ts';
import { inOurWords, NO_WAITING } from '../files/private-files.ts';
import type { PostgresTls } from './client.ts';
import type { PostgresUrl } from './postgres-url.ts';

/** Longer than any certificate or password. */
const FILE_BYTES = 65_536;

interface Reading {
  readonly platform: NodeJS.Platform;
  /** The command that a refusal names where it knows no better. */
  readonly hint: string;
}

/** The certificates an address names, as text. */
export async function tlsTexts(
  { ca, cert, key }: NonNullable<PostgresUrl['tls']>,
  reading: Reading,
): Promise<PostgresTls> {
  const read = async (path: string | undefined, isSecret: boolean) =>
    path === undefined ? undefined : readUrlFile(path, { ...reading, isSecret });
  return { ca: await read(ca, false), cert: await read(cert, false), key: await read(key, true) };
}

/** The one line of a file that holds a secret. Throws `guarded` for one that is open to others. */
export async function readSecretLine(path: string, reading: Reading): Promise<string> {
  return (await readUrlFile(path, { ...reading, isSecret: true })).replace(/\r?\n$/, '');
}

/** The text of a file. Throws `guarded` for one that is secret and open to others. */
async function readUrlFile(path: string, how: Reading & { readonly isSecret: boolean }): Promise<string> {
  return inOurWords(path, async () => {
    const file = await open(path, constants.O_RDONLY | NO_WAITING);
    try {
      // The open file is judged, not the name: the name may point elsewhere by now.
      const found = await file.stat();
      if (!found.isFile() || found.size > FILE_BYTES) throw unfit(path, 'is no file of a fitting size', how.hint);
      if (how.isSecret && how.platform !== 'win32' && (found.mode & 0o077) !== 0) {
        throw unfit(path, 'is open to other users', `chmod 600 ${shellWord(path)}`);
      }
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  });
}

function unfit(path: string, why: string, hint: string): CliError {
  return new CliError('guarded', { message: `${path} ${why}`, hint, outcome: 'not_sent' });
}
