/** A server with a shared journal in it: two operators, a reader, and states that are kept and put back. */
import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as rest } from 'node:timers/promises';
import type { Sql } from '../../src/journal/database.ts';
import { asAdmin, openPostgres, type PostgresSettings, postgresAddress, SCHEMA } from '../../src/journal/postgres.ts';
import { initJournal } from '../../src/journal/shared.ts';
import { selfSigned } from '../support/certificate.ts';
import { copyCluster, type Server, startAgain, startServer, stopServer } from './server.ts';

export const PEOPLE = { ana: 'cardwright_operator', bo: 'cardwright_operator', eve: 'cardwright_reader' } as const;

const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms: number, signal?: AbortSignal) => rest(ms, undefined, { signal }),
};
const random = { bytes: (count: number) => randomBytes(count), fraction: () => 0.5 };

export function settingsAt(url: string, more: Partial<PostgresSettings> = {}): PostgresSettings {
  const { signal } = new AbortController();
  return { address: postgresAddress(url, more.env ?? {}, 'nobody'), env: {}, clock, random, signal, ...more };
}

export interface JournalServer extends AsyncDisposable {
  readonly server: Server;
  /** Address over the socket, where nobody is asked for a password. */
  url(user: string): string;
  /** Statements of the owner of the journal. */
  sql<Row = Record<string, unknown>>(statement: string | Sql): Promise<readonly Row[]>;
  stop(signal?: 'SIGQUIT' | 'SIGINT' | 'SIGKILL'): Promise<void>;
  start(): Promise<void>;
  /** Keeps the state as it is now; the server is stopped for it and started again. */
  backup(): Promise<void>;
  /** That state takes the place of the present one. `promoted`: as a standby that did not have what was written since. */
  restore(how?: 'promoted'): Promise<void>;
}

/** Of this process, where nobody uses it: to empty a journal is much less than to start a server. */
let unused: JournalServer | undefined;

/** A server with an empty journal; the end of the run stops it. */
export async function journalServer(): Promise<JournalServer> {
  const kept = unused;
  unused = undefined;
  const journal = kept ?? (await startedServer());
  if (kept !== undefined) {
    await kept.sql(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename is not null',
    );
    await kept.sql(`drop schema ${SCHEMA} cascade`);
  }
  await initJournal(settingsAt(journal.url('postgres')));
  return journal;
}

async function startedServer(): Promise<JournalServer> {
  // Beside the folder of the run, whose way is open to nobody's; what is named in there is stopped and removed at its end.
  const run = process.env['TEST_POSTGRES_FOLDER'] ?? tmpdir();
  const folder = await mkdtemp(join(dirname(run), 'cwpg-'));
  await appendFile(join(run, 'servers'), `${folder}\n`);
  const port = 20_000 + ((process.pid + process.hrtime()[1]) % 20_000);
  let server = await startServer(folder, { port, tls: selfSigned('test/postgres', ['localhost']) });
  const [data, older] = [join(folder, 'data'), join(folder, 'older')];
  const url = (user: string) => `postgres://${user}@${encodeURIComponent(server.socket)}:${port}/postgres`;
  const sql: JournalServer['sql'] = statement => asAdmin(settingsAt(url('postgres')), tx => tx.all(statement));
  await initJournal(settingsAt(url('postgres')));
  for (const [name, group] of Object.entries(PEOPLE))
    await sql(`create role ${name} login password 'of ${name}' in role ${group}`);
  const stop: JournalServer['stop'] = (signal = 'SIGINT') => stopServer(server, signal);
  const start = async () => {
    for (;;) {
      try {
        server = await startAgain(folder, port);
        return;
      } catch (thrown) {
        // The memory that a killed server has shared is in use until the last of its children is gone.
        if (!/pre-existing shared memory|lock file/.test(String(thrown))) throw thrown;
      }
    }
  };
  const journal: JournalServer = {
    get server() {
      return server;
    },
    url,
    sql,
    stop,
    start,
    async backup() {
      await stop();
      await rm(older, { recursive: true, force: true });
      copyCluster(data, older);
      await start();
    },
    async restore(how) {
      await stop();
      await rm(data, { recursive: true });
      await rename(older, data);
      if (how === 'promoted') await writeFile(join(data, 'standby.signal'), '');
      await start();
      if (how !== 'promoted') return;
      const settings = settingsAt(url('postgres'));
      const { default: PgClient } = (await import('pg')) as unknown as {
        default: {
          Client: new (
            of: object,
          ) => { connect(): Promise<void>; query(text: string): Promise<unknown>; end(): Promise<void> };
        };
      };
      const client = new PgClient.Client({ host: settings.address.host, port, user: 'postgres', database: 'postgres' });
      await client.connect();
      await client.query('select pg_promote()');
      await client.end();
    },
    async [Symbol.asyncDispose]() {
      const isRunning = await sql('select 1').then(
        () => true,
        () => false,
      );
      if (isRunning && unused === undefined) unused = journal;
      else await stop('SIGKILL');
    },
  };
  return journal;
}

export { openPostgres };
