/**
 * Standard input, output and error. Node's own streams are costly to open: what is short is written without them.
 */
import { fstatSync, readFileSync, statSync, writeSync } from 'node:fs';
import { CliError, OutputError } from '../core/errors.ts';
import { sizeText } from '../core/input-limits.ts';
import { utf8Text } from '../core/utf8-text.ts';
import type { InputStream, OutputStream } from '../platform/host.ts';

/** A text up to this many characters is written without Node's stream, which takes 2 ms to open. */
const SHORT = 16_384;
const OUTPUT_NAMES = { 1: 'standard output', 2: 'standard error' } as const;

/** What was seen to be a terminal. */
const terminals = new Set<number>();

function isTerminal(fd: number): boolean {
  const found = process.getBuiltinModule('node:tty').isatty(fd);
  if (found) terminals.add(fd);
  return found;
}

/** A standard stream was a terminal, and that terminal was closed. */
export function aTerminalIsGone(): boolean {
  return [...terminals].some(fd => !process.getBuiltinModule('node:tty').isatty(fd));
}

const SLOW_TERMINAL_MS = 1000;

/**
 * Writes to the terminal and comes back when it is there, or when the terminal is closed or takes nothing for a second:
 * whoever wipes a screen must not fail on the way.
 */
export function writeTerminal(text: string): void {
  let rest: Uint8Array = Buffer.from(text);
  const until = performance.now() + SLOW_TERMINAL_MS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (rest.length > 0 && performance.now() < until) {
    try {
      const left = writeNow(2, rest);
      if (left.length === rest.length) Atomics.wait(pause, 0, 0, 5);
      rest = left;
    } catch {
      return;
    }
  }
}

async function outputError(fd: 1 | 2, cause: NodeJS.ErrnoException): Promise<OutputError> {
  const { systemWords } = await import('../files/system-words.ts');
  const why = systemWords(cause.code ?? 'unknown error');
  return new OutputError('check_failed', { message: `cannot write ${OUTPUT_NAMES[fd]}: ${why}`, cause });
}

/** `O_WRONLY`, `O_RDWR`: how a file was opened, in the octal flags that Linux tells. */
const ACCESS_MODE = 0o3;
const READ_AND_WRITE = 0o2;

/**
 * The null device, open for reading as well. Before any code of ours Node opens it where a descriptor is closed
 * (`>&-`), and so do programs that start others with no output; `> /dev/null` of a shell opens it for writing alone.
 */
function isNullForBoth(fd: 1 | 2): boolean {
  if (process.platform !== 'linux') return false;
  try {
    if (fstatSync(fd).rdev !== statSync('/dev/null').rdev) return false;
    const [, flags = '0'] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & ACCESS_MODE) === READ_AND_WRITE;
  } catch {
    return false;
  }
}

/** Rejects when the text cannot be written for another reason than a reader that left; for stdout alone. */
export function outputTo(fd: 1 | 2): OutputStream {
  let closed = false;
  let stream: NodeJS.WriteStream | undefined;
  const fail = async (error: NodeJS.ErrnoException): Promise<CliError | undefined> => {
    closed = true;
    // A reader that went away (`| head`, a terminal that was closed) is no failure of ours, and of stderr's failure
    // nobody could be told. EIO of a file or a device is a failure: what was asked for is not there.
    if (error.code === 'EPIPE' || (error.code === 'EIO' && terminals.has(fd)) || fd === 2) return undefined;
    return outputError(fd, error);
  };
  const open = () => {
    if (stream === undefined) {
      stream = fd === 1 ? process.stdout : process.stderr;
      // What has failed is told by the write that met it.
      stream.on('error', () => {
        closed = true;
      });
    }
    return stream;
  };
  const send = (bytes: string | Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      open().write(bytes, error => {
        if (!error) return resolve();
        void fail(error).then(failure => (failure ? reject(failure) : resolve()), reject);
      });
    });
  return {
    get isTerminal() {
      return isTerminal(fd);
    },
    get columns() {
      return isTerminal(fd) ? open().columns : undefined;
    },
    get closed() {
      return closed;
    },
    get isNowhere() {
      return isNullForBoth(fd);
    },
    async write(text) {
      if (closed || text.length === 0) return;
      // Windows consoles take text from Node's stream only.
      if (stream !== undefined || text.length > SHORT || process.platform === 'win32') return send(text);
      let rest: Uint8Array;
      try {
        rest = writeNow(fd, Buffer.from(text));
      } catch (error) {
        const failure = await fail(error as NodeJS.ErrnoException);
        if (failure) throw failure;
        return;
      }
      if (rest.length > 0) await send(rest);
    },
  };
}

/** Returns what a full pipe did not take. */
function writeNow(fd: number, bytes: Uint8Array): Uint8Array {
  let at = 0;
  try {
    while (at < bytes.length) at += writeSync(fd, bytes, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
  }
  return bytes.subarray(at);
}

/** Standard input. Reading rejects with `usage` beyond its size, and with the reason of `signal`. */
export function inputFrom(input: () => typeof process.stdin, signal: AbortSignal): InputStream {
  return {
    get isTerminal() {
      return isTerminal(0);
    },
    async readAll(maxBytes) {
      return utf8Text(await this.readBytes(maxBytes), 'standard input');
    },
    async readBytes(maxBytes) {
      const chunks: Buffer[] = [];
      let size = 0;
      signal.throwIfAborted();
      const stream = input();
      const stop = () => stream.destroy(signal.reason as Error);
      signal.addEventListener('abort', stop, { once: true });
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > maxBytes) {
          const message = `standard input is larger than ${sizeText(maxBytes)}`;
          throw new CliError('usage', { message, outcome: 'not_sent' });
        }
        chunks.push(chunk);
      }
      signal.removeEventListener('abort', stop);
      return Buffer.concat(chunks);
    },
  };
}
