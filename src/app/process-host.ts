/**
 * The real process as the program sees it: streams, folders, signals, programs. `AppHost` is what a test gives in its
 * place.
 */
import { writeSync } from 'node:fs';
import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import type { Scrypt } from '../approvals/keys.ts';
import { type CliError, notSent, OutputError, usage } from '../core/errors.ts';
import { bytesWithin, sizeText, WHOLE_INPUT_BYTES } from '../core/input-limits.ts';
import { utf8Text } from '../core/text.ts';
import { type ManagedFile, managedFilePath } from '../limits/managed-file.ts';
import { type FolderFacts, foldersFor } from '../platform/folders.ts';
import type { Clock, Environment, Folders, InputStream, OutputStream, Randomness, Streams } from '../platform/host.ts';
import { isRunning, signalHolders } from '../platform/signals.ts';
import { setFlag } from '../platform/v8.ts';
import type { Keychain } from '../profile/keychain.ts';
import type { EmbeddedSandbox } from '../sandbox/serving/start.ts';
import { type KeySource, openTerminalKeys } from '../terminal/reveal-screen.ts';

/** What the rooms need of the process: what a test gives in its place. */
export type AppHost = Omit<ReturnType<typeof processHost>, 'passOn' | 'cutOff' | 'restoreScreen' | 'terminalIsGone'> & {
  /** Programs that a command starts are given no streams: ours carry messages. */
  readonly hidesPrograms?: boolean;
};

/**
 * The folders of `foldersFor`. Throws `usage` when HOME, or what names a folder in its place, is empty or relative: in a
 * folder that somebody else has filled, their profiles and key commands would be taken for ours. Nothing is read then. A user
 * may have no home, or no entry in the list of users.
 */
function ownFolders({ home, ...facts }: Omit<FolderFacts, 'home'> & { readonly home: () => string }): Folders {
  const moved = facts.env['CARDWRIGHT_CONFIG_DIR'];
  if (moved !== undefined && !isAbsolute(moved)) throw noPlace('CARDWRIGHT_CONFIG_DIR', moved);
  let place = '';
  try {
    place = home();
  } catch {
    // No home and no entry for this user: as an empty one.
  }
  const folders = foldersFor({ ...facts, home: place });
  const isOwn = Object.values(folders).every(folder => isAbsolute(folder));
  if (!isOwn) throw noPlace(facts.platform === 'win32' ? 'USERPROFILE' : 'HOME', place);
  return folders;
}

function noPlace(variable: string, value: string): CliError {
  const is = value === '' ? 'is empty' : `is ${JSON.stringify(value)}, no absolute path`;
  return notSent('usage', `${variable} ${is}, so there is no place for profiles and the journal`, {
    notes: ['Nothing was read: a path that is relative to the working folder may belong to somebody else.'],
    hint: 'export CARDWRIGHT_CONFIG_DIR="$PWD/.cardwright"',
  });
}

/** A text up to this many characters is written without Node's stream, which takes 2 ms to open. */
const SHORT = 16_384;

/** What was seen to be a terminal. */
const terminals = new Set<number>();

function isTerminal(fd: number): boolean {
  const found = process.getBuiltinModule('node:tty').isatty(fd);
  if (found) terminals.add(fd);
  return found;
}

const SLOW_TERMINAL_MS = 1000;

/**
 * Writes to the terminal and comes back when it is there, or when the terminal is closed or takes nothing for a second:
 * whoever wipes a screen must not fail on the way.
 */
function writeTerminal(text: string): void {
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

/** Rejects when the text cannot be written for another reason than a reader that left; for stdout alone. */
function outputTo(fd: 1 | 2): OutputStream {
  let closed = false;
  let stream: NodeJS.WriteStream | undefined;
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
      open().write(bytes, error => (error ? reject(error) : resolve()));
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
    async write(text) {
      if (closed || text.length === 0) return;
      try {
        // Windows consoles take text from Node's stream only.
        const isShort = stream === undefined && text.length <= SHORT && process.platform !== 'win32';
        const rest = isShort ? writeNow(fd, Buffer.from(text)) : text;
        if (rest.length > 0) await send(rest);
      } catch (error) {
        closed = true;
        const { code = 'unknown error' } = error as NodeJS.ErrnoException;
        // A reader that went away (`| head`, a terminal that was closed) is no failure of ours, and of stderr's failure
        // nobody could be told. EIO of a file or a device is a failure: what was asked for is not there.
        if (code === 'EPIPE' || (code === 'EIO' && terminals.has(fd)) || fd === 2) return;
        const { systemWords } = await import('../files/private-files.ts');
        const message = `cannot write standard output: ${systemWords(code)}`;
        throw new OutputError('check_failed', { message, cause: error });
      }
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
function inputFrom(signal: AbortSignal): InputStream {
  return {
    get isTerminal() {
      return isTerminal(0);
    },
    async readBytes(maxBytes) {
      signal.throwIfAborted();
      const stream = process.stdin;
      const stop = () => stream.destroy(signal.reason as Error);
      signal.addEventListener('abort', stop, { once: true });
      const bytes = await bytesWithin(stream as AsyncIterable<Buffer>, maxBytes);
      signal.removeEventListener('abort', stop);
      if (bytes === undefined) throw usage(`standard input is larger than ${sizeText(maxBytes)}`);
      return bytes;
    },
  };
}

/** Ctrl-Z. */
const SUSPEND = '\x1a';

/** Put in by the build; see src/loader.ts. */
declare const CODE_CACHE: { readonly says: string; readonly used: number } | undefined;

/** @param signal ends what is running; its reason becomes the error of the run. */
export function processHost(version: string, signal: AbortSignal) {
  let folders: Folders | undefined;
  const { env, platform, execPath, execArgv, pid } = process;
  const random: Randomness = {
    bytes: count => process.getBuiltinModule('node:crypto').randomFillSync(new Uint8Array(count)),
    fraction: () => Math.random(),
  };
  const clock: Clock = {
    now: () => Date.now(),
    // Node's `performance` brings ten modules of its own.
    monotonic: () => Number(process.hrtime.bigint()) / 1e6,
    sleep,
  };
  const host = {
    argv: process.argv.slice(2) as readonly string[],
    env: env as Environment,
    streams: { stdin: inputFrom(signal), stdout: outputTo(1), stderr: outputTo(2) } as Streams,
    ...{ clock, random, platform, pid, signal },
    /** Names of locks and of files beside; apart from `random`, so that ids do not depend on how often we lock. */
    noise: random,
    // When they are first asked for: help needs none.
    get folders(): Folders {
      folders ??= ownFolders({ env, platform, home: homedir, temporary: tmpdir() });
      return folders;
    },
    cwd: process.cwd(),
    /** The real standard input and standard error, for the prompt library. */
    get promptInput(): NodeJS.ReadableStream {
      return process.stdin;
    },
    get promptOutput(): NodeJS.WritableStream {
      return process.stderr;
    },
    /** Text of a file; throws `usage` naming it. Contracts, scenarios and certificates are small; a pipe may have no end. */
    async readFile(path: string): Promise<string> {
      const { readWhole } = await import('../files/input-file.ts');
      return utf8Text(await readWhole(path, path, WHOLE_INPUT_BYTES, signal), path);
    },
    /** Opens the embedded sandbox of this user. */
    async openSandbox(): Promise<EmbeddedSandbox> {
      const { openEmbedded } = await import('../sandbox/serving/start.ts');
      setLater(5_000, collectOften);
      return openEmbedded(host, { version, dialect: env['CARDWRIGHT_SANDBOX_DIALECT'] });
    },
    isRunning,
    /** Of a passphrase, for what stands on disk: slow on purpose. */
    scrypt: ((...words) => process.getBuiltinModule('node:crypto').scryptSync(...words)) as Scrypt,
    /** Name the operating system has for whoever runs this, and that of the machine; for the audit log. */
    get user(): string {
      try {
        return userInfo().username;
      } catch {
        // A container may run us under an id that has no name.
        return `uid ${process.getuid?.() ?? 'unknown'}`;
      }
    },
    get machine(): string {
      return hostname();
    },
    /** Arguments of the runtime itself (`--inspect`). */
    execArgv: execArgv as readonly string[],
    /** A debugger is attached or may attach. */
    inspected: (): boolean => process.getBuiltinModule('node:inspector').url() !== undefined,
    /** Absolute path of the runtime; undefined in the single executable. */
    get node(): string | undefined {
      return process.getBuiltinModule('node:sea').isSea() ? undefined : execPath;
    },
    /** The words that start this program once more. */
    get program(): readonly [string, ...string[]] {
      return host.node === undefined ? [execPath] : [execPath, ...execArgv, ...process.argv.slice(1, 2)];
    },
    /** This process serves for long and makes much garbage: from now on its memory stays small. */
    keepSmall: (): void => setLater(1_000, () => void staySmall()),
    /** Bounds memory at once: of a long list, and before work that leaves no turn of the event loop for it. */
    keepSmallAtOnce: staySmall,
    nodeVersion: process.versions.node as string,
    /** Where the compiled code of this program is kept, or why it is not; undefined for a program that was not built. */
    get codeCache(): string | undefined {
      if (typeof CODE_CACHE === 'undefined') return undefined;
      return CODE_CACHE.used === 0 ? CODE_CACHE.says : `${CODE_CACHE.says}; in use`;
    },
    /** Limits that the administrator of this machine sets. */
    limitsFile: { path: managedFilePath(platform), administrator: 0, platform } as ManagedFile,
    /** Folders that programs of the system are looked for in, never the working folder (E18). */
    programFolders: ['/usr/bin', '/bin', '/usr/local/bin', '/opt/homebrew/bin'] as readonly string[],
    ...signalHolders(),
    async keychain(): Promise<Keychain> {
      const { openKeychain } = await import('../profile/keychain.ts');
      return openKeychain({ clock, env, platform, node: host.node });
    },
    /** Single key presses, until closed. */
    openKeys(): KeySource & { close(): void } {
      const keys = openTerminalKeys(process.stdin);
      // Stopped, it would leave the card on the screen: any wish to stop it is a key like others.
      const hide = () => keys.press(SUSPEND);
      process.on('SIGTSTP', hide);
      return {
        pressed: keys.pressed,
        close() {
          process.off('SIGTSTP', hide);
          keys.close();
        },
      };
    },
    writeTerminal,
    /** A standard stream was a terminal, and that terminal was closed. */
    terminalIsGone: (): boolean => [...terminals].some(fd => !process.getBuiltinModule('node:tty').isatty(fd)),
  };
  return host;
}

/** V8 lets garbage grow to several times of what is alive; rows of a restore by the million are all garbage. */
function collectOften(): void {
  setFlag(process.getBuiltinModule('node:v8'), '--heap-growing-percent=20', '--heap-growing-percent=0');
}

let staysSmall = false;

async function staySmall(): Promise<void> {
  if (staysSmall) return;
  staysSmall = true;
  const { keepGrown } = await import('../platform/v8.ts');
  keepGrown(process.getBuiltinModule('node:v8'), {
    eventLoopUtilization: performance.eventLoopUtilization,
    every: (ms, look) => void setInterval(look, ms).unref(),
  });
  collectOften();
}

/**
 * Sets flags of V8 for what goes on for long. Once a flag is another, V8 refuses the compiled code that Node keeps of its
 * modules, and we of our files: a fifth of a short command, which is over by then.
 */
function setLater(afterMs: number, set: () => void): void {
  setTimeout(set, afterMs).unref();
}

/** Node's own makes an exception with a stack for every sleep that is cut short, and every request has one. */
function sleep(ms: number, until?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      clearTimeout(timer);
      reject(until?.reason);
    };
    const timer = setTimeout(() => {
      until?.removeEventListener('abort', wake);
      resolve();
    }, ms);
    if (until?.aborted) wake();
    else until?.addEventListener('abort', wake, { once: true });
  });
}
