/** The store on a real PostgreSQL: what it would do otherwise than SQLite, and does alike. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresRefusal } from '../../src/postgres/refusal.ts';
import { Transaction } from '../../src/sandbox/store/postgres/statements.ts';
import { numbered, withTypes } from '../../src/sandbox/store/postgres/types.ts';
import type { Sql, Store, Tail } from '../../src/sandbox/store/sql.ts';
import type { OpenedStore } from '../../src/sandbox/store/sqlite/open.ts';
import { missing } from '../postgres/server.ts';
import { skippingClock } from '../support/clocks.ts';
import { idSource, setClock } from '../support/sandbox-http.ts';
import { openAccount } from '../support/test-store.ts';

describe.skipIf(missing() !== undefined)('on PostgreSQL', () => {
  let opened: OpenedStore;
  let store: Store;
  const make = (fill: (sql: Sql) => Promise<void>) =>
    openAccount(
      {
        ...{ path: 'memory', tables: [], seed: 1, ids: 'derived', fill, clock: setClock(0), random: idSource },
        platform: 'linux',
      },
      'acct_1',
    );
  const count = async (name: string) =>
    (await store.read(sql => sql.get<{ value: number }>('select value from counters where name = ?', name)))?.value;
  const add = (sql: Sql, name: string, value = 1) =>
    sql.run(
      `insert into counters (account_id, name, value) values (?, ?, ?)
       on conflict (account_id, name) do update set value = counters.value + excluded.value`,
      ...['acct_1', name, value],
    );

  beforeAll(async () => {
    opened = await make(async () => undefined);
    ({ store } = opened);
  });
  afterAll(() => store.close());

  it('orders texts by their bytes', async () => {
    const texts = ['b', 'a', 'B', 'ä', 'Z', '_'];
    await store.write(async sql => {
      for (const text of texts) await add(sql, `order ${text}`);
    });
    const rows = await store.read(sql =>
      sql.all<{ name: string }>("select name from counters where name like 'order %' order by name"),
    );
    expect(rows.map(({ name }) => name.slice(6))).toEqual(['B', 'Z', '_', 'a', 'b', 'ä']);
  });

  it('gives whole numbers as numbers, also sums and counts, and refuses those that are too large', async () => {
    await store.write(sql => add(sql, 'large', Number.MAX_SAFE_INTEGER));
    const one = await store.read(sql =>
      sql.get("select value, count(*) as n, sum(value) as total from counters where name = 'large' group by value"),
    );
    expect(one).toEqual({ value: Number.MAX_SAFE_INTEGER, n: 1, total: Number.MAX_SAFE_INTEGER });
    await store.write(sql => add(sql, 'large'));
    await expect(count('large')).rejects.toThrow('column value holds 9007199254740992');
  });

  it('refuses values that another engine would change, and answers of types that it has not', async () => {
    for (const value of ['a\0b', '\ud800', 1.5, true, undefined]) {
      await expect(store.write(sql => add(sql, value as never))).rejects.toThrow(TypeError);
    }
    await expect(store.read(sql => sql.get('select true as flag'))).rejects.toThrow(
      'column flag is of the unknown type',
    );
    await expect(store.read(sql => sql.get('select ? as one', 1, 2))).rejects.toThrow('asks for 1 values and got 2');
  });

  it('undoes one work alone, whatever failed in it', async () => {
    const works = [
      store.write(sql => add(sql, 'one'), 'repeatable'),
      store.write(async sql => {
        await add(sql, 'two');
        throw new Error('not wanted');
      }, 'repeatable'),
      store.write(async sql => {
        await add(sql, 'three');
        await sql.run("insert into counters (account_id, name, value) values ('acct_1', 'three', 1)");
      }, 'repeatable'),
      store.write(sql => add(sql, 'four'), 'repeatable'),
    ];
    const ends = await Promise.allSettled(works);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(await Promise.all(['one', 'two', 'three', 'four'].map(count))).toEqual([1, undefined, undefined, 1]);
    expect(ends[2]).toMatchObject({ reason: { name: 'StatementRefused', code: '23505' } });
  });

  it('tells of a row that failed after nobody waited for it, and lets its neighbours go', async () => {
    const tail: Tail = { table: 'counters', columns: ['account_id', 'name', 'value'] };
    const twice = store.write(async sql => {
      await sql.append(tail, 'acct_1', 'five', 1);
      await sql.append(tail, 'acct_1', 'five', 1);
    }, 'repeatable');
    const beside = store.write(sql => add(sql, 'six'), 'repeatable');
    await expect(twice).rejects.toMatchObject({ code: '23505' });
    await beside;
    expect([await count('five'), await count('six')]).toEqual([undefined, 1]);
  });

  it('goes back to a savepoint after a statement that failed', async () => {
    await store.write(async sql => {
      await sql.run('savepoint effect');
      await add(sql, 'seven');
      await expect(sql.run('select nothing from nowhere')).rejects.toMatchObject({ code: '42P01' });
      await sql.run('rollback to effect');
      await sql.run('release effect');
      await add(sql, 'eight');
    });
    expect([await count('seven'), await count('eight')]).toEqual([undefined, 1]);
  });

  it('reads one moment, and writes nothing there', async () => {
    await store.write(sql => add(sql, 'nine'));
    const seen = await store.read(async sql => {
      const before = await sql.get("select value from counters where name = 'nine'");
      await store.write(other => add(other, 'nine'));
      return [before, await sql.get("select value from counters where name = 'nine'")];
    });
    expect(seen).toEqual([{ value: 1 }, { value: 1 }]);
    expect(await count('nine')).toBe(2);
    await expect(store.read(sql => add(sql, 'ten'))).rejects.toThrow('a reading transaction cannot write');
  });

  it('remembers within a transaction alone', async () => {
    const text = "select value from counters where name = 'eleven'";
    await store.write(sql => add(sql, 'eleven'));
    await store.write(async sql => {
      const first = await sql.known(text);
      expect(await sql.known(text)).toBe(first);
      await add(sql, 'eleven');
      expect(await sql.known(text)).toEqual({ value: 2 });
    });
    expect(await store.read(sql => sql.known(text))).toEqual({ value: 2 });
  });

  it('is over with its work', async () => {
    let kept: Sql | undefined;
    await store.write(async sql => {
      kept = sql;
    });
    await expect(kept?.get('select 1 as one')).rejects.toThrow('is over');
  });

  it('refuses works that wait too long behind a large one of the same process', async () => {
    const { store: own } = await openAccount(
      {
        ...{ path: 'memory', tables: [], seed: 1, ids: 'derived', fill: async () => undefined, random: idSource },
        ...{ clock: skippingClock(), platform: 'linux' },
      },
      'acct_1',
    );
    let end = () => undefined as unknown;
    let large: Promise<void> = Promise.resolve();
    await new Promise<void>(begun => {
      const work = () => {
        begun();
        return new Promise<void>(resolve => {
          end = () => resolve();
        });
      };
      large = own.write(work, 'large');
    });
    const waits = own.write(sql => add(sql, 'late'));
    await expect(waits).rejects.toMatchObject({ name: 'StoreBusy', message: expect.stringContaining('large change') });
    expect(await own.read(sql => sql.get('select 1 as one'))).toEqual({ one: 1 });
    end();
    await large;
    await own.write(sql => add(sql, 'late'));
    await own.close();
  });

  it('plans statements of a large work for tables that grow, and those of others as ever', async () => {
    const settings = ['enable_seqscan', 'enable_nestloop', 'jit'].map(name => `current_setting('${name}') as ${name}`);
    const asked = (sql: Sql) => sql.get(`select ${settings.join(', ')}`);
    const before = await store.write(asked);
    const forMany = { enable_seqscan: 'off', enable_nestloop: 'off', jit: 'off' };
    expect(await store.write(asked, 'large')).toEqual(forMany);
    expect(await store.write(asked)).toEqual(before);
    expect(await store.read(asked, 'large')).toEqual(forMany);
    expect(await store.read(asked)).toEqual(before);
    expect(before).toMatchObject({ enable_seqscan: 'on', enable_nestloop: 'on' });
  });

  it('lets no other read wait for a large one', async () => {
    let end = () => {};
    const ended = new Promise<void>(resolve => {
      end = resolve;
    });
    const large = store.read(async sql => {
      await ended;
      return sql.get('select 1 as one');
    }, 'large');
    expect(await store.read(sql => sql.get('select 2 as two'))).toEqual({ two: 2 });
    end();
    expect(await large).toEqual({ one: 1 });
  });

  it('lets one writer in at a time', async () => {
    const order: string[] = [];
    const slow = store.write(async sql => {
      await add(sql, 'twelve');
      for (let at = 0; at < 20; at += 1) await turn();
      order.push('slow');
    });
    await turn();
    const next = store.write(async sql => {
      await add(sql, 'twelve');
      order.push('next');
    });
    await Promise.all([slow, next]);
    expect(order).toEqual(['slow', 'next']);
  });
});

it('sends nothing but its end into a transaction that failed', async () => {
  const texts: string[] = [];
  const connection = {
    alive: true,
    send: async (text: string) => {
      texts.push(text);
      if (text.startsWith('update nowhere')) throw new PostgresRefusal('42P01', 'there is no such table');
      return { columns: [], rows: [], count: 0, command: '' };
    },
    end: async () => undefined,
  };
  const transaction = new Transaction({ connection, access: 'write', mayPrepare: false });
  const { sql } = transaction.open();
  await expect(sql.run('update nowhere set value = 1')).rejects.toMatchObject({ code: '42P01' });
  await expect(sql.get('select value from counters')).rejects.toMatchObject({ code: '42P01' });
  await expect(sql.run('update counters set value = 1')).rejects.toMatchObject({ code: '42P01' });
  await sql.run('rollback to effect');
  await sql.run('release effect');
  await transaction.send('commit');
  expect(texts).toEqual(['update nowhere set value = 1', 'rollback to effect', 'release effect', 'commit']);
});

it('numbers the places of values, but for question marks in quotes', () => {
  expect(numbered("select ? || '?' where a = ? and b in ('x?', ?)")).toBe(
    "select $1 || '?' where a = $2 and b in ('x?', $3)",
  );
});

it('makes tables of its types', () => {
  const create =
    'create table t (\n    a text not null,\n    b integer check (b in (0, 1)),\n    primary key (a)\n  ) strict, without rowid';
  expect(withTypes(create)).toBe(
    'create table t (\n    a text collate "C" not null,\n    b bigint check (b in (0, 1)),\n    primary key (a)\n  )',
  );
  expect(withTypes('alter table t add column sign text')).toBe('alter table t add column sign text collate "C"');
});
