/** One program in our place: our streams, its exit code, none of our keys in its environment (RELIABILITY, E13). */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { CliError } from '../errors.ts';
import type { Environment } from '../host.ts';

/** Variables that open the service or the sandbox to whoever has them. */
const KEYS = ['CARDWRIGHT_API_KEY', 'CARDWRIGHT_API_KEY_FILE', 'CARDWRIGHT_SANDBOX_TOKEN'];

export interface ChildSettings {
  readonly env: Environment;
  /** Variables for the child alone. */
  readonly variables: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Signals go to the function until the returned one is called. */
  readonly handOver: (onSignal: (signal: NodeJS.Signals) => void) => () => void;
  /** The child shares our terminal, which sends it Ctrl-C by itself. */
  readonly sharesTerminal: boolean;
}

/** Resolves to the exit code, 128 and the signal's number after a signal. Throws `usage` when it cannot be started. */
export async function runChild(program: readonly string[], settings: ChildSettings): Promise<number> {
  const [name, ...args] = program;
  if (name === undefined) throw cannotStart('no program was named');
  const { env, variables, cwd, handOver, sharesTerminal } = settings;
  const inherited = Object.entries(env).filter(([variable, value]) => value !== undefined && !KEYS.includes(variable));
  // No shell: the words are the program's own, whatever is in them.
  const child = spawn(name, args, {
    cwd,
    env: { ...Object.fromEntries(inherited), ...variables },
    stdio: 'inherit',
    shell: false,
  });
  const takeBack = handOver(signal => {
    if (!(signal === 'SIGINT' && sharesTerminal)) child.kill(signal);
  });
  try {
    return await new Promise<number>((resolve, reject) => {
      child.on('error', (error: NodeJS.ErrnoException) => {
        reject(cannotStart(`${JSON.stringify(name)} cannot be started: ${error.code ?? 'unknown'}`));
      });
      child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
    });
  } finally {
    takeBack();
  }
}

function cannotStart(message: string): CliError {
  return new CliError('usage', { message, hint: 'name the program after --' });
}
