/** A server whose data, or whose write-ahead log alone, lies on a small disk that a test fills. */
import { join } from 'node:path';
import process from 'node:process';
import { type OwnServer, ownServer } from './own-server.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';

export const ON_IT = ['data', 'write-ahead log'] as const;
export type OnIt = (typeof ON_IT)[number];

/** The cluster has about 30 MB, and its log 16 MB at least. */
const MEGABYTES = { data: 64, 'write-ahead log': 8 } as const;

export interface FillableServer extends OwnServer {
  /** Not a byte fits on its disk. Others write until what the server has kept in store for its log is used up too. */
  fill(): Promise<void>;
  /** There is room again. A server that has panicked, or goes on panicking, is started anew. */
  mend(): Promise<void>;
  /** Whether it answers. */
  answers(): Promise<boolean>;
}

export async function fillableServer(onIt: OnIt): Promise<FillableServer> {
  let disk: SmallDisk | undefined;
  const own = await ownServer({
    conf: ['min_wal_size = 2MB', 'max_wal_size = 4MB', 'checkpoint_timeout = 30s'],
    before(folder) {
      const path = join(folder, onIt === 'data' ? 'data' : 'wal');
      disk = smallDisk(path, MEGABYTES[onIt]);
      return ['--wal-segsize=1', ...(onIt === 'data' ? [] : ['-X', path])];
    },
  });
  const answers = async () => {
    try {
      await (await own.as('postgres', 'another')).call('select 1', []);
      return true;
    } catch {
      return false;
    }
  };
  const close = async () => {
    await own.stop('SIGKILL');
    disk?.[Symbol.dispose]();
    await own.close();
  };
  return {
    ...own,
    get server() {
      return own.server;
    },
    answers,
    async fill() {
      await disk?.fill();
      if (onIt === 'write-ahead log') await usedUp(own);
    },
    async mend() {
      disk?.free();
      if (await answers()) return;
      await own.stop(isGone(own.server.pid) ? 'SIGKILL' : 'SIGINT');
      await own.start();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** More than its log may have in store, file by file, until the server gives up. */
async function usedUp(own: OwnServer): Promise<void> {
  try {
    const others = await own.as('postgres', 'another');
    await others.call('create table if not exists public.others (at timestamptz)', []);
    for (let file = 0; file < MEGABYTES['write-ahead log']; file += 1) {
      await others.call('insert into public.others values (now())', []);
      await others.call('select pg_switch_wal()', []);
    }
  } catch {
    // It has panicked.
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
