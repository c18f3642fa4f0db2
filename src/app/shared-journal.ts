/** The shared journal of a run: what of this process it needs. */
import { accountPrint, keyPrint } from '../core/key-print.ts';
import type { OpStore } from '../journal/store/op-store.ts';
import type { KeyOfRun } from '../team/listed-key.ts';
import { type JournalMachine, openedStore, type SharedJournalSettings } from '../team/open-shared.ts';
import type { AppHost } from './app-host.ts';
import type { Connections } from './connections.ts';

/** The store of a shared journal for the account of this run, opened when it is first asked for. */
export function sharedStoreFor(settings: SharedJournalSettings, opened: Connections): OpStore {
  const { connection } = settings;
  opened.onClose(async () => connection[Symbol.asyncDispose]());
  return openedStore(settings, {
    accountPrint: async account => accountPrint(await opened.key(), account),
    keyPrint: async salt => keyPrint(await opened.key(), salt),
  });
}

/** Whom this run acts as, and the print of its key, asked when somebody wants to know. */
export function keyOfRun(opened: Pick<Connections, 'identity' | 'key'>): KeyOfRun {
  return { actsAs: opened.identity, accountPrint: async account => accountPrint(await opened.key(), account) };
}

export function machineOf({ machine, folders, clock, random, noise, platform, pid }: AppHost): JournalMachine {
  return { name: machine, stateFolder: folders.state, clock, random, noise, platform, pid };
}
