/** A server that is not what it was: unsafe settings, a standby, one that took the place of another. */
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresSession } from '../../src/postgres/client.ts';
import { SCHEMA_SQL } from '../../src/team/schema/print.ts';
import { statementsOver } from '../../src/team/statements.ts';
import { missing, type Server, startAgain, startServer, stopServer } from '../postgres/server.ts';
import { connect, statementsOf } from '../postgres/shared.ts';
import { FACTS, hex } from './test-account.ts';

describe.skipIf(missing())('a server', () => {
  let folder: string;
  let server: Server;
  beforeAll(async () => {
    // Beside the folder of the run's server, whose way is open to nobody's.
    folder = await mkdtemp(join(dirname(process.env['TEST_POSTGRES_FOLDER'] ?? tmpdir()), 'cwpg-'));
    server = await startServer(folder);
    const root = await connect(server, 'postgres', 'postgres');
    for (const statement of statementsOf(SCHEMA_SQL)) await root.call(statement, []);
    await root.call('commit', []);
    for (const [name, group] of [
      ['ana', 'operator'],
      ['ben', 'operator'],
      ['ada', 'admin'],
    ]) {
      await root.call(`create role ${name} login in role cardwright_${group}`, []);
    }
    await root.call(`select cardwright.add_account('main', 'https://api.example.com', 'live', 'ada')`, []);
    const ada = await connect(server, 'ada', 'postgres');
    for (const name of ['ana', 'ben']) await ada.call(`select cardwright.add_member('main', $1, '{operate}')`, [name]);
    await Promise.all([root.end(), ada.end()]);
  });
  afterAll(async () => {
    await stopServer(server);
    await rm(folder, { recursive: true, force: true });
  });

  const as = (role: string) => connect(server, role, 'postgres');
  const noteBy = (session: PostgresSession) =>
    statementsOver(session).note({ account: 'main', host: 'laptop', nonce: hex(8) }, FACTS);
  async function once<T>(role: string, work: (session: PostgresSession) => Promise<T>): Promise<T> {
    const session = await as(role);
    try {
      return await work(session);
    } finally {
      await session.end();
    }
  }
  async function again(work: () => Promise<unknown>) {
    await stopServer(server, 'SIGINT');
    await work();
    server = await startAgain(folder);
  }

  it('that would lose what it has written is refused (CW003), a standby too (CW002), and who takes its place (CW005)', async () => {
    expect(await once('ana', noteBy)).toMatchObject({ verdict: 'noted' });
    const conf = join(folder, 'data', 'postgresql.conf');
    for (const setting of ['fsync', 'full_page_writes']) {
      await again(() => appendFile(conf, `${setting} = off\n`));
      await expect(once('ana', noteBy), setting).rejects.toMatchObject({ code: 'CW003' });
      await appendFile(conf, `${setting} = on\n`);
    }
    await again(() => writeFile(join(folder, 'data', 'standby.signal'), ''));
    await expect(once('ana', noteBy)).rejects.toMatchObject({ code: 'CW002' });
    expect(await once('ana', session => statementsOver(session).status('main'))).toMatchObject({
      standby: true,
      moved: false,
    });
    await once('postgres', session => session.call('select pg_promote()', []));
    await expect(once('ana', noteBy)).rejects.toMatchObject({ code: 'CW005' });
    expect(await once('ana', session => statementsOver(session).status('main'))).toMatchObject({
      standby: false,
      moved: true,
    });
    // Who may operate brings what only its machine knows, or is named: its lines may be just what was lost.
    const accept = (without: string) =>
      once('ada', session =>
        session.call(`select cardwright.accept_failover('main', 'the disk failed', $1)`, [without]),
      );
    await expect(accept('{}')).rejects.toMatchObject({ code: 'CW009', message: expect.stringMatching(/: ana, ben$/) });
    for (let time = 0; time < 2; time += 1) {
      await once('ana', session => statementsOver(session).pushed({ account: 'main', host: 'laptop', lost: 0 }));
    }
    await accept('{ben}');
    expect(await once('ben', noteBy)).toMatchObject({ verdict: 'noted' });
    await once('postgres', session => session.call(`update cardwright.account set system_identifier = '1'`, []));
    await expect(once('ana', noteBy)).rejects.toMatchObject({ code: 'CW005' });
    await expect(accept('{ana}')).rejects.toMatchObject({ code: 'CW009', message: expect.stringMatching(/: ben$/) });
    await accept('{ben}');
    expect(await once('ana', noteBy)).toMatchObject({ verdict: 'noted' });
  });
});
