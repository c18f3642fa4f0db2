/** Calls with an `intent`, through the journal that the options of the client name. What it takes is loaded by the first. */
import { CliError } from '../core/errors.ts';
import type { DatabaseJournal, FolderJournal } from './chosen-journal.ts';
import type { NamedCall, NamedCalls, Place } from './journal.ts';

export interface Named {
  /** Throws as `sendNamed`, and `usage` without a journal: a promise without one is none. */
  send(call: NamedCall): Promise<unknown>;
  close(): Promise<void>;
}

/** A connection to a database that nobody uses is closed after this, ms: the program may end. */
const IDLE_MS = 5_000;

export function namedCalls(around: NamedCalls, chosen: FolderJournal | DatabaseJournal | undefined): Named {
  let place: Promise<Place> | undefined;
  const underWay = new Set<Promise<unknown>>();
  let idle = new AbortController();

  async function placeOf(named: FolderJournal | DatabaseJournal): Promise<Place> {
    const { databasePlace, folderPlace } = await import('./journal.ts');
    return named.kind === 'folder' ? folderPlace(around, named) : databasePlace(around, named);
  }

  async function closeWhenIdle(): Promise<void> {
    idle = new AbortController();
    const isIdle = await around.clock.sleep(IDLE_MS, idle.signal).then(
      () => true,
      () => false,
    );
    if (isIdle) await (await place)?.close();
  }

  return {
    async send(call) {
      if (chosen === undefined) throw noJournal();
      const { sendNamed, refuseUnkept } = await import('./journal.ts');
      refuseUnkept(call);
      idle.abort();
      place ??= placeOf(chosen);
      const sending = sendNamed(around, call, await place);
      underWay.add(sending);
      try {
        return await sending;
      } finally {
        underWay.delete(sending);
        if (underWay.size === 0 && chosen.kind === 'database') void closeWhenIdle();
      }
    },
    async close() {
      await Promise.allSettled(underWay);
      idle.abort();
      await (await place)?.close();
    },
  };
}

function noJournal(): CliError {
  return new CliError('usage', {
    message: 'an intent needs a journal: createClient({ …, journal: "/absolute/folder" })',
    outcome: 'not_sent',
  });
}
