/** The journal that several people share, as a place of a run. */

import type { Database, Transaction } from '../journal/database.ts';
import { type PostgresSettings, postgresAddress } from '../journal/postgres.ts';
import { sharedPlace as placeOf, type SharedPlace } from '../journal/shared-place.ts';
import { hasJournal, openSqlite } from '../journal/sqlite.ts';
import type { Run } from './run.ts';

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

/** How a database is reached from this machine. Throws `usage` for an address that cannot be used, `guarded` for an unsafe one. */
export function postgresSettings({ host, keys, terminal }: Run, text: string): PostgresSettings {
  const { env, clock, random, signal } = host;
  const address = postgresAddress(text, env, host.user);
  if (address.password !== undefined) keys.add(address.password);
  return { address, env, clock, random, signal, onPassword: word => void keys.add(word), ...terminal.waiting };
}

/** Nothing is connected to yet. */
export function sharedPlace(run: Run, text: string): SharedPlace {
  const { host, files, opened, terminal } = run;
  const { state } = host.folders;
  const place = placeOf({
    postgres: postgresSettings(run, text),
    acting: opened.acting,
    key: opened.key,
    stateFolder: state,
    files,
    async local() {
      if (!hasJournal(state)) return undefined;
      const local = await openSqlite({ stateFolder: state, files, clock: host.clock });
      opened.onClose(() => local.close());
      return local;
    },
    confirm: async question =>
      terminal.canAsk && terminal.prompts.confirm(question, { flag: 'cardwright journal init --key' }),
  });
  opened.onClose(place.close);
  return place;
}
