/** Another database of the same server: a copy, or a dump that was restored there, also under the name of the first. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresSession } from '../../src/postgres/client.ts';
import { statementsOver } from '../../src/team/statements.ts';
import { missing } from '../postgres/server.ts';
import { connect, type Database, database } from '../postgres/shared.ts';
import { FACTS, KEY_PRINT, testAccount, wanted } from './test-account.ts';

const BYTES = Buffer.from('x\n');
const ELSEWHERE = { code: 'CW005' };

describe.skipIf(missing())('a copy of a journal in the same server', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  /** Of a database that nobody is connected to. */
  async function copyOf(name: string, copy: string): Promise<void> {
    const root = await connect(here.server, 'postgres', 'postgres');
    await root.call(`create database ${copy} template ${name} strategy file_copy`, []);
    await root.end();
  }

  /** An account in a database of its own, and the server as its owner sees it. */
  async function journal() {
    const name = `${here.name}_first`;
    await copyOf('with_schema', name);
    const own = { ...here, name, as: (role: string) => connect(here.server, role, name) };
    const at = await testAccount(own as unknown as Database);
    await at.ana.claim(wanted(at.account, 100), BYTES, FACTS);
    return { name, at };
  }

  const claims = (session: PostgresSession, account: string) =>
    statementsOver(session).claim(wanted(account, 100), BYTES, FACTS);

  it('is refused until its admin accepts it, and the first one goes on; a name does not hide it', async () => {
    const { name, at } = await journal();
    const { account } = at;
    const [copy, former] = [`${here.name}_copy`, `${here.name}_former`];
    const root = await connect(here.server, 'postgres', 'postgres');
    // The template must be quiet.
    await root.call('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    await copyOf(name, copy);
    const [first, ana, ada] = await Promise.all([
      connect(here.server, 'ana', name),
      connect(here.server, 'ana', copy),
      connect(here.server, 'ada', copy),
    ]);
    expect(await claims(first, account)).toMatchObject({ verdict: 'claimed' });
    await expect(claims(ana, account)).rejects.toMatchObject(ELSEWHERE);
    expect(await statementsOver(ana).status(account)).toMatchObject({ moved: true });
    expect(await statementsOver(first).status(account)).toMatchObject({ moved: false });
    const accept = (session: PostgresSession) =>
      session.call(`select cardwright.accept_failover($1, 'the first is gone', '{ben}')`, [account]);
    await expect(accept(ada)).rejects.toMatchObject({ code: 'CW009' });
    // Who has pushed to the first one has not pushed to the copy.
    await statementsOver(first).pushed({ account, host: 'desk', lost: 0 });
    await expect(accept(ada)).rejects.toMatchObject({ code: 'CW009' });
    await statementsOver(ana).pushed({ account, host: 'desk', lost: 0 });
    await Promise.all([first.end(), ana.end(), ada.end()]);

    await root.call(`alter database ${name} rename to ${former}`, []);
    await root.call(`alter database ${copy} rename to ${name}`, []);
    const renamed = await connect(here.server, 'ana', name);
    await expect(claims(renamed, account)).rejects.toMatchObject(ELSEWHERE);
    const admin = await connect(here.server, 'ada', name);
    await expect(accept(admin)).rejects.toMatchObject({ code: 'CW009' });
    await statementsOver(renamed).pushed({ account, host: 'desk', lost: 0 });
    await accept(admin);
    expect(await claims(renamed, account)).toMatchObject({ verdict: 'claimed' });
    expect(await statementsOver(renamed).hasKey(account, KEY_PRINT)).toBe(true);
    await Promise.all([renamed.end(), admin.end(), root.end()]);
  });
});
