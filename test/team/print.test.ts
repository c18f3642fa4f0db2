/** The file of `journal init --print-sql`, run as an admin of a database would: no superuser, once. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCHEMA_NUMBER } from '../../src/team/schema/number.ts';
import { journalSql, upgradeSql } from '../../src/team/schema/print.ts';
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
      schema: SCHEMA_NUMBER,
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

  it('is read whole by a role that bypasses row-level security, and by its owner not at all, as a dump does it', async () => {
    const root = await here.as('postgres');
    const [dba, backup] = [`${here.name}_owner`, `${here.name}_backup`];
    await root.call(`create role ${dba} login`, []);
    await root.call(`grant cardwright_owner to ${dba}`, []);
    await root.call(`create role ${backup} login bypassrls`, []);
    await root.call(`grant pg_read_all_data to ${backup}`, []);
    await root.call(`select cardwright.add_account('dumped', 'https://api.example.com', 'test', 'ada')`, []);
    const rows = async (role: string, security: 'on' | 'off') => {
      const session = await connect(here.server, role, here.name);
      try {
        await session.call(`set row_security = ${security}`, []);
        return (await session.call('select from cardwright.audit', [])).length;
      } finally {
        await session.end();
      }
    };
    expect(await rows(backup, 'off')).toBe(1);
    await expect(rows(dba, 'off')).rejects.toMatchObject({ code: '42501' });
    // What --enable-row-security does.
    expect(await rows(dba, 'on')).toBe(0);
  });

  /** What a journal of one number is made of: tables with their columns, functions, policies, grants. */
  const SHAPE = [
    `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
      where table_schema = 'cardwright' order by 1, 2`,
    `select p.oid::regprocedure::text, md5(p.prosrc), p.prosecdef, pg_get_userbyid(p.proowner), p.proacl::text
      from pg_proc p where p.pronamespace = 'cardwright'::regnamespace order by 1`,
    `select tablename, policyname, qual from pg_policies where schemaname = 'cardwright' order by 1, 2`,
    `select relname, relrowsecurity, relforcerowsecurity from pg_class
      where relnamespace = 'cardwright'::regnamespace and relkind = 'r' order by 1`,
  ];

  /** A journal of an older number, with an account. */
  async function makeOld(run: (text: string) => Promise<void>, from: number): Promise<void> {
    await run(await readFile(join(import.meta.dirname, `schema-${from}.sql`), 'utf8'));
    await run('commit');
    await run(`select cardwright.add_account('main', 'https://api.example.com', 'test', 'postgres');`);
  }

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('brings a journal of schema %i here, with what it keeps', async from => {
    const root = await here.as('postgres');
    const name = `${here.name}_old_${from}`;
    await root.call(`create database ${name}`, []);
    const old = await connect(here.server, 'postgres', name);
    const run = async (text: string) => {
      for (const statement of statementsOf(text)) await old.call(statement, []);
    };
    await makeOld(run, from);
    await old.call(`select cardwright.set_cap('main', 'max_per_day', 500000)`, []);
    await run(upgradeSql(from));
    const [[status] = []] = await old.call(`select cardwright.status('main')`, []);
    expect(JSON.parse(status ?? '')).toMatchObject({ schema: SCHEMA_NUMBER, caps: { max_per_day: 500_000 } });
    for (const question of SHAPE) expect(await old.call(question, [])).toEqual(await root.call(question, []));
    await expect(run(upgradeSql(from))).rejects.toThrow(
      `the journal has schema ${SCHEMA_NUMBER}, and this file is for ${from}`,
    );
    await old.end();
  });

  it('keeps which machine had taken operations along by schema 10', async () => {
    const root = await here.as('postgres');
    const name = `${here.name}_left`;
    await root.call(`create database ${name}`, []);
    const old = await connect(here.server, 'postgres', name);
    const run = async (text: string) => {
      for (const statement of statementsOf(text)) await old.call(statement, []);
    };
    await makeOld(run, 10);
    await run(`insert into cardwright.op (op, account, nonce, command, digest, bulk, moves, freely, rows, cents, state, unknown, open,
        epoch, holder, host, writer, ttl_ms, day, reserved, claimed_seq, n, size, left_to)
      select 'op_00000000000000000000000001', id, '', 'cards create', '', false, true, false, 1, 300, 'running', 1, 0,
        1, 'ana', 'laptop', '00000000', 60000, '2026-01-01', 300, 1, 0, 0, 'ana@laptop' from cardwright.account;`);
    await run(upgradeSql(10));
    const [[status] = []] = await old.call(`select cardwright.status('main')`, []);
    expect(JSON.parse(status ?? '')).toMatchObject({ left_to: 'ana@laptop' });
    await old.end();
  });
});
