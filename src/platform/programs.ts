/** Programs of others: where one is, and what it prints. */
import { type ExecFileOptions, execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from './host.ts';
import { within } from './time.ts';

/**
 * Path of the first file of that name that we may run; undefined where no folder has one. The working folder is never looked into:
 * it may be anybody's (docs/design/security.md, E18).
 */
export async function programIn(folders: readonly string[], name: string): Promise<string | undefined> {
  for (const folder of folders) {
    const path = resolve(folder, name);
    try {
      await access(path, constants.X_OK);
      if ((await stat(path)).isFile()) return path;
    } catch {
      // Not there, or not for us to run: the search goes on, as that of a shell does.
    }
  }
  return undefined;
}

interface Asking extends Pick<ExecFileOptions, 'cwd' | 'env' | 'maxBuffer'> {
  readonly clock: Clock;
  readonly patienceMs: number;
  /** All of its standard input. */
  readonly input?: string;
}

/** What a program prints. Rejects with Node's error where it fails, with the code `ABORT_ERR` where it takes too long. */
export function outputOf(
  [program = '', ...args]: readonly string[],
  { clock, patienceMs, input = '', ...options }: Asking,
): Promise<string> {
  return within(patienceMs, clock, async signal => {
    const running = promisify(execFile)(program, args, { ...options, encoding: 'utf8', signal, killSignal: 'SIGKILL' });
    // A program that is gone before it has read its input says so by its end.
    running.child.stdin?.on('error', () => undefined).end(input);
    return (await running).stdout;
  });
}
