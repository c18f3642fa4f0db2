/** A server of one test, which it may stop, kill, and put an older state in the place of. */

import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { copyCluster, type Settings, startAgain, startServer, stopServer } from './server.ts';
import { connect, type Database, PEOPLE, SCHEMA_SQL, statementsOf } from './shared.ts';

export interface OwnServer extends Database, AsyncDisposable {
  stop(signal?: 'SIGINT' | 'SIGKILL'): Promise<void>;
  start(): Promise<void>;
  /** Keeps the state as it is now; the server is stopped for it and started again. */
  backup(): Promise<void>;
  /** That state takes the place of the present one. `promoted`: as a standby that did not have what was written since. */
  restore(how: 'backup' | 'promoted'): Promise<void>;
}

/** With the schema and the people of every test database. */
export async function ownServer(settings: Settings = {}): Promise<OwnServer> {
  // Beside the folder of the run's server, whose way is open to nobody's.
  const folder = await mkdtemp(join(dirname(process.env['TEST_POSTGRES_FOLDER'] ?? tmpdir()), 'cwpg-'));
  let server = await startServer(folder, settings);
  const name = 'postgres';
  let opened = new Map<string, ReturnType<typeof connect>>();
  const as: Database['as'] = role => {
    const session = opened.get(role) ?? connect(server, role, name);
    opened.set(role, session);
    return session;
  };
  const leave = async () => {
    for (const session of opened.values()) await session.then(each => each.end()).catch(() => undefined);
    opened = new Map();
  };
  const root = await as('postgres');
  for (const statement of statementsOf(SCHEMA_SQL)) await root.call(statement, []);
  await root.call('commit', []);
  for (const [person, group] of Object.entries(PEOPLE))
    await root.call(`create role ${person} login${group === undefined ? '' : ` in role ${group}`}`, []);
  const [data, older] = [join(folder, 'data'), join(folder, 'older')];
  const stop: OwnServer['stop'] = async (signal = 'SIGINT') => {
    await leave();
    await stopServer(server, signal);
  };
  const start = async () => {
    server = await restarted(folder);
  };
  const close = async () => {
    await stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  };
  return {
    get server() {
      return server;
    },
    name,
    as,
    stop,
    start,
    async backup() {
      await stop();
      copyCluster(data, older);
      await start();
    },
    async restore(how) {
      await stop();
      await rename(data, join(folder, 'lost'));
      await rename(older, data);
      if (how === 'promoted') await writeFile(join(data, 'standby.signal'), '');
      await start();
      if (how === 'promoted') await (await as('postgres')).call('select pg_promote()', []);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The memory that a killed server has shared is in use until the last of its children is gone. */
async function restarted(folder: string) {
  for (;;) {
    try {
      return await startAgain(folder);
    } catch (thrown) {
      if (!/pre-existing shared memory|lock file/.test(String(thrown))) throw thrown;
    }
  }
}
