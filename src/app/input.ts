/** What a command is given to read: a file that is named, or standard input. */
import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import type { InputRows } from '../cli/context.ts';
import { CliError } from '../core/errors.ts';
import { PIPED_ROWS_BYTES, WHOLE_INPUT_BYTES } from '../core/input-limits.ts';
import type { InputDependencies } from '../files/input-file.ts';
import type { InputStream } from '../platform/host.ts';
import type { AppHost } from './app-host.ts';

/** What is read, and whom waiting for it is told. */
export interface InputSource extends Pick<InputDependencies, 'notice'> {
  readonly host: AppHost;
  readonly stdin: InputStream;
}

/** What was opened. */
export interface Opened extends InputRows {
  /** It may have no end. */
  readonly isPipe: boolean;
}

/** A file, or standard input. Throws `usage` for what cannot be read or is no text. */
export async function openInput({ host, stdin, notice }: InputSource, path: string): Promise<Opened> {
  if (path !== '-') {
    const { openInputFile } = await import('../files/input-file.ts');
    return openInputFile(resolve(host.cwd, path), path, surroundings(host, notice));
  }
  const bytes = await stdin.readBytes(PIPED_ROWS_BYTES);
  if (!isUtf8(bytes)) {
    throw new CliError('usage', { message: 'standard input is not UTF-8 text. Nothing was sent', outcome: 'not_sent' });
  }
  async function* pieces() {
    yield bytes;
  }
  return { pieces: pieces(), isPipe: true, unchanged: async () => true, [Symbol.asyncDispose]: async () => undefined };
}

/** As `openInput`, for rows that are all kept before the first is sent: a pipe holds no more than standard input may. */
export async function openRows(place: InputSource, path: string): Promise<InputRows> {
  const input = await openInput(place, path);
  if (!input.isPipe) return input;
  const { bounded } = await import('../files/input-file.ts');
  return { ...input, pieces: bounded(input.pieces, path, PIPED_ROWS_BYTES) };
}

/** All of a file, or of standard input. Throws `usage` above 16 MB. */
export async function readBytes({ host, stdin, notice }: InputSource, path: string): Promise<Uint8Array> {
  if (path === '-') return stdin.readBytes(WHOLE_INPUT_BYTES);
  const { readWhole } = await import('../files/input-file.ts');
  return readWhole(resolve(host.cwd, path), path, WHOLE_INPUT_BYTES, surroundings(host, notice));
}

function surroundings({ clock, signal }: AppHost, notice: (text: string) => void): InputDependencies {
  return { clock, signal, notice };
}
