/** A file or a pipe that the user named as input, read piece by piece. */
import { open } from 'node:fs/promises';
import { CliError } from '../core/errors.ts';
import { systemCode } from './private-files.ts';
import { systemWords } from './system-words.ts';

export interface InputFile extends AsyncDisposable {
  /** The bytes, once. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** False when a file was written to since it was opened; always true for pipes. */
  unchanged(): Promise<boolean>;
}

const PIECE_BYTES = 64 * 1024;

/** Throws `usage` naming the path when it cannot be read. `name` is what the user typed. */
export async function openInputFile(path: string, name: string): Promise<InputFile> {
  const inTheUsersWords = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      throw unreadable(name, code);
    }
  };
  const file = await inTheUsersWords(() => open(path, 'r'));
  const state = async () => {
    const { size, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
    return `${size} ${mtimeNs} ${ctimeNs}`;
  };
  const before = await inTheUsersWords(state);
  const found = await file.stat();
  if (found.isDirectory()) {
    await file.close();
    // Reading it would say so too late: a request for its bytes would have begun.
    throw unreadable(name, 'EISDIR');
  }
  const ordinary = found.isFile();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const { bytesRead, buffer } = await inTheUsersWords(() =>
        file.read(new Uint8Array(PIECE_BYTES), 0, PIECE_BYTES, null),
      );
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  }
  return {
    pieces: pieces(),
    unchanged: async () => !ordinary || (await inTheUsersWords(state)) === before,
    [Symbol.asyncDispose]: () => file.close(),
  };
}

function unreadable(name: string, code: string): CliError {
  const message = `cannot read ${JSON.stringify(name)}: ${systemWords(code)}`;
  return new CliError('usage', { message, outcome: 'not_sent' });
}
