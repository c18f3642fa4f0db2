/** The host of the program in a simulated process: its streams, clock, chance and folders. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { PassThrough } from 'node:stream';
import type { AppHost } from '../../../src/app/process-host.ts';
import { foldersFor } from '../../../src/platform/folders.ts';
import { effect, type Process, runningHere, sleep } from './world.ts';

interface Hosted {
  readonly argv: readonly string[];
  /** Standard input as it comes; there is none otherwise. */
  readonly input?: NodeJS.ReadableStream;
  readonly write: (to: 'out' | 'err', text: string) => void;
  /** A person types at a terminal. */
  readonly isTyped?: boolean;
  /** Why a run ends that is stopped by Ctrl-C. */
  readonly interrupted: () => Error;
}

/** What is not here is asked for by no command of a history: whoever asks for it crashes, which breaks a law. */
export function hostOf(who: Process, { argv, input, write, isTyped = false, interrupted }: Hosted): AppHost {
  const { world } = who;
  const { env, home, machine, chance } = who.started;
  /** All that stands on the terminal but questions. */
  let shown = '';
  const stream = (to: 'out' | 'err') => ({
    isTerminal: isTyped,
    columns: isTyped ? 100 : undefined,
    closed: false,
    write: (given: string | Uint8Array) =>
      effect(() => {
        const text = typeof given === 'string' ? given : Buffer.from(given).toString();
        shown += text;
        write(to, text);
      }),
  });
  const stopping = new AbortController();
  who.onInterrupt = () => stopping.abort(interrupted());
  const random = { bytes: (count: number) => who.bytes(count), fraction: () => chance.fraction() };
  const host: Partial<AppHost> = {
    argv,
    env,
    streams: {
      stdin: { isTerminal: isTyped, readBytes: async () => Buffer.alloc(0) },
      stdout: stream('out'),
      stderr: stream('err'),
    },
    clock: { now: () => who.wall(), monotonic: () => world.now, sleep },
    random,
    noise: random,
    folders: foldersFor({ env, platform: 'linux', home, temporary: home }),
    platform: 'linux',
    pid: who.pid,
    cwd: home,
    signal: stopping.signal,
    cut: new AbortController().signal,
    ...(isTyped && typist(who, () => shown)),
    ...(input && { promptInput: input }),
    readFile: path => effect(() => readFileSync(path, 'utf8'), 'reading'),
    isRunning: pid => runningHere(pid) !== undefined,
    onCrash: () => () => undefined,
    holdCut: () => () => undefined,
    scrypt: (_words, _salt, length) => Buffer.alloc(length),
    user: 'tester',
    machine: machine.name,
    execArgv: [],
    inspected: () => false,
    keepSmall: () => undefined,
    program: ['cardwright'],
    programFolders: [],
    limitsFile: { path: join(home, '..', 'limits.json'), administrator: process.getuid?.() ?? 0, platform: 'linux' },
    keychain: async () => ({
      problem: async () => 'there is no session bus',
      read: async () => undefined,
      write: async () => 'refused',
      remove: async () => undefined,
    }),
  };
  return host as AppHost;
}

/** A person at a terminal types the amount that is shown where a question asks for it, and to all other questions a passphrase. */
function typist(who: Process, shown: () => string) {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns: 1000, end: () => output });
  let isAsked = false;
  output.on('data', chunk => {
    const drawn = String(chunk);
    const question = drawn.slice(Math.max(0, drawn.lastIndexOf('\x1b[2K'))).replace(/\x1b\[[?\d;]*[A-Za-z]/g, '');
    if (question.includes('\n')) isAsked = false;
    else if (!isAsked && question.startsWith('?')) {
      isAsked = true;
      const amount = question.includes('the amount') ? /\$([\d.]+)/.exec(shown())?.[1] : undefined;
      who.world.after(1, who, () => input.write(`${amount ?? 'password'}\r`));
    }
  });
  return { promptInput: input, promptOutput: output };
}
