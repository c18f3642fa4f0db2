/** The file of `journal init --print-sql`, run as an admin of a database would: no superuser, once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { journalSql } from '../../src/team/schema/print.ts';
import { missing } from '../postgres/server.ts';
import { connect, type Database, database, statementsOf } from '../postgres/shared.ts';

describe.skipIf(missing())('the printed SQL', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it('makes the journal and its account without a superuser, in one transaction', async () => {
    const root = await here.as('postgres');
    const name = `${here.name}_dba`;
    await root.call(`create role ${name} login createrole`, []);
    await root.call(`create database ${name} owner ${name}`, []);
    const dba = await connect(here.server, name, name);
    const sql = journalSql({ name: "o'brien", origin: 'https://api.example.com', mode: 'live' });
    // No account has such a name, so nothing of it stays.
    await expect(runAll(sql)).rejects.toMatchObject({ code: '23514' });
    await dba.call('rollback', []);
    expect(await dba.call(`select from pg_namespace where nspname = 'cardwright'`, [])).toEqual([]);
    await runAll(journalSql({ name: 'main', origin: 'https://api.example.com', mode: 'live' }));
    await dba.call(`select cardwright.set_cap('main', 'max_per_day', 500000)`, []);
    const [[status] = []] = await dba.call(`select cardwright.status('main')`, []);
    expect(JSON.parse(status ?? '')).toMatchObject({
      account: 'main',
      mode: 'live',
      schema: 1,
      can: ['admin'],
      caps: { max_per_day: 500_000 },
    });
    // What it owns is not what it may touch by itself: the rows of an account are for functions.
    expect(await dba.call('select * from cardwright.cap', [])).toEqual([]);
    await expect(runAll(journalSql())).rejects.toMatchObject({ code: '42P06' });
    await dba.end();

    async function runAll(text: string) {
      for (const statement of statementsOf(text)) await dba.call(statement, []);
    }
  });
});
