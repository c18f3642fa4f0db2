/** One program in our place: our streams, its exit code. What of our environment it gets is the caller's to say. */
import { spawn } from 'node:child_process';
import { constants as os } from 'node:os';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { type CliError, notSent } from '../core/errors.ts';
import type { Environment } from '../platform/host.ts';
import { programIn } from '../platform/programs.ts';

/** Where a system without PATH looks. */
const USUAL_PATH = '/usr/bin:/bin';

interface ChildSettings {
  /** The whole environment of the child. */
  readonly env: Environment;
  readonly cwd: string;
  /** Signals go to the function until the returned one is called. */
  readonly handOver: (onSignal: (signal: NodeJS.Signals) => void) => () => void;
  readonly platform: NodeJS.Platform;
  /** The child shares our terminal, which sends it Ctrl-C by itself. */
  readonly sharesTerminal: boolean;
  /** It gets none of our streams. */
  readonly isHidden?: boolean;
  /** A second signal ends the child at once, whatever it makes of the first; otherwise each is passed on. */
  readonly secondKills?: boolean;
  /** Told the process id once it runs. */
  readonly onStarted?: (pid: number) => Promise<void>;
}

/** How a child ended: its code, or 128 and the number of the signal that ended it. */
export interface ChildEnd {
  readonly code: number;
  readonly signal: NodeJS.Signals | undefined;
}

/**
 * The program a word names: a path as it is, else the first in an absolute folder of PATH. An empty or relative folder
 * there is the working folder, which may be anybody's (docs/design/security.md, E18). Throws `usage` when there is
 * none.
 */
export async function findProgram(
  name: string | undefined,
  { env, cwd, platform }: Pick<ChildSettings, 'env' | 'cwd' | 'platform'>,
): Promise<string> {
  if (!name) throw cannotStart('no program was given');
  const windows = platform === 'win32';
  const isPath = name.includes('/') || (windows && name.includes('\\'));
  const folders = isPath ? [''] : (env['PATH'] ?? env['Path'] ?? USUAL_PATH).split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    for (const ending of windows ? ['', '.exe', '.com'] : ['']) {
      const path = await programIn([resolve(cwd, folder)], `${name}${ending}`);
      if (path !== undefined) return path;
    }
  }
  const where = isPath ? 'is no program' : 'is not in any absolute folder of PATH';
  throw cannotStart(`${JSON.stringify(name)} ${where}`);
}

/** Resolves when the program has ended. Throws `usage` when it cannot be started. */
export async function runProgram(program: readonly string[], settings: ChildSettings): Promise<ChildEnd> {
  const [name, ...args] = program;
  const { env, cwd, handOver, sharesTerminal, secondKills = false, isHidden = false, onStarted } = settings;
  const path = await findProgram(name, settings);
  // No shell: the words are the program's own, whatever is in them.
  const child = spawn(path, args, {
    cwd,
    ...(name !== undefined && { argv0: name }),
    env,
    stdio: isHidden ? 'ignore' : 'inherit',
    shell: false,
  });
  let signals = 0;
  const takeBack = handOver(signal => {
    signals += 1;
    if (secondKills && signals > 1) child.kill('SIGKILL');
    else if (!(signal === 'SIGINT' && sharesTerminal)) child.kill(signal);
  });
  try {
    const end = new Promise<ChildEnd>((resolve, reject) => {
      child.on('error', (error: NodeJS.ErrnoException) => {
        reject(cannotStart(`${JSON.stringify(name)} cannot be started: ${error.code ?? 'unknown'}`));
      });
      child.on('exit', (code, signal) => {
        resolve({ code: code ?? 128 + os.signals[signal ?? 'SIGKILL'], signal: signal ?? undefined });
      });
    });
    const [ended] = await Promise.all([end, child.pid === undefined ? undefined : onStarted?.(child.pid)]);
    return ended;
  } finally {
    takeBack();
  }
}

function cannotStart(message: string): CliError {
  return notSent('usage', message, { notes: ['Name the program after --.'] });
}
