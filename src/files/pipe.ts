/**
 * A pipe that the user named, `<(command)` or a FIFO. Opening it waits for somebody who writes, in a thread that no
 * signal reaches, and so does each read of a file handle: here both end when the run does.
 */
import { type BigIntStats, closeSync, constants, fstat, open, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Clock } from '../platform/host.ts';

/** What a pipe is waited for with. */
export interface Patience {
  readonly clock: Clock;
  /** Ends the waiting; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Told once, when nothing has come for `LONG_MS`. */
  readonly onLong: () => void;
}

export interface Pipe extends AsyncDisposable {
  readonly found: BigIntStats;
  /** The bytes until every writer has gone, once. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** Nothing to read for so long is said. */
export const LONG_MS = 10_000;
/** The thread may not have come to its open yet when it is to be let go. */
const AGAIN_MS = 20;

/** Rejects with the system's error where it cannot be opened, and with the reason of the signal. */
export async function openPipe(path: string, { clock, signal, onLong }: Patience): Promise<Pipe> {
  signal.throwIfAborted();
  const first = new AbortController();
  clock.sleep(LONG_MS, first.signal).then(onLong, () => undefined);
  let fd: number;
  try {
    fd = await opened(path, signal);
  } catch (error) {
    first.abort();
    throw error;
  }
  const found = await promisify(fstat)(fd, { bigint: true });
  const socket = new Socket({ fd, readable: true, writable: false });
  const stop = () => socket.destroy(signal.reason as Error);
  // Whoever reads gets the reason.
  socket.on('error', () => undefined);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const end = () => {
    first.abort();
    signal.removeEventListener('abort', stop);
    socket.destroy();
  };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of socket as AsyncIterable<Uint8Array>) {
        first.abort();
        yield piece;
      }
    } finally {
      end();
    }
  }
  return { found, pieces: pieces(), [Symbol.asyncDispose]: async () => end() };
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
    open(path, constants.O_RDONLY, (error, fd) => {
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
