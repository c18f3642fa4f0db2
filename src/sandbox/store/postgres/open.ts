/** Opens the store of a team: any number of accounts in one database, shared by any number of processes. */

import type { Clock, Randomness } from '../../../platform/host.ts';
import type { PostgresAddress, PostgresPipeline, PostgresWays } from '../../../postgres/client.ts';
import { openPipeline } from '../../../postgres/client.ts';
import type { Store, Stores } from '../sql.ts';
import { Accounts } from './accounts.ts';
import { Connections } from './connect.ts';
import { busy, mayPass } from './errors.ts';
import { prepareTables } from './migrate.ts';
import { AccountStore } from './queue.ts';

export interface PostgresRequest {
  readonly address: PostgresAddress;
  readonly password: PostgresWays['password'];
  /** The address without a password, for messages. */
  readonly shown: string;
  readonly schema: string;
  readonly mayPrepare: boolean;
  readonly mayMigrate: boolean;
  readonly clock: Clock;
  readonly random: Randomness;
  /** Told the time of the server each time it is read, ms UTC. */
  readonly onServerTime: (now: number) => void;
}

export interface PostgresStores extends Stores {
  readonly accounts: Accounts;
  /** Keeps nothing of an account that was removed. */
  forget(account: string): void;
}

const CONNECT_MS = 5_000;
/** Of one statement, ms: those of a restore go through everything an account holds. */
const CALL_MS = 900_000;

/** Throws `check_failed` for tables that are not those of this program, and what the connection throws. */
export async function openPostgresStores(request: PostgresRequest): Promise<PostgresStores> {
  const { address, password, shown, schema, mayPrepare, mayMigrate, clock, random, onServerTime } = request;
  const ways = { password, connectMs: CONNECT_MS, callMs: CALL_MS };
  const connections = new Connections(() => openPipeline(address, ways));
  const using = async <T>(work: (connection: PostgresPipeline) => Promise<T>): Promise<T> => {
    const connection = await connections.take();
    try {
      return await work(connection);
    } finally {
      connections.give(connection);
    }
  };
  try {
    await using(connection => prepareTables({ connection, schema, shown, mayMigrate }));
  } catch (error) {
    await connections.close();
    throw error;
  }
  const known = new Map<string, AccountStore>();
  return {
    accounts: new Accounts({ schema, using: work => using(work).catch(refuseBusy) }),
    of(account): Store {
      const store =
        known.get(account) ??
        new AccountStore({ account, schema, connections, mayPrepare, clock, random, onServerTime });
      known.set(account, store);
      return store;
    },
    forget: account => void known.delete(account),
    async close() {
      await Promise.all([...known.values()].map(store => store.close()));
      await connections.close();
    },
  };
}

/** A database that does not answer now may do so soon. */
function refuseBusy(error: unknown): never {
  throw mayPass(error) ? busy(error) : error;
}
