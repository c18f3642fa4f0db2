/** What the database keeps from everybody: tables, other accounts, other people's functions. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresSession } from '../../src/postgres/client.ts';
import { GRANTED } from '../../src/team/schema/administration.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database, PEOPLE, type Person } from '../postgres/shared.ts';

describe.skipIf(missing())('the schema', () => {
  let here: Database;
  let root: PostgresSession;
  beforeAll(async () => {
    here = await database();
    root = await here.as('postgres');
  });
  afterAll(() => here.close());

  const column = async (text: string, session = root) => (await session.call(text, [])).map(([value]) => value);

  it('lets nobody but its owner touch a table', async () => {
    const tables = await column(`select tablename from pg_tables where schemaname = 'cardwright' order by 1`);
    expect(tables.length).toBeGreaterThan(10);
    for (const role of [...Object.keys(PEOPLE), ...Object.keys(GRANTED)]) {
      const open = await column(`select relname from pg_class
        where relkind = 'r' and relnamespace = 'cardwright'::regnamespace
        and has_table_privilege('${role}', oid, 'select, insert, update, delete, truncate, references, trigger')`);
      expect(open, role).toEqual([]);
    }
    for (const person of ['ana', 'ada', 'eve', 'out'] as const) {
      const session = await here.as(person);
      await expect(session.call('select * from cardwright.op', []), person).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('grants each group its functions and no others', async () => {
    for (const [group, names] of Object.entries(GRANTED)) {
      const may = await column(`select p.oid::regprocedure::text from pg_proc p
        where pronamespace = 'cardwright'::regnamespace and has_function_privilege('${group}', p.oid, 'execute')`);
      const plain = (name: string) => name.replace('cardwright.', '').replace(/[( ,].*$/, '');
      expect(may.map(name => plain(String(name))).toSorted(), group).toEqual(names.map(plain).toSorted());
    }
    const open = await column(`select proname from pg_proc where pronamespace = 'cardwright'::regnamespace
      and has_function_privilege('out', oid, 'execute')`);
    expect(open).toEqual([]);
  });

  it('runs each granted function as its owner, with a search path that nobody can put a table before', async () => {
    const loose = await column(`select proname from pg_proc where pronamespace = 'cardwright'::regnamespace
      and prosecdef and (proconfig is null or not 'search_path=pg_catalog, cardwright, pg_temp' = any(proconfig))`);
    expect(loose).toEqual([]);
    const owners = await column(`select distinct pg_get_userbyid(proowner) from pg_proc
      where pronamespace = 'cardwright'::regnamespace`);
    expect(owners).toEqual(['cardwright_owner']);
  });

  it('has row-level security forced on every table that has an account', async () => {
    const lax = await column(`select relname from pg_class c where relnamespace = 'cardwright'::regnamespace
      and relkind = 'r' and not (relrowsecurity and relforcerowsecurity) and relname <> 'meta'`);
    expect(lax).toEqual([]);
  });

  it('keeps a wrong condition inside of the account', async () => {
    for (const account of ['one', 'two']) {
      await root.call(`select cardwright.add_account($1, 'https://api.example.com', 'test', 'ada')`, [account]);
    }
    const ada = await here.as('ada');
    await ada.call(`select cardwright.set_cap('two', 'max_cards', 7)`, []);
    const careless = `create function cardwright.careless(name text) returns bigint language plpgsql
      security definer set search_path = pg_catalog, cardwright, pg_temp as $f$
      begin
        perform enter(jsonb_build_object('account', name), 'admin', true);
        update cap set value = 0;
        update account set frozen_why = 'carelessness';
        delete from member;
        return (select count(*) from audit);
      end $f$`;
    await root.call(careless, []);
    await root.call('alter function cardwright.careless owner to cardwright_owner', []);
    await root.call('grant execute on function cardwright.careless to cardwright_admin', []);
    expect(await column(`select cardwright.careless('one')`, ada)).toEqual(['1']);
    expect(await column('select value from cardwright.cap')).toEqual(['7']);
    expect(await column('select name from cardwright.account where frozen_why is null')).toEqual(['two']);
    expect(await column(`select role from cardwright.member m join cardwright.account a on a.id = m.account`)).toEqual([
      'ada',
    ]);
  });

  it('shows an account that is not there and one of others in the same words', async () => {
    await root.call(`select cardwright.add_account('theirs', 'https://api.example.com', 'test', 'ada')`, []);
    for (const person of ['ana', 'eve'] satisfies Person[]) {
      const session = await here.as(person);
      for (const name of ['theirs', 'nowhere']) {
        await expect(session.call('select cardwright.status($1)', [name])).rejects.toMatchObject({
          code: 'CW004',
          message: `no account ${name} that ${person} may use this way`,
        });
      }
    }
  });
});
