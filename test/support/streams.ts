/** Streams in memory: what a command wrote, as text. */
import { CliError } from '../../src/core/errors.ts';
import type { OutputStream, Streams } from '../../src/platform/host.ts';

export interface MemoryStreamsOptions {
  readonly stdoutTerminal?: boolean;
  readonly stderrTerminal?: boolean;
  readonly stdinTerminal?: boolean;
  /** Columns of both output streams, where they are terminals. */
  readonly columns?: number;
  /** What standard input holds. */
  readonly stdin?: string;
  /** The reader of stdout leaves after this many writes, as `| head` does. */
  readonly stdoutClosesAfter?: number;
}

export interface MemoryStreams extends Streams {
  /** Everything written to stdout so far. */
  readonly out: string;
  /** Everything written to stderr so far. */
  readonly err: string;
}

class MemoryOutput implements OutputStream {
  readonly isTerminal: boolean;
  readonly columns: number | undefined;
  readonly #closesAfter: number;
  readonly #chunks: string[] = [];

  constructor(isTerminal: boolean, columns: number | undefined, closesAfter: number) {
    this.isTerminal = isTerminal;
    this.columns = isTerminal ? columns : undefined;
    this.#closesAfter = closesAfter;
  }

  get closed(): boolean {
    return this.#chunks.length >= this.#closesAfter;
  }

  get text(): string {
    return this.#chunks.join('');
  }

  async write(given: string | Uint8Array): Promise<void> {
    const text = typeof given === 'string' ? given : Buffer.from(given).toString();
    if (!this.closed) this.#chunks.push(text);
  }
}

/** Pipes unless asked otherwise; terminals are 80 wide unless told. */
export function memoryStreams(options: MemoryStreamsOptions = {}): MemoryStreams {
  const { columns = 80, stdin = '', stdoutClosesAfter = Number.POSITIVE_INFINITY } = options;
  const stdout = new MemoryOutput(options.stdoutTerminal === true, columns, stdoutClosesAfter);
  const stderr = new MemoryOutput(options.stderrTerminal === true, columns, Number.POSITIVE_INFINITY);
  return {
    stdin: {
      isTerminal: options.stdinTerminal === true,
      readBytes: async maxBytes => {
        if (Buffer.byteLength(stdin) > maxBytes) throw new CliError('usage', { message: 'standard input is too long' });
        return Buffer.from(stdin);
      },
    },
    stdout,
    stderr,
    get out() {
      return stdout.text;
    },
    get err() {
      return stderr.text;
    },
  };
}
