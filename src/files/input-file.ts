/** A file or a pipe that the user named as input, read piece by piece. */
import { closeSync, constants, fstat, openSync, open as openWithCallback } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { usage } from '../core/errors.ts';
import { bytesWithin, sizeText } from '../core/input-limits.ts';
import { asUsage, NO_WAITING } from './private-files.ts';

export interface InputFile extends AsyncDisposable {
  readonly mode: number;
  /** The bytes, once. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** False when a file was written to since it was opened; always true for pipes. */
  unchanged(): Promise<boolean>;
}

const PIECE_BYTES = 64 * 1024;
/** The one device that has an end. */
const NOTHING = '/dev/null';

/**
 * Throws `usage` naming the path when it cannot be read, and for a device, which may have no end. `name` is what the user
 * typed; `signal` ends the waiting for a pipe, and its reason is thrown.
 */
export async function openInputFile(path: string, name: string, signal: AbortSignal): Promise<InputFile> {
  const inTheUsersWords = asUsage(`cannot read ${JSON.stringify(name)}`);
  const file = await openReadable(path, signal).catch(inTheUsersWords);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      yield* file.pieces;
    } catch (error) {
      inTheUsersWords(error);
    }
  }
  return { ...file, pieces: pieces(), unchanged: () => file.unchanged().catch(inTheUsersWords) };
}

/** Throws the system's error, also for a folder and a device. */
export async function openReadable(path: string, signal: AbortSignal): Promise<InputFile> {
  const found = await stat(path);
  if (found.isFIFO()) return openPipe(path, signal);
  // Reading a folder would say so too late: a request for its bytes would have begun.
  if (found.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
  const device = () => Object.assign(new Error('a device'), { code: 'ENODEV' });
  if (!found.isFile() && (await realpath(path)) !== NOTHING) throw device();
  const file = await open(path, constants.O_RDONLY | NO_WAITING);
  const state = async () => {
    const { size, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
    return `${size} ${mtimeNs} ${ctimeNs}`;
  };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(PIECE_BYTES), 0, PIECE_BYTES, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  }
  try {
    // The open file is judged, not the name: the name may point elsewhere by now.
    const opened = await file.stat();
    if (opened.isFile() !== found.isFile()) throw device();
    const before = await state();
    const unchanged = async () => (await state()) === before;
    return { mode: opened.mode, pieces: pieces(), unchanged, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** All of it. Throws `usage` above `mostBytes`: a pipe may have no end. */
export async function readWhole(
  path: string,
  name: string,
  mostBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  await using file = await openInputFile(path, name, signal);
  const bytes = await bytesWithin(file.pieces, mostBytes);
  if (bytes === undefined) throw tooLarge(name, mostBytes);
  return bytes;
}

const tooLarge = (name: string, mostBytes: number) =>
  usage(`${JSON.stringify(name)} is larger than ${sizeText(mostBytes)}`);

/** Passes the pieces on. Throws `usage` behind `mostBytes` of them. */
export async function* bounded(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  mostBytes: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > mostBytes) throw tooLarge(name, mostBytes);
    yield piece;
  }
}

// A pipe, `<(command)` or a FIFO. Opening it waits for a writer in a thread that no signal reaches, and so does each read of a
// file handle. Here both end when the run does.

/** The thread may not have come to its open yet when it is to be let go. */
const AGAIN_MS = 20;

/** Its bytes until every writer has gone, once. Rejects with the system's error where it cannot be opened, and with the reason of the signal. */
async function openPipe(path: string, signal: AbortSignal): Promise<InputFile> {
  signal.throwIfAborted();
  const fd = await opened(path, signal);
  const { mode } = await promisify(fstat)(fd);
  const socket = new Socket({ fd, readable: true, writable: false });
  const stop = () => socket.destroy(signal.reason as Error);
  // Whoever reads gets the reason.
  socket.on('error', () => undefined);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const end = () => {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      yield* socket as AsyncIterable<Uint8Array>;
    } finally {
      end();
    }
  }
  return { mode, pieces: pieces(), unchanged: async () => true, [Symbol.asyncDispose]: async () => end() };
}

/** The descriptor, once somebody writes. */
function opened(path: string, signal: AbortSignal): Promise<number> {
  let letGo: NodeJS.Timeout | undefined;
  const stop = () => {
    becomeWriter(path);
    letGo = setInterval(() => becomeWriter(path), AGAIN_MS);
  };
  return new Promise<number>((resolve, reject) => {
    signal.addEventListener('abort', stop, { once: true });
    openWithCallback(path, constants.O_RDONLY, (error, fd) => {
      clearInterval(letGo);
      signal.removeEventListener('abort', stop);
      if (error !== null) return reject(error);
      if (!signal.aborted) return resolve(fd);
      closeSync(fd);
      reject(signal.reason as Error);
    });
  });
}

/** Ends an open that waits for a writer. Fails where nobody waits, which changes nothing. */
function becomeWriter(path: string): void {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch {
    // Nobody has it open to read: it was not waited for yet, or not any more.
  }
}
