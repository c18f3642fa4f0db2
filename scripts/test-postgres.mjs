/**
 * The folder of the one PostgreSQL of a test run. Whichever test needs it first starts it there (test/postgres/shared.ts);
 * here it is stopped by its process id, and the folder goes. It lies beside the other temporary files and not among them:
 * the server does not run as root, and those are closed to everybody else.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';

export default function setup() {
  const folder = mkdtempSync(join(reachable(tmpdir()), 'cwpg-'));
  process.env.TEST_POSTGRES_FOLDER = folder;
  return async () => {
    delete process.env.TEST_POSTGRES_FOLDER;
    await stop(serverOf(folder));
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}

/** The folder, or the next one above it that the server's user comes to: a run inside of another has a closed one. */
function reachable(folder) {
  if (process.getuid?.() !== 0) return folder;
  const way = folder.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/') || '/');
  const closed = way.findIndex(each => (statSync(each).mode & 0o001) === 0);
  return closed === -1 ? folder : way[Math.max(0, closed - 1)];
}

function serverOf(folder) {
  try {
    return Number.parseInt(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10);
  } catch {
    return undefined;
  }
}

/** At once: what it holds is thrown away. */
async function stop(pid) {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGQUIT');
    for (;;) {
      process.kill(pid, 0);
      await setTimeout(5);
    }
  } catch {
    // Gone.
  }
}
