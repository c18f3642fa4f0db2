/** A file or a pipe that the user named as input, read piece by piece. */
import type { Stats } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { CliError } from '../core/errors.ts';
import { sizeText } from '../core/input-limits.ts';
import type { Clock } from '../platform/host.ts';
import { keepOpen } from './keep-open.ts';
import { openPipe } from './pipe.ts';
import { systemCode } from './private-files.ts';
import { systemWords } from './system-words.ts';

export interface InputFile extends AsyncDisposable {
  /** The bytes, once. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** False when a file was written to since it was opened; always true for pipes. */
  unchanged(): Promise<boolean>;
  /** It may have no end, and comes once. */
  readonly isPipe: boolean;
}

/** What a pipe, which may keep its reader waiting, is read with. */
export interface InputDependencies {
  readonly clock: Clock;
  /** Ends the waiting; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Told in one line when nothing has come for 10 s. */
  readonly notice: (text: string) => void;
}

const PIECE_BYTES = 64 * 1024;
/** The one device that has an end. */
const NOTHING = '/dev/null';

/**
 * Throws `usage` naming the path when it cannot be read, and for a device, which may have no end. `name` is what the user
 * typed.
 */
export async function openInputFile(path: string, name: string, around: InputDependencies): Promise<InputFile> {
  const found = await inTheUsersWords(name, () => stat(path));
  if (found.isFIFO()) return pipeOf(path, name, around);
  // Reading a folder would say so too late: a request for its bytes would have begun.
  if (found.isDirectory()) throw unreadable(name, systemWords('EISDIR'));
  if (isDevice(found) && (await realpath(path)) !== NOTHING) {
    throw unreadable(name, 'it is a device, not a file or a pipe');
  }
  return ordinary(await inTheUsersWords(name, () => open(path, 'r')), name);
}

function isDevice(found: Stats): boolean {
  return found.isCharacterDevice() || found.isBlockDevice();
}

async function pipeOf(path: string, name: string, { clock, signal, notice }: InputDependencies): Promise<InputFile> {
  const onLong = () => notice(`still waiting for ${name}: it is a pipe, and nothing was written to it yet`);
  const { pieces, ...pipe } = await inTheUsersWords(name, () => openPipe(path, { clock, signal, onLong }));
  return {
    pieces,
    isPipe: true,
    unchanged: async () => true,
    [Symbol.asyncDispose]: () => pipe[Symbol.asyncDispose](),
  };
}

async function ordinary(file: FileHandle, name: string): Promise<InputFile> {
  const state = async () => {
    const { size, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
    return `${size} ${mtimeNs} ${ctimeNs}`;
  };
  const before = await keepOpen(file, () => inTheUsersWords(name, state));
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const { bytesRead, buffer } = await inTheUsersWords(name, () =>
        file.read(new Uint8Array(PIECE_BYTES), 0, PIECE_BYTES, null),
      );
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  }
  return {
    pieces: pieces(),
    isPipe: false,
    unchanged: async () => (await inTheUsersWords(name, state)) === before,
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/** All of it. Throws `usage` above `mostBytes`: a pipe may have no end. */
export async function readWhole(
  path: string,
  name: string,
  mostBytes: number,
  around: InputDependencies,
): Promise<Uint8Array> {
  await using file = await openInputFile(path, name, around);
  const parts: Uint8Array[] = [];
  for await (const part of bounded(file.pieces, name, mostBytes)) parts.push(part);
  return Buffer.concat(parts);
}

/** The same pieces. Throws `usage` behind `mostBytes` of them. */
export async function* bounded(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  mostBytes: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > mostBytes) {
      const message = `${JSON.stringify(name)} is larger than ${sizeText(mostBytes)}`;
      throw new CliError('usage', { message, outcome: 'not_sent' });
    }
    yield piece;
  }
}

async function inTheUsersWords<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined || error instanceof CliError) throw error;
    throw unreadable(name, systemWords(code));
  }
}

function unreadable(name: string, why: string): CliError {
  const message = `cannot read ${JSON.stringify(name)}: ${why}`;
  return new CliError('usage', { message, outcome: 'not_sent' });
}
