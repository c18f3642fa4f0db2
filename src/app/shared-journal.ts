/** The journal that several people share, as a place of a run. */

import type { Globals } from '../cli/parsing/globals.ts';
import type { Database, Transaction } from '../journal/database.ts';
import { type PostgresSettings, postgresAddress } from '../journal/postgres.ts';
import { sharedPlace as placeOf, refuseBesideShared, type SharedPlace } from '../journal/shared-place.ts';
import { hasJournal, openSqlite } from '../journal/sqlite.ts';
import type { Connections } from './connections.ts';
import type { LocalDatabase } from './journal.ts';
import type { AppHost } from './process-host.ts';

export interface JournalAround {
  readonly host: AppHost;
  readonly globals: Globals;
  readonly opened: Connections;
  readonly notice: (text: string) => void;
  readonly local: () => Promise<LocalDatabase>;
}

/** Where the operations of a run are kept. */
export interface JournalPlace {
  /** Opens it, and makes it where there is none. */
  open(): Promise<Database>;
  /** Opens it to read; undefined where there is none. */
  existing(): Promise<Database | undefined>;
  /** Of a shared journal: the role that this run works as. */
  readonly user?: string | undefined;
  /** Of a shared journal: the account of this run. */
  readonly account?: ((tx: Pick<Transaction, 'all'>) => Promise<string>) | undefined;
  /** Print of the API key; `salt` is the random value of the journal. */
  keyPrint(salt: string): Promise<string>;
}

export interface SharedAround extends JournalAround {
  /** Filled with what must be taken out of all output. */
  readonly keys: Set<string>;
  readonly waiting: Pick<PostgresSettings, 'patienceMs' | 'onWait'>;
  /** Asks a person; false where nobody can be asked. */
  readonly confirm: (question: string) => Promise<boolean>;
}

/** How a database is reached from this machine. Throws `usage` for an address that cannot be used, `guarded` for an unsafe one. */
export function postgresSettings(
  { host, keys, waiting }: Pick<SharedAround, 'host' | 'keys' | 'waiting'>,
  text: string,
): PostgresSettings {
  const { env, clock, random, signal } = host;
  const address = postgresAddress(text, env, host.user);
  if (address.password !== undefined) keys.add(address.password);
  return { address, env, clock, random, signal, onPassword: word => void keys.add(word), ...waiting };
}

/** Nothing is connected to yet. */
export function sharedPlace(around: SharedAround, text: string): SharedPlace {
  const { host, opened, confirm } = around;
  const { state } = host.folders;
  const place = placeOf({
    postgres: postgresSettings(around, text),
    async acting() {
      const { profile, mode, baseUrl } = await opened.identity();
      return { profile, mode, origin: baseUrl };
    },
    key: opened.key,
    stateFolder: state,
    files: filesOf(around),
    async local() {
      if (!hasJournal(state)) return undefined;
      const local = await openSqlite({ stateFolder: state, files: filesOf(around), clock: host.clock });
      opened.onClose(() => local.close());
      return local;
    },
    confirm,
  });
  opened.onClose(place.close);
  return place;
}

/** Throws `guarded` where this machine keeps the account of this run in a shared journal. */
export function refuseLocal({
  host,
  opened,
  notice,
}: Pick<JournalAround, 'host' | 'opened' | 'notice'>): Promise<void> {
  return refuseBesideShared(host.folders.state, filesOf({ host, notice }), opened.key);
}

function filesOf({ host, notice }: Pick<JournalAround, 'host' | 'notice'>) {
  return { platform: host.platform, random: host.random, warn: (text: string) => notice(`warning: ${text}`) };
}
