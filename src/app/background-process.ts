/** The same program once more in a process of its own, without terminal and streams, that nobody has to wait for. */
import { spawn } from 'node:child_process';
import type { AppHost } from './app-host.ts';

/** Resolves when it ended, when the time is over, or when it could not be started; it then goes on by itself. */
export async function runInBackground(host: AppHost, words: readonly string[], patienceMs: number): Promise<void> {
  const [node, ...program] = host.program;
  const given = new AbortController();
  const child = spawn(node, [...program, ...words], {
    cwd: host.cwd,
    env: host.env,
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  const ended = new Promise<void>(resolve => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
  await Promise.race([ended, host.clock.sleep(patienceMs, given.signal).catch(() => undefined)]);
  given.abort();
  child.unref();
}
