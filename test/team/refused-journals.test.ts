/** Journals that cannot be used: each is refused in words that name the way on, and nothing is sent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { certificateOf, type Database, database, PASSWORD } from '../postgres/shared.ts';
import { selfSigned } from '../support/certificate.ts';
import { freePort } from '../support/free-port.ts';
import { ownServer } from './own-server.ts';
import { team, urlOf } from './team.ts';

describe.skipIf(missing())('a journal is refused', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  const CREATE = 'cards create --bin bin_1 --amount 10';

  it.each([
    ['an address that is none', 'not-an-address', 2, 'not a usable address of a shared journal'],
    ['a parameter that would change the session', 'postgres://ana@db/j?options=-c', 2, 'its parameters are sslmode'],
    ['weaker TLS', 'postgres://ana@db.example.com/j?sslmode=require', 14, 'with sslmode=verify-full only'],
    [
      'no TLS to another machine',
      'postgres://ana@db.example.com/j?sslmode=disable',
      14,
      'with sslmode=verify-full only',
    ],
    ['nobody there', 'postgres://ana@127.0.0.1:1/j', 14, 'cannot be reached'],
  ])('%s', async (_what, url, code, says) => {
    await using t = await team(here);
    const machine = await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: url });
    const ran = await machine.run(CREATE, { onPause: () => undefined });
    expect(ran).toMatchObject({ code });
    expect(ran.err).toContain(says);
    expect(t.proxy.posts()).toEqual([]);
  });

  it('a server that lets in TLS alone: it is the first cure, and a line without it is none', async () => {
    await using own = await ownServer({
      port: await freePort(),
      tls: selfSigned('test/team/refused-journals'),
      hba: ['local all all trust', 'hostssl all all 127.0.0.1/32 scram-sha-256'],
    });
    await (await own.as('postgres')).call(`alter role ana password '${PASSWORD}'`, []);
    await using t = await team(here);
    const password = encodeURIComponent(PASSWORD);
    const at = (parameters: string) => `postgres://ana:${password}@127.0.0.1:${own.server.port}/postgres${parameters}`;
    for (const parameters of ['', '?sslmode=disable']) {
      const ran = await (await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: at(parameters) })).run(CREATE);
      expect(ran).toMatchObject({ code: 14 });
      expect(ran.err).toContain('write ?sslmode=verify-full at the end of the address');
      expect(ran.err).toContain('let it in with a line of pg_hba.conf: hostssl postgres ana samenet scram-sha-256');
      expect(ran.err).not.toMatch(/: host /);
    }
    const cured = at(`?sslmode=verify-full&sslrootcert=${certificateOf(own.server)}`);
    const ran = await (await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: cured })).run(CREATE);
    // It is reached.
    expect(ran.err).toContain(`no rights in the account ${t.at.account}`);
  });

  it('a password on the command line, which it does not repeat', async () => {
    await using t = await team(here);
    const machine = await t.machine('ana');
    const ran = await machine.run(`${CREATE} --journal postgres://ana:hunter2-secret@127.0.0.1/j`);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('no password: the command line is seen by everybody');
    expect(ran.all).not.toContain('hunter2-secret');
    expect(t.proxy.posts()).toEqual([]);
  });

  it('a database without a journal, another account, a role that is no member, and the account of another service', async () => {
    await using t = await team(here);
    const refused = async (env: Readonly<Record<string, string>>, says: string, role: 'ana' | 'eve' = 'ana') => {
      const ran = await (await t.machine(role, env)).run(CREATE);
      expect(ran, says).toMatchObject({ code: 14, err: expect.stringContaining(says) });
      expect(t.proxy.posts()).toEqual([]);
    };
    await refused(
      { CARDWRIGHT_JOURNAL_URL: urlOf({ ...here, name: 'postgres' }, 'ana') },
      'there is no journal of this release',
    );
    const nowhere = { CARDWRIGHT_JOURNAL_URL: urlOf({ ...here, name: 'nowhere' }, 'ana') };
    await refused(nowhere, 'Look at the name in the address first: nowhere.');
    // Who operates owns nothing.
    await refused(nowhere, 'as an admin of PostgreSQL: create database nowhere;');
    const made = 'As an admin of PostgreSQL: create role zoe login in role cardwright_operator;';
    await refused({ CARDWRIGHT_JOURNAL_URL: urlOf(here, 'zoe') }, made);
    await refused(
      { CARDWRIGHT_JOURNAL_ACCOUNT: 'nobody' },
      `the role ana has no rights in the account nobody of the shared journal ${urlOf(here, 'ana')}, or too few for this`,
    );
    await refused({}, `select cardwright.add_member('${t.at.account}', 'eve', '{read,operate}');`, 'eve');
    await t.at.root.call(`update cardwright.account set origin = 'https://other.example.com' where name = $1`, [
      t.at.account,
    ]);
    await refused({}, 'is at https://other.example.com, test; this run acts at');
  });

  it('a copy of the database, a server that only reads, an account that an admin has frozen', async () => {
    await using t = await team(here);
    const machine = await t.machine('ana');
    const refused = async (says: string, hint: string) => {
      const ran = await machine.run(CREATE);
      expect(ran, says).toMatchObject({ code: 14, err: expect.stringMatching(says) });
      expect(ran.err).toContain(hint);
      expect((await machine.run('ops list --json')).code).toBe(0);
      expect(t.proxy.posts()).toEqual([]);
    };
    const set = (column: string, value: string) =>
      t.at.root.call(`update cardwright.account set ${column} = $1 where name = $2`, [value, t.at.account]);
    const [[identifier = ''] = []] = await t.at.root.call(
      'select system_identifier from cardwright.account where name = $1',
      [t.at.account],
    );
    await set('system_identifier', '7000000000000000000');
    await refused('was restored, copied or failed over', 'cardwright journal push');
    await set('system_identifier', String(identifier));
    await t.at.root.call(`alter role ana in database ${here.name} set default_transaction_read_only = on`, []);
    await refused('this server only reads', 'A standby cannot be written');
    const examined = await machine.run('doctor --json');
    expect(JSON.parse(examined.out).data).toContainEqual({
      check: 'shared journal',
      status: 'fail',
      says: expect.stringContaining('this server only reads; use the address of the primary'),
    });
    await t.at.root.call(`alter role ana in database ${here.name} reset default_transaction_read_only`, []);
    await t.at.admin(`freeze_account('we are looking at it')`);
    await refused(
      'was frozen by ada at \\S+: we are looking at it',
      'ends the freeze in the database: select cardwright.accept_failover',
    );
  });

  it('a schema of a newer release, and one of an older', async () => {
    await using t = await team(here);
    const machine = await t.machine('ana');
    const schema = (number: string) => t.at.root.call(`update cardwright.meta set schema_number = ${number}`, []);
    await schema('schema_number + 1');
    const newer = await machine.run(CREATE);
    expect(newer).toMatchObject({ code: 15, err: expect.stringContaining('Install the newer version') });
    await schema('schema_number - 2');
    const older = await machine.run(CREATE);
    expect(older).toMatchObject({
      code: 14,
      err: expect.stringMatching(/cardwright journal init --print-sql --from \d/),
    });
    await schema('schema_number + 1');
    expect(t.proxy.posts()).toEqual([]);
    expect((await machine.run(`${CREATE} -q`)).code).toBe(0);
  });
});
