/**
 * A whole world for a story: the program in this process, a fresh sandbox behind real HTTP, a frozen clock, counted
 * ids, folders of its own. `run` takes a command line as a person types it.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { run as runMachine } from '../../src/cli/run.ts';
import { compose, type Surroundings } from '../../src/compose.ts';
import { CliError } from '../../src/errors.ts';
import { foldersFor } from '../../src/folders.ts';
import type { Environment, OutputStream } from '../../src/host.ts';
import { type RunningSandbox, startSandbox } from '../../src/sandbox/start.ts';
import { words } from './words.ts';

export const WORLD_TIME = '2026-11-20T14:03:11Z';

export interface WorldOptions {
  /** USD in the wallet; 1000 when left out. */
  readonly wallet?: number;
  readonly data?: 'empty' | 'demo';
  /** Both output streams and standard input are terminals of this width. */
  readonly terminal?: number;
  readonly env?: Environment;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Both streams in the order they were written. */
  readonly all: string;
}

export interface RunOptions {
  readonly stdin?: string;
  /** What a person types at prompts, in a terminal world. */
  readonly typed?: string;
  readonly env?: Environment;
}

export interface World extends AsyncDisposable {
  /** Runs `cards list --json`; a leading `cardwright` may stand there. */
  run(line: string, options?: RunOptions): Promise<Ran>;
  readonly sandbox: RunningSandbox;
  /** Folder of this world, also the working folder of commands. */
  readonly folder: string;
}

export async function world(options: WorldOptions = {}): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-world-'));
  const sandbox = await startSandbox({
    listen: 'socket',
    ids: 'counted',
    data: options.data ?? 'empty',
    ...(options.data === 'demo' ? {} : { wallet: options.wallet ?? 1000 }),
    clock: { mode: 'frozen', at: WORLD_TIME },
    version: '0.0.0-test',
  });
  let counted = 0;
  async function run(line: string, told: RunOptions = {}): Promise<Ran> {
    const streams = new Recorder(options.terminal);
    const input = new PassThrough();
    if (told.typed !== undefined) input.write(told.typed);
    const random = { bytes: (count: number) => countedBytes(count, ++counted), fraction: () => 0.5 };
    const env = {
      CARDWRIGHT_CONFIG_DIR: folder,
      CARDWRIGHT_PROFILE: 'sandbox',
      TZ: 'UTC',
      ...options.env,
      ...told.env,
    };
    const host: Surroundings = {
      argv: words(line.replace(/^cardwright /, '')),
      env,
      streams: {
        stdin: stdinOf(told.stdin ?? '', options.terminal !== undefined),
        stdout: streams.stdout,
        stderr: streams.stderr,
      },
      clock: { now: () => Date.parse(WORLD_TIME), monotonic: () => performance.now(), sleep: pause },
      random,
      folders: foldersFor({ env, platform: 'linux', home: folder, temporary: folder }),
      platform: process.platform,
      pid: process.pid,
      cwd: folder,
      signal: new AbortController().signal,
      promptInput: input,
      promptOutput: new PassThrough().resume(),
      openSandbox: async () => ({
        socketPath: sandbox.socketPath ?? '',
        origin: 'http://localhost',
        key: sandbox.key,
        adminToken: sandbox.adminToken,
        stop: async () => undefined,
      }),
      readFile: path => readNamed(isAbsolute(path) ? path : join(folder, path)),
      isRunning: () => true,
      openKeys: () => ({ next: async () => 'q', close: () => undefined }),
      writeTerminal: text => streams.note('stderr', text),
      onCrash: () => () => undefined,
    };
    const code = await runMachine(compose(host, '0.0.0-test'));
    return { code, out: streams.text('stdout'), err: streams.text('stderr'), all: streams.text() };
  }
  async function close(): Promise<void> {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return { run, sandbox, folder, [Symbol.asyncDispose]: close };
}

type StreamName = 'stdout' | 'stderr';

/** Two streams that remember what was written, and in which order. */
class Recorder {
  readonly #written: { readonly to: StreamName; readonly text: string }[] = [];
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;

  constructor(columns: number | undefined) {
    const stream = (to: StreamName): OutputStream => ({
      isTerminal: columns !== undefined,
      columns,
      closed: false,
      write: async text => this.note(to, text),
    });
    this.stdout = stream('stdout');
    this.stderr = stream('stderr');
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

function stdinOf(text: string, isTerminal: boolean) {
  return { isTerminal, readAll: async () => text };
}

/** Waits are real, for deadlines must not fire early; the wall clock stands still all the same. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await wait(ms, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) });
}

function countedBytes(count: number, value: number): Uint8Array {
  const bytes = new Uint8Array(count);
  new DataView(bytes.buffer).setUint32(Math.max(0, count - 4), value);
  return bytes;
}

async function readNamed(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CliError('usage', {
      message: `cannot read ${JSON.stringify(path)}: ${(error as NodeJS.ErrnoException).code}`,
    });
  }
}
