/**
 * The folder in which a run notes the PostgreSQL servers that its tests start (test/postgres/journal-server.ts); at the end they
 * are stopped by their process ids, and their folders go. Those lie beside the other temporary files and not among them: a server
 * does not run as root, and those are closed to everybody else.
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
    for (const each of [...serversIn(folder), folder]) {
      await stop(serverOf(each));
      rmSync(each, { recursive: true, force: true, maxRetries: 3 });
    }
  };
}

/** The folder, or the next one above it that the server's user comes to: a run inside of another has a closed one. */
function reachable(folder) {
  if (process.getuid?.() !== 0) return folder;
  const way = folder.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/') || '/');
  const closed = way.findIndex(each => (statSync(each).mode & 0o001) === 0);
  return closed === -1 ? folder : way[Math.max(0, closed - 1)];
}

function serversIn(folder) {
  try {
    return readFileSync(join(folder, 'servers'), 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function serverOf(folder) {
  try {
    return Number.parseInt(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10);
  } catch {
    return undefined;
  }
}

/** At once: what it holds is thrown away. One whose parent has not taken its end is waited for 2 s and no longer. */
async function stop(pid) {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGQUIT');
    for (let tries = 0; tries < 400; tries += 1) {
      process.kill(pid, 0);
      await setTimeout(5);
    }
  } catch {
    // Gone.
  }
}
