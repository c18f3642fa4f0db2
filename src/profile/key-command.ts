/** Keys that a program of the user prints, such as a password manager. */

import { spawn } from 'node:child_process';
import { CliError } from '../core/errors.ts';
import { KEY_TEXT_BYTES } from '../core/input-limits.ts';
import type { Clock, Environment } from '../platform/host.ts';
import { quoted } from './name.ts';

/** Password managers may ask their user something first. */
const PATIENCE_MS = 60_000;

export interface KeyCommandDependencies {
  readonly clock: Clock;
  readonly env: Environment;
  /** Where the command runs: never the working folder, which may belong to anybody. */
  readonly folder: string;
}

/**
 * What a `key_command` prints. No shell, an absolute program, none of our own variables in its environment
 * (docs/design/security.md, E13, E18). Throws `not_authenticated` without its output when it fails, prints too much or
 * takes longer than a minute.
 */
export async function runKeyCommand(command: readonly string[], around: KeyCommandDependencies): Promise<string> {
  const [program = '', ...args] = command;
  const env = Object.fromEntries(Object.entries(around.env).filter(([name]) => !name.startsWith('CARDWRIGHT_')));
  const child = spawn(program, args, { cwd: around.folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new AbortController();
  const output = new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunks.reduce((sum, part) => sum + part.length, 0) > KEY_TEXT_BYTES)
        reject(failed(program, 'prints too much'));
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(failed(program, `cannot be started (${error.code ?? 'unknown'})`));
    });
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else reject(failed(program, `ended with ${signal ?? `exit code ${code}`}`));
    });
  });
  const patience = around.clock.sleep(PATIENCE_MS, ended.signal).then(
    () => Promise.reject(failed(program, 'did not answer within a minute')),
    // Stopped because the command ended; then `output` has the answer.
    () => output,
  );
  try {
    return await Promise.race([output, patience]);
  } finally {
    ended.abort();
    child.kill('SIGKILL');
  }
}

function failed(program: string, why: string): CliError {
  return new CliError('not_authenticated', {
    message: `the key command ${quoted(program, 1024)} ${why}`,
    notes: ['Run it yourself to see what it says.'],
    hint: 'cardwright profiles list',
  });
}
