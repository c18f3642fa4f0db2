/** strace(1): what a process asks of the system, and death at the n-th of it. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';

export interface Traced {
  /** What it wrote, a line each; the last may be torn. */
  readonly lines: readonly string[];
  /** Killed by the injected signal. */
  readonly killed: boolean;
  readonly code: number | null;
}

export interface Tracing {
  readonly command: readonly string[];
  /** Options of strace before the command. */
  readonly options: readonly string[];
}

const LONGEST = 60_000;

/** Runs a command under strace to its end, or to its death. Its standard error is ours. */
export async function traced({ command, options }: Tracing): Promise<Traced> {
  // Not with --seccomp-bpf: then no signal is injected, and nothing is said about it.
  const child = spawn('strace', ['-f', '-qq', ...options, ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] },
  });
  const over = new AbortController();
  void wait(LONGEST, undefined, { signal: over.signal, ref: false }).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  );
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    told += part;
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (...ended) => resolve(ended));
  });
  over.abort();
  // strace ends as what it traced did: by the same signal.
  return { lines: told.split('\n').slice(0, -1), killed: signal === 'SIGKILL' || code === 137, code };
}

/** Lines of a trace file, without process ids; calls that other threads cut in two are whole again. */
export async function traceOf(path: string): Promise<readonly string[]> {
  const begun = new Map<string, string>();
  const calls: string[] = [];
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    const [, pid = '', text = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const [, head] = /^(.*) <unfinished \.\.\.>$/.exec(text) ?? [];
    const [, tail] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? [];
    if (head !== undefined) begun.set(pid, head);
    else if (tail !== undefined) calls.push((begun.get(pid) ?? '') + tail);
    else if (text !== '') calls.push(text);
  }
  return calls;
}
