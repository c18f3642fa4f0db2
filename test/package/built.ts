/** The built program in a process of its own, with a home of its own; compiled code of all of them stands in one place. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

export const ROOT = join(import.meta.dirname, '..', '..');
const PROGRAM = join(ROOT, 'bin', 'cardwright.js');
/** Of this checkout; the build goes by the name of its texts there. */
export const CODE_CACHE = join(ROOT, 'node_modules', '.cache', 'cardwright-code');
const KEY = 'sk_test_0123456789abcdef0123456789abcdef';

export interface Start {
  /** Loopback service to speak to, with a key in the environment. */
  readonly baseUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of Node itself. */
  readonly node?: readonly string[];
  readonly cwd?: string;
  /** A program and its words that start ours, which stands behind them. */
  readonly through?: readonly string[];
  readonly stdio?: 'pipe' | readonly ('pipe' | 'ignore' | number)[];
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface Home extends AsyncDisposable {
  readonly folder: string;
  start(words: readonly string[], how?: Start): ChildProcess;
  run(words: readonly string[], how?: Start): Promise<Ended>;
}

export async function home(): Promise<Home> {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-built-'));
  const ours = Object.entries(process.env).filter(([name]) => !/^(?:CARDWRIGHT_|NODE_|VITEST|CI$)/.test(name));
  const start = (words: readonly string[], how: Start = {}) => {
    const { baseUrl, env, node = [], cwd, through = [], stdio = 'pipe' } = how;
    const [program = process.execPath, ...rest] = [...through, process.execPath, ...node, PROGRAM, ...words];
    return spawn(program, rest, {
      env: {
        ...Object.fromEntries(ours),
        CARDWRIGHT_CONFIG_DIR: folder,
        CARDWRIGHT_CACHE: CODE_CACHE,
        ...(baseUrl !== undefined && { CARDWRIGHT_BASE_URL: baseUrl, CARDWRIGHT_API_KEY: KEY }),
        ...env,
      },
      ...(cwd !== undefined && { cwd }),
      stdio: typeof stdio === 'string' ? stdio : [...stdio],
    });
  };
  return {
    folder,
    start,
    run: (words, how) => {
      const child = start(words, how);
      child.stdin?.end();
      return ended(child);
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Collects what a child writes until it ends; it gets the text, when there is one, and the end of its input. */
export function ended(child: ChildProcess, input?: string): Promise<Ended> {
  child.stdin?.on('error', () => undefined);
  if (input !== undefined) child.stdin?.end(input);
  const chunks = { out: [] as Buffer[], err: [] as Buffer[] };
  child.stdout?.on('data', (chunk: Buffer) => chunks.out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.err.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const [out, err] = [Buffer.concat(chunks.out).toString(), Buffer.concat(chunks.err).toString()];
      resolve({ code, signal, out, err });
    });
  });
}
