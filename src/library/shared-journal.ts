/** A journal that several people share, for the calls of one client. Loaded when the first of them is sent. */
import { hostname } from 'node:os';
import { accountPrint, keyPrint } from '../core/key-print.ts';
import type { OpStore } from '../journal/store/op-store.ts';
import { connectJournal } from '../team/connect.ts';
import { openedStore } from '../team/open-shared.ts';
import type { DatabaseJournal } from './chosen-journal.ts';
import type { NamedCalls } from './journal.ts';

export interface SharedJournal {
  /** One call: it sees the journal as it is now. */
  use<T>(work: (store: OpStore) => Promise<T>): Promise<T>;
  /** When no call is under way any more. */
  close(): Promise<void>;
}

/** A connection that nobody uses is closed after this, ms: what is on the way may forget it, and the program may end. */
const IDLE_MS = 5_000;

/** Calls of one client share a connection, made by the first. */
export function sharedJournal(chosen: DatabaseJournal, around: NamedCalls): SharedJournal {
  const { url, account, passwordFile, stateFolder } = chosen;
  const { clock, random, platform, pid, baseUrl, mode, key, writeTotalMs, notice } = around;
  const { signal } = new AbortController();
  const connection = connectJournal(url, { clock, random, platform, signal, passwordFile });
  const machine = { name: hostname(), stateFolder, clock, random, noise: random, platform, pid };
  const actsAs = async () => ({ baseUrl, mode });
  const settings = { connection, account, actsAs, writeTotalMs, notice, machine };
  const prints = {
    accountPrint: async (name: string) => accountPrint(key, name),
    keyPrint: async (salt: string) => keyPrint(key, salt),
  };
  const underWay = new Set<Promise<unknown>>();
  let idle = new AbortController();

  async function endWhenIdle(): Promise<void> {
    idle = new AbortController();
    const waited = clock.sleep(IDLE_MS, idle.signal).then(
      () => true,
      () => false,
    );
    if (await waited) await connection[Symbol.asyncDispose]();
  }

  return {
    async use(work) {
      idle.abort();
      const done = work(openedStore(settings, prints));
      underWay.add(done);
      try {
        return await done;
      } finally {
        underWay.delete(done);
        if (underWay.size === 0) void endWhenIdle();
      }
    },
    async close() {
      await Promise.allSettled(underWay);
      idle.abort();
      await connection[Symbol.asyncDispose]();
    },
  };
}
