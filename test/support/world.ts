/**
 * A whole world for a story: the program in this process, a fresh sandbox behind real HTTP, a frozen clock, counted
 * ids, folders of its own. `run` takes a command line as a person types it.
 */
import { scryptSync } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { AppHost } from '../../src/app/process-host.ts';
import type { Scrypt } from '../../src/approvals/keys.ts';
import { run as runMachine } from '../../src/cli/run.ts';
import { compose } from '../../src/compose.ts';
import { CliError } from '../../src/core/errors.ts';
import { utf8Text } from '../../src/core/text.ts';
import { systemWords } from '../../src/files/private-files.ts';
import { foldersFor } from '../../src/platform/folders.ts';
import type { Clock, Environment, Folders, Host, OutputStream } from '../../src/platform/host.ts';
import type { Keychain } from '../../src/profile/keychain.ts';
import type { EmbeddedSandbox } from '../../src/sandbox/serving/start.ts';
import { FIRST_SIGN_MS, LONG_WAIT_MS } from '../../src/terminal/progress.ts';
import { copiedHints } from './copied-hints.ts';
import { promisedExit } from './promised-exit.ts';
import { type RunningSandbox, startSandbox } from './start-sandbox.ts';
import { words } from './words.ts';

const quickScrypt: Scrypt = (passphrase, salt, length, options) =>
  scryptSync(passphrase, salt, length, { ...options, N: 32 });

/** As of a user whose other folders stand where they are: a journal of their own, with the same profiles and sandbox. */
function foldersIn(folder: string, env: Environment): Folders {
  const folders = foldersFor({ env, platform: 'linux', home: folder, temporary: folder });
  const state = env['XDG_STATE_HOME'];
  return state === undefined ? folders : { ...folders, state: join(state, 'cardwright') };
}

/** An empty `CARDWRIGHT_` variable takes away what a world sets by itself, as `env -u` does. */
function given(env: Environment): Environment {
  const entries = Object.entries(env);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name.startsWith('CARDWRIGHT_') && value === '' ? undefined : value]),
  );
}

/** Longer sleeps are deadlines, which must not fire early. */
const LONGEST_PAUSE_MS = 6_000;

export const WORLD_TIME = '2026-11-20T14:03:11Z';

/** What stands between the commands and the sandbox, such as a judge of what goes over the wire. */
export interface Between {
  readonly socketPath: string;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** USD in the wallet; 1000 when left out. */
  readonly wallet?: number;
  readonly data?: 'empty' | 'demo';
  /** Both output streams and standard input are terminals of this width; a run may say otherwise. */
  readonly terminal?: number;
  /** The sandbox has an address of its own, as a service for profiles with settings. */
  readonly served?: boolean | undefined;
  /** How the sandbox speaks. */
  readonly dialect?: string | undefined;
  readonly env?: Environment;
  /** Ids are counted from here; of two machines that share something each has a range of its own. */
  readonly countFrom?: number;
  /** Another embedded sandbox than the fresh one in memory. */
  readonly openSandbox?: (host: Host) => Promise<EmbeddedSandbox>;
  /** Opens what commands speak to instead of the sandbox itself; `folder` is there for its socket. */
  readonly between?: ((sandbox: RunningSandbox, folder: string) => Promise<Between>) | undefined;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Both streams in the order they were written. */
  readonly all: string;
}

/** The error of the JSON line that ends standard error; empty when there is none. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into errors of every shape
export function errorOf({ err }: Pick<Ran, 'err'>): any {
  const last = err.trim().split('\n').at(-1) ?? '';
  return last.startsWith('{"error"') ? JSON.parse(last).error : {};
}

export interface RunOptions {
  /** Standard input is a pipe that holds this. */
  readonly stdin?: string;
  /** What a person types at questions on a terminal, one answer each; after the last the input ends. */
  readonly typed?: readonly string[];
  /** Standard input as it comes, of a command that answers while it reads. */
  readonly input?: NodeJS.ReadableStream;
  readonly env?: Environment;
  readonly terminal?: number;
  /** Aborted, it is a Ctrl-C. */
  readonly signal?: AbortSignal;
  /** Aborting it is the second Ctrl-C. */
  readonly cut?: AbortSignal;
  /** Told of every text on standard error as it is written. */
  readonly onErr?: (text: string) => void;
  /** Told of every text on standard output as it is written. */
  readonly onOut?: (text: string) => void | Promise<void>;
  /** Arguments of the runtime. */
  readonly execArgv?: readonly string[];
  /** Folders programs of the system are looked for in; none when left out. */
  readonly programFolders?: readonly string[];
  readonly keychain?: Keychain;
  /** Text of the limits that an administrator has set on this machine. */
  readonly managedLimits?: string;
  /** The key pressed while a card is shown; `q` when left out. */
  readonly keys?: readonly string[];
  /**
   * Pauses between two looks pass at once, and this happens in them; deadlines of requests stay real. Gets the length of
   * the pause in ms.
   */
  readonly onPause?: (ms: number) => void | Promise<void>;
  /** Pauses up to so many ms are meant; 6,000 when left out. */
  readonly longestPause?: number;
  /** The wait before the clipboard is cleared ends at once. */
  readonly hurried?: boolean;
  /** Whoever reads standard output has left. */
  readonly readerLeft?: boolean;
  /** Standard output goes into a pipe although there is a terminal. */
  readonly stdoutPiped?: boolean;
  /** In place of the clock of this world and of everything told of pauses. */
  readonly clock?: Clock;
}

export interface World extends AsyncDisposable {
  /** Runs `cards list --json`; a leading `cardwright` may stand there. */
  run(line: string, options?: RunOptions): Promise<Ran>;
  readonly sandbox: RunningSandbox;
  /** Puts a folder where a file would be, so that it cannot be written, whoever runs this. */
  spoil(path: string): Promise<void>;
  /** Folder of this world, also the working folder of commands. */
  readonly folder: string;
}

export async function world(options: WorldOptions = {}): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-world-'));
  const sandbox = await startSandbox({
    listen: options.served ? 'tcp' : 'socket',
    ids: 'counted',
    deliveries: 'on-deliver',
    data: options.data ?? 'empty',
    ...(options.data === 'demo' ? {} : { wallet: options.wallet ?? 1000 }),
    clock: { mode: 'frozen', at: WORLD_TIME },
    dialect: options.dialect,
    version: '0.0.0-test',
  });
  const between = await options.between?.(sandbox, folder);
  const shared = async (): Promise<EmbeddedSandbox> => ({
    socketPath: between?.socketPath ?? sandbox.socketPath ?? '',
    origin: 'http://localhost',
    key: sandbox.key,
    adminToken: sandbox.adminToken,
    deliver: sandbox.deliver,
    honoursKeys: sandbox.honoursKeys,
    stop: async () => undefined,
  });
  let counted = options.countFrom ?? 0;
  // Writers of a shared journal draw from both: no two of them are the same.
  let noise = options.countFrom === undefined ? 0 : options.countFrom + 5_000;
  async function run(line: string, told: RunOptions = {}): Promise<Ran> {
    const terminal = told.terminal ?? options.terminal;
    const streams = new Recorder({ columns: terminal, stdoutPiped: told.stdoutPiped === true, ...told });
    const person = typist(told.typed ?? [], line => streams.note('stderr', line));
    const random = { bytes: (count: number) => countedBytes(count, ++counted), fraction: () => 0.5 };
    const env = {
      CARDWRIGHT_CONFIG_DIR: folder,
      CARDWRIGHT_PROFILE: 'sandbox',
      TZ: 'UTC',
      HOME: folder,
      SHELL: '/bin/bash',
      ...given({ ...options.env, ...told.env }),
    };
    const stopping = new AbortController();
    const takers = new Set<(signal: NodeJS.Signals) => void>();
    const onSignal = () => {
      if (takers.size === 0) stopping.abort(told.signal?.reason);
      for (const take of [...takers]) take('SIGINT');
    };
    if (told.signal?.aborted) onSignal();
    told.signal?.addEventListener('abort', onSignal);
    let skipped = 0;
    // Each second of a wait that is shown is a pause with the signal of the first.
    const signs = new WeakSet<AbortSignal>();
    const skip = async (ms: number, signal?: AbortSignal) => {
      // A look pauses as long as a wait that is shown; it ends with the run.
      const isLong = ms === LONG_WAIT_MS && terminal !== undefined && signal !== stopping.signal;
      const isSign = ms === FIRST_SIGN_MS || isLong;
      if (isSign && signal) signs.add(signal);
      const isReal = ms > (told.longestPause ?? LONGEST_PAUSE_MS) || isSign || (signal && signs.has(signal));
      if (isReal) return pause(ms, signal);
      skipped += ms;
      // Whoever only counts seconds lets everything else go on between two of them.
      await turn();
      await told.onPause?.(ms);
      signal?.throwIfAborted();
    };
    const sleep = told.hurried ? hurriedPause : told.onPause ? skip : pause;
    const host: AppHost = {
      argv: words(line.replace(/^cardwright /, '')),
      env,
      streams: {
        stdin: stdinOf(told.stdin ?? '', terminal !== undefined && told.stdin === undefined),
        stdout: streams.stdout,
        stderr: streams.stderr,
      },
      clock: told.clock ?? {
        now: () => Date.parse(WORLD_TIME),
        monotonic: () => performance.now() + skipped,
        // How long a request takes here depends on the machine: nobody is shown that nothing came yet, unless it is looked for.
        sleep: (ms, signal) => (ms === FIRST_SIGN_MS && !told.onErr ? pause(3_600_000, signal) : sleep(ms, signal)),
      },
      random,
      folders: foldersIn(folder, env),
      platform: process.platform,
      pid: process.pid,
      cwd: folder,
      signal: stopping.signal,
      // Off a terminal nobody types, and standard input has an end.
      promptInput: told.input ?? (terminal === undefined && !told.typed?.length ? Readable.from([]) : person.input),
      promptOutput: person.output,
      openSandbox: () => (options.openSandbox ? options.openSandbox(host) : shared()),
      readFile: path => readNamed(path, folder),
      isRunning: () => true,
      openKeys: () => ({ pressed: Promise.resolve(told.keys?.[0] ?? 'q'), close: () => undefined }),
      writeTerminal: text => streams.note('stderr', text),
      onCrash: () => () => undefined,
      noise: { bytes: count => countedBytes(count, ++noise), fraction: () => 0.5 },
      scrypt: quickScrypt,
      user: told.env?.['USER'] ?? 'tester',
      machine: 'desk',
      execArgv: told.execArgv ?? [],
      inspected: () => false,
      node: process.execPath,
      program: [process.execPath, join(import.meta.dirname, '..', '..', 'bin', 'cardwright.js')],
      keepSmall: () => undefined,
      keepSmallAtOnce: async () => undefined,
      nodeVersion: process.versions.node,
      codeCache: undefined,
      programFolders: told.programFolders ?? [],
      limitsFile: await managedFile(folder, told.managedLimits),
      cut: told.cut ?? new AbortController().signal,
      holdCut: () => () => undefined,
      handOver(take) {
        takers.add(take);
        return () => takers.delete(take);
      },
      keychain: async () => told.keychain ?? NO_KEYCHAIN,
    };
    const code = await runMachine(compose(host, '0.0.0-test'));
    await promisedExit(host.argv, code);
    // On a terminal lines are broken; the same errors are seen without one.
    if (terminal === undefined && code !== 0) await copiedHints(host.argv, streams.text('stderr'));
    return { code, out: streams.text('stdout'), err: streams.text('stderr'), all: streams.text() };
  }
  async function close(): Promise<void> {
    await between?.close();
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
  async function spoil(path: string): Promise<void> {
    await mkdir(join(folder, path), { recursive: true });
    await chmod(dirname(join(folder, path)), 0o700);
  }
  return { run, spoil, sandbox, folder, [Symbol.asyncDispose]: close };
}

const NO_KEYCHAIN: Keychain = {
  problem: async () => 'there is no session bus, and so no secret service',
  read: async () => undefined,
  write: async () => 'refused',
  remove: async () => undefined,
};

type StreamName = 'stdout' | 'stderr';

interface RecorderSettings {
  readonly columns: number | undefined;
  readonly stdoutPiped: boolean;
  readonly onOut?: RunOptions['onOut'];
  readonly onErr?: RunOptions['onErr'];
  readonly readerLeft?: boolean;
}

/** Two streams that remember what was written, and in which order. */
class Recorder {
  readonly #written: { readonly to: StreamName; readonly text: string }[] = [];
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;

  constructor(settings: RecorderSettings) {
    const { columns, stdoutPiped, onOut, onErr, readerLeft } = settings;
    const stream = (to: StreamName, width: number | undefined): OutputStream => ({
      isTerminal: width !== undefined,
      columns: width,
      get closed() {
        return to === 'stdout' && readerLeft === true;
      },
      write: async given => {
        const text = typeof given === 'string' ? given : Buffer.from(given).toString();
        this.note(to, text);
        if (to === 'stdout') await onOut?.(text);
        else onErr?.(text);
      },
    });
    this.stdout = stream('stdout', stdoutPiped ? undefined : columns);
    this.stderr = stream('stderr', columns);
  }

  note(to: StreamName, text: string): void {
    this.#written.push({ to, text });
  }

  text(of?: StreamName): string {
    return this.#written
      .filter(({ to }) => of === undefined || to === of)
      .map(({ text }) => text)
      .join('');
  }
}

/**
 * A person at the prompt library's own streams: each question gets the next answer, and is remembered as the line
 * that stays on the screen. Without an answer left the input ends, so that no question waits for ever.
 */
function typist(answers: readonly string[], onLine: (line: string) => void) {
  const input = new PassThrough();
  // So wide that no question breaks into lines; a question ends what it wrote to, which a terminal ignores.
  const output = Object.assign(new PassThrough(), { columns: 1000, end: () => output });
  const left = [...answers];
  let line = '';
  let asked = false;
  let draws = 0;
  // The library listens for keys only after it has drawn.
  const press = (keys: string | undefined) =>
    setImmediate(() => (keys === undefined ? input.end() : input.write(keys)));
  /** Does something once nothing newer was drawn. */
  const settled = (draw: number, act: () => void) => setImmediate(() => setImmediate(() => draw === draws && act()));
  /** Choices below a question: what is searched for, then Enter when they are drawn for it. */
  const search = (plain: string, draw: number) => {
    const enter = () => press(plain.includes('No results found') ? undefined : '\r');
    if (asked) return settled(draw, enter);
    asked = true;
    const answer = left.shift();
    return answer === '' ? settled(draw, enter) : press(answer);
  };
  const answerAgain = () => {
    const answer = left.shift();
    // Ctrl-U takes away what was typed.
    press(answer === undefined ? undefined : `\x15${answer}\r`);
  };
  output.on('data', chunk => {
    const text = String(chunk);
    // Each redraw begins by clearing its line.
    const drawn = text.slice(Math.max(0, text.lastIndexOf('\x1b[2K')));
    const plain = drawn.replace(/\x1b\[[?\d;]*[A-Za-z]/g, '');
    const draw = ++draws;
    const lines = plain.trimEnd().split('\n');
    if (plain.startsWith('?')) line = plain.trimEnd();
    if (lines.length > 1 && plain.includes('(type to search)')) search(plain, draw);
    else if (lines.length > 1) settled(draw, answerAgain);
    else if (plain.includes('\n')) {
      onLine(`${line}\n`);
      asked = false;
    } else if (!asked && plain.startsWith('?') && !plain.includes('(type to search)')) {
      asked = true;
      const answer = left.shift();
      press(answer === undefined ? undefined : `${answer}\r`);
    }
  });
  return { input, output };
}

function stdinOf(text: string, isTerminal: boolean) {
  return { isTerminal, readBytes: async () => Buffer.from(text) };
}

/** Waits are real, for deadlines must not fire early; the wall clock stands still all the same. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  const waited = wait(ms, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) });
  await waited.catch(thrown => {
    // As the real clock does.
    throw signal?.aborted ? signal.reason : thrown;
  });
}

async function hurriedPause(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms !== 45_000) await pause(ms, signal);
}

function countedBytes(count: number, value: number): Uint8Array {
  const bytes = new Uint8Array(count);
  new DataView(bytes.buffer).setUint32(Math.max(0, count - 4), value);
  return bytes;
}

async function readNamed(path: string, folder: string): Promise<string> {
  try {
    return utf8Text(await readFile(isAbsolute(path) ? path : join(folder, path)), path);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const why = systemWords((error as NodeJS.ErrnoException).code ?? '');
    throw new CliError('usage', { message: `cannot read ${JSON.stringify(path)}: ${why}` });
  }
}

/** The file of an administrator, who is the user of the tests here; there is none without a text. */
async function managedFile(folder: string, text: string | undefined): Promise<AppHost['limitsFile']> {
  const path = join(folder, 'managed', 'limits.json');
  if (text !== undefined) {
    await mkdir(join(folder, 'managed'), { recursive: true });
    await writeFile(path, text);
  }
  return { path, administrator: process.getuid?.() ?? 0, platform: process.platform };
}
