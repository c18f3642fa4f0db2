/** Calls with an `intent`, through the journal that the options of the client name. What it takes is loaded by the first. */
import { CliError } from '../core/errors.ts';
import type { DatabaseJournal, FolderJournal } from './chosen-journal.ts';
import type { NamedCall, NamedCalls } from './journal.ts';
import type { SharedJournal } from './shared-journal.ts';

export interface Named {
  /** Throws as `sendNamed`, and `usage` without a journal: a promise without one is none. */
  send(call: NamedCall): Promise<unknown>;
  close(): Promise<void>;
}

export function namedCalls(around: NamedCalls, chosen: FolderJournal | DatabaseJournal | undefined): Named {
  let shared: Promise<SharedJournal> | undefined;
  const opened = async (database: DatabaseJournal) =>
    (await import('./shared-journal.ts')).sharedJournal(database, around);
  return {
    async send(call) {
      if (chosen === undefined) throw noJournal();
      const { sendNamed, refuseUnkept, folderStore } = await import('./journal.ts');
      refuseUnkept(call);
      const { stateFolder } = chosen;
      if (chosen.kind === 'folder') {
        return sendNamed(around, call, { stateFolder, store: folderStore(around, stateFolder) });
      }
      shared ??= opened(chosen);
      return (await shared).use(store => sendNamed(around, call, { stateFolder, store }));
    },
    close: async () => (await shared)?.close(),
  };
}

function noJournal(): CliError {
  return new CliError('usage', {
    message: 'an intent needs a journal: createClient({ …, journal: "/absolute/folder" })',
    outcome: 'not_sent',
  });
}
