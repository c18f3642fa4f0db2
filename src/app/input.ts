/** What a command is given to read: a file that is named, or standard input. */
import { resolve } from 'node:path';
import type { InputRows } from '../cli/context.ts';
import { CliError } from '../core/errors.ts';
import type { InputStream } from '../platform/host.ts';
import type { Surroundings } from './app-host.ts';

const MOST_PIPED_BYTES = 256 * 1024 * 1024;

/** A file of rows, or standard input. Throws `usage` for what cannot be read or is no text. */
export async function openInput(host: Surroundings, stdin: InputStream, path: string): Promise<InputRows> {
  if (path !== '-') {
    const { openInputFile } = await import('../files/input-file.ts');
    return openInputFile(resolve(host.cwd, path), path);
  }
  const text = await stdin.readAll(MOST_PIPED_BYTES);
  if (text.includes('\ufffd')) {
    throw new CliError('usage', { message: 'standard input is not UTF-8 text. Nothing was sent', outcome: 'not_sent' });
  }
  async function* pieces() {
    yield Buffer.from(text);
  }
  return { pieces: pieces(), unchanged: async () => true, [Symbol.asyncDispose]: async () => undefined };
}

const MOST_WHOLE_BYTES = 16 * 1024 * 1024;

/** All of a file, or of standard input. Throws `usage` above 16 MB. */
export async function readBytes(host: Surroundings, stdin: InputStream, path: string): Promise<Uint8Array> {
  if (path === '-') return stdin.readBytes(MOST_WHOLE_BYTES);
  const { openInputFile } = await import('../files/input-file.ts');
  await using file = await openInputFile(resolve(host.cwd, path), path);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of file.pieces) {
    size += part.length;
    if (size > MOST_WHOLE_BYTES) {
      const message = `${JSON.stringify(path)} is larger than ${MOST_WHOLE_BYTES} bytes`;
      throw new CliError('usage', { message, outcome: 'not_sent' });
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}
