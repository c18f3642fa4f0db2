/** A server that is away for a while, or until somebody mends it: it stands still, or it was killed. */
import { readdir, readFile } from 'node:fs/promises';
import process from 'node:process';
import { setTimeout as rest } from 'node:timers/promises';
import type { Server } from '../postgres/server.ts';
import type { OwnServer } from './own-server.ts';

export const OUTAGES = ['silent for 20 s', 'killed for a second', 'silent', 'killed'] as const;
export type Outage = (typeof OUTAGES)[number];

const [SILENT_MS, KILLED_MS] = [20_000, 1_000];

/** `end` ends one that ends by itself: in its time, or with the command under it. Mending twice is mending once. */
export function outageOf(outage: Outage, own: OwnServer) {
  const isSilent = outage.startsWith('silent');
  const lasts = outage === 'silent' || outage === 'killed';
  let stopped: readonly number[] | undefined;
  const mend = async () => {
    const away = stopped;
    stopped = undefined;
    if (away === undefined) return;
    if (!isSilent) await own.start();
    // The server last: until then a child that has ended keeps its number.
    for (const pid of away.toReversed()) process.kill(pid, 'SIGCONT');
  };
  return {
    lasts,
    mend,
    async begin() {
      if (isSilent) stopped = await silenced(own.server);
      else {
        stopped = [];
        await own.stop('SIGKILL');
      }
    },
    async end(command: Promise<unknown>) {
      if (lasts) return;
      await Promise.race([command, rest(isSilent ? SILENT_MS : KILLED_MS)]);
      await mend();
    },
  };
}

/** Stops all processes of a server; those that come later are children of one that stands still. */
async function silenced({ pid }: Server): Promise<readonly number[]> {
  process.kill(pid, 'SIGSTOP');
  const stopped = [pid];
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') : '';
    const [, parent] = stat
      .slice(stat.lastIndexOf(')') + 1)
      .trim()
      .split(' ');
    if (Number(parent) !== pid) continue;
    process.kill(Number(name), 'SIGSTOP');
    stopped.push(Number(name));
  }
  return stopped;
}
