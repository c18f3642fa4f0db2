/**
 * What the surrounding machine gives: time, chance, environment, folders, streams. Interfaces only; `main.ts`
 * holds the real ones and tests hand in their own.
 */

export interface Clock {
  /** Wall clock, milliseconds since 1970 UTC. */
  now(): number;
  /** Milliseconds that never jump; for deadlines and durations. */
  monotonic(): number;
  /** Resolves after `ms`, rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Randomness {
  /** Cryptographically strong bytes. */
  bytes(count: number): Uint8Array;
  /** A number in [0, 1), for jitter. */
  fraction(): number;
}

/** Folders of this user, created 0700 by whoever first writes there. All move under `CARDWRIGHT_CONFIG_DIR`. */
export interface Folders {
  readonly config: string;
  readonly state: string;
  readonly data: string;
  readonly cache: string;
  /** For sockets and short-lived private files. */
  readonly runtime: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface OutputStream {
  /** Resolves when the stream took the text, or text as UTF-8; a closed pipe resolves too and sets `closed`. */
  write(text: string | Uint8Array): Promise<void>;
  readonly isTerminal: boolean;
  /** Columns of the terminal, undefined off a terminal. */
  readonly columns: number | undefined;
  /** The reader went away (`| head`). */
  readonly closed: boolean;
}

export interface InputStream {
  readonly isTerminal: boolean;
  /** All of standard input. Throws `usage` above `maxBytes`. */
  readBytes(maxBytes: number): Promise<Uint8Array>;
}

export interface Streams {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

/** Everything the program may use of its surroundings. */
export interface Host {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly streams: Streams;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly folders: Folders;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly cwd: string;
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP, with an `interrupted` or `terminated` error as reason. */
  readonly signal: AbortSignal;
}
