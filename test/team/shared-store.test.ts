/** The database of a shared journal keeps what a store of ops promises. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { placesIn } from '../../src/journal/store/paths.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import { chainHead, type SharedOps } from '../../src/team/shared-ops.ts';
import { sharedStore } from '../../src/team/shared-store.ts';
import { statementsOver } from '../../src/team/statements.ts';
import { storeContract } from '../journal/store-contract.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { random, realClock } from '../support/clocks.ts';
import { KEY_PRINT, testAccount } from './test-account.ts';

describe.skipIf(missing())('the shared store', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  storeContract('a database of several machines', async () => {
    const { account } = await testAccount(here);
    const folder = await mkdtemp(join(tmpdir(), 'cardwright-shared-'));
    const { pid, platform } = process;
    const disk = createDisk({ platform, random, warn: () => undefined, lock: { pid, clock: realClock, random } });
    let machines = 0;
    return {
      isShared: true,
      open() {
        machines += 1;
        const home = join(folder, `${machines}`);
        let opened: Promise<SharedOps> | undefined;
        const shared = async (): Promise<SharedOps> => {
          const statements = statementsOver(await here.as('ana', 'another'));
          await disk.prepareFolder(home);
          return {
            statements: () => statements,
            account,
            journalId: 'jrn_test',
            role: 'ana',
            mayHold: false,
            host: `machine-${machines}`,
            machine: async () => '0123456789abcdef',
            clock: realClock,
            random,
            disk,
            notice: () => undefined,
            writeTotalMs: 75_000,
            head: chainHead(disk, join(home, 'head'), undefined),
            spoolFolder: async () => home,
          };
        };
        const once = () => {
          opened ??= shared();
          return opened;
        };
        return sharedStore({
          shared: once,
          opened: once,
          keyPrint: async () => KEY_PRINT,
          hasLeft: async () => false,
          places: placesIn(home),
          account,
        });
      },
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
    };
  });
});
