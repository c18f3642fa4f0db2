/** The files of this machine keep what a store of ops promises. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localStore } from '../../src/journal/store/local-store.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import { random, realClock } from '../support/clocks.ts';
import { storeContract } from './store-contract.ts';

storeContract('files of this machine', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-store-'));
  const { pid, platform } = process;
  return {
    open: () =>
      localStore({
        stateFolder: folder,
        disk: createDisk({ platform, random, warn: () => undefined, lock: { pid, clock: realClock, random } }),
        random,
        pid,
        keyPrint: async () => '00000000',
        accountPrint: async () => '0000000000000000',
      }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
});
