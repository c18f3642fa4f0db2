/** The journal that several people share, as a place of a run: its database, its account, the print of the key. */
import type { Globals } from '../cli/parsing/globals.ts';
import type { Database, Transaction } from '../journal/database.ts';
import { type PostgresSettings, postgresAddress } from '../journal/postgres.ts';
import { sharedPlace } from '../journal/shared-place.ts';
import type { AppHost } from './app-host.ts';
import type { Connections } from './connections.ts';

export interface JournalAround {
  readonly host: AppHost;
  readonly globals: Globals;
  readonly opened: Connections;
  readonly notice: (text: string) => void;
}

/** Where the operations of a run are kept. */
export interface JournalPlace {
  /** Opens it, and makes it where there is none. */
  open(): Promise<Database>;
  /** Opens it to read; undefined where there is none. */
  existing(): Promise<Database | undefined>;
  /** Of a shared journal: the account of this run. */
  readonly account?: ((tx: Pick<Transaction, 'all'>) => Promise<string>) | undefined;
  /** Print of the API key; `salt` is the random value of a journal of one machine. */
  keyPrint(salt: string): Promise<string>;
}

export interface SharedAround extends JournalAround {
  /** Filled with what must be taken out of all output. */
  readonly keys: Set<string>;
  readonly waiting: Pick<PostgresSettings, 'patienceMs' | 'onWait'>;
  /** Asks a person; false where nobody can be asked. */
  readonly confirm: (question: string) => Promise<boolean>;
}

/** Nothing is connected to yet. Throws `usage` for an address that cannot be used. */
export async function placeOfShared(around: SharedAround, text: string, local: JournalPlace): Promise<JournalPlace> {
  const { host, opened, keys, waiting, confirm } = around;
  const { env, clock, random, signal, platform, folders } = host;
  const address = postgresAddress(text, env, host.user);
  if (address.password !== undefined) keys.add(address.password);
  const place = sharedPlace({
    postgres: { address, env, clock, random, signal, onPassword: password => void keys.add(password), ...waiting },
    async acting() {
      const { profile, mode, baseUrl } = await opened.identity();
      return { profile, mode, origin: baseUrl };
    },
    key: opened.key,
    stateFolder: folders.state,
    files: { platform, random, warn: around.notice },
    local: local.existing,
    confirm,
  });
  opened.onClose(() => place.close());
  return place;
}
