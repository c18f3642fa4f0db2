/** Whatever the system refuses, no file stays open. Node warns of one that is left, and a later release ends the program. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { localStore } from '../../src/journal/store/local-store.ts';
import type { OpStore, Tape } from '../../src/journal/store/op-store.ts';
import { createDisk, type JournalDisk, type JournalFile } from '../../src/journal/wal/storage.ts';
import { random, realClock } from '../support/clocks.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type WatchedDisk, watchedDisk } from '../support/watched-disk.ts';
import { claimOf, record } from './store-contract.ts';

const { pid, platform } = process;
const realDisk = () => createDisk({ platform, random, warn: () => undefined, lock: { pid, clock: realClock, random } });

/** Refuses the call of that number, from 1, and the same call of every file. */
function refusing(real: JournalDisk, nth: number): JournalDisk {
  let calls = 0;
  const counted = <T extends object>(calling: T): T =>
    Object.fromEntries(
      Object.entries(calling).map(([name, call]) => [
        name,
        (...asked: unknown[]) => {
          if (name === 'close') return call(...asked);
          calls += 1;
          if (calls === nth) {
            const refused = new Error('the system says no');
            if (name === 'readAt') throw refused;
            return Promise.reject(refused);
          }
          return call(...asked);
        },
      ]),
    ) as T;
  const disk = counted(real);
  const file = (opened: JournalFile | undefined) => opened && counted(opened);
  return {
    ...disk,
    create: async path => counted(await disk.create(path)),
    open: async path => file(await disk.open(path)),
  };
}

function storeOver(stateFolder: string, nth: number): { readonly store: OpStore; readonly watched: WatchedDisk } {
  const watched = watchedDisk(realDisk());
  const disk = refusing(watched.disk, nth);
  return {
    store: localStore({
      stateFolder,
      disk,
      random,
      pid,
      keyPrint: async () => '00000000',
      accountPrint: async () => '0000000000000000',
    }),
    watched,
  };
}

/** Whether the work came to its end, after each call was refused once. */
async function refusedOnce(work: (store: OpStore) => Promise<Tape | undefined>): Promise<number> {
  for (let nth = 1; ; nth += 1) {
    await using folder = await temporaryFolder();
    const before = storeOver(folder.path, Number.POSITIVE_INFINITY);
    await before.store.ready();
    const { store, watched } = storeOver(folder.path, nth);
    const tape = await work(store).catch(() => undefined);
    if (tape === undefined) {
      expect(watched.open(), `call ${nth}`).toEqual([]);
      continue;
    }
    await tape.file.close();
    await tape.release(true).catch(() => undefined);
    expect(watched.open()).toEqual([]);
    return nth - 1;
  }
}

it('a claim of which any call is refused leaves no file open', async () => {
  expect(await refusedOnce(store => store.claim(claimOf(record({ given_key: 'order-1' }))))).toBeGreaterThan(15);
});

it('an op that is taken up leaves no file open', async () => {
  const plan = record();
  for (let nth = 1; ; nth += 1) {
    await using folder = await temporaryFolder();
    const first = storeOver(folder.path, Number.POSITIVE_INFINITY).store;
    await first.ready();
    const begun = await first.claim(claimOf(plan));
    await begun.file.close();
    await begun.release(false);
    const { store, watched } = storeOver(folder.path, nth);
    const tape = await store.take(plan.op).catch(() => undefined);
    await tape?.file.close();
    expect(watched.open(), `call ${nth}`).toEqual([]);
    if (tape !== undefined) {
      expect(nth).toBeGreaterThan(5);
      return;
    }
  }
});

it.skipIf(platform !== 'linux')('a journal whose mode cannot be changed is closed', async () => {
  const open = async () => (await readdir('/proc/self/fd')).length;
  const before = await open();
  for (let times = 0; times < 50; times += 1) {
    await expect(realDisk().open(join('/proc', String(pid), 'comm'))).rejects.toMatchObject({ kind: 'guarded' });
  }
  expect(await open()).toBeLessThan(before + 25);
});
