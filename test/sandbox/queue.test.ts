import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Connection } from '../../src/engine/connection.ts';
import { closeConnection, connectTo } from '../../src/engine/open.ts';
import { QueuedStore } from '../../src/sandbox/store/queue.ts';
import { type Sql, type Store, StoreBroken, StoreBusy } from '../../src/sandbox/store/sql.ts';
import { idSource, setClock } from '../support/sandbox-http.ts';

interface Wishes {
  /** Throws to let a statement of the queue itself fail. */
  readonly before?: (statement: string) => void;
  readonly patience?: number;
  readonly onBroken?: (error: StoreBroken) => void;
}

/** A queue on a memory database, with a list of what it executed between the works. */
function openQueue({ before = () => undefined, ...rest }: Wishes = {}) {
  const real = connectTo('memory');
  real.exec('create table t (a text not null primary key) strict');
  const executed: string[] = [];
  const connection: Connection = {
    exec: statement => {
      executed.push(statement);
      before(statement);
      real.exec(statement);
    },
    prepare: statement => real.prepare(statement),
    get isTransaction() {
      return real.isTransaction;
    },
    close: () => real.close(),
  };
  const store = new QueuedStore({ connection, path: 'memory', clock: setClock(0), random: idSource, ...rest });
  return { store, executed, real };
}

const insert = (name: string) => (sql: Sql) => sql.run('insert into t (a) values (?)', name);
const engineError = (errcode: number) => Object.assign(new Error('of the engine'), { errcode });

async function rows(store: Store): Promise<string[]> {
  const all = await store.read(sql => sql.all<{ a: string }>('select a from t order by a'));
  return all.map(row => row.a);
}

it('undoes a failing write of a turn alone', async () => {
  const { store } = openQueue();
  const failing = async (sql: Sql) => {
    await insert('b')(sql);
    throw new Error('changed my mind');
  };
  const results = await Promise.allSettled([store.write(insert('a')), store.write(failing), store.write(insert('c'))]);
  expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await rows(store)).toEqual(['a', 'c']);
});

it('shares one transaction among the writes of a turn', async () => {
  const { store, executed } = openQueue();
  await Promise.all(['a', 'b', 'c'].map(name => store.write(insert(name))));
  expect(executed).toEqual(['begin immediate', 'commit']);
});

it('undoes alone a write whose statement failed', async () => {
  const { store } = openQueue();
  const twice = async (sql: Sql) => {
    await insert('b')(sql);
    await insert('a')(sql);
  };
  const results = await Promise.allSettled([store.write(insert('a')), store.write(twice), store.write(insert('c'))]);
  expect(results[1]).toMatchObject({ status: 'rejected', reason: { errcode: 1555 } });
  expect(await rows(store)).toEqual(['a', 'c']);
});

it('answers no write before its commit', async () => {
  let answered = false;
  const seen: boolean[] = [];
  const before = (statement: string) => void (statement === 'commit' && seen.push(answered));
  const { store } = openQueue({ before });
  await store.write(insert('a')).then(() => {
    answered = true;
  });
  expect(seen).toEqual([false]);
});

it('tries a busy store again until it gets the lock', async () => {
  let refusals = 3;
  const before = (statement: string) => {
    if (statement === 'begin immediate' && refusals-- > 0) throw engineError(5);
  };
  const { store, executed } = openQueue({ before });
  await store.write(insert('a'));
  expect(await rows(store)).toEqual(['a']);
  expect(executed.filter(statement => statement === 'begin immediate')).toHaveLength(4);
});

it('gives up a store that stays busy, with nothing written', async () => {
  const before = (statement: string) => {
    if (statement === 'begin immediate') throw engineError(5);
  };
  const { store } = openQueue({ before, patience: 30 });
  await expect(store.write(insert('a'))).rejects.toThrow(StoreBusy);
  expect(await rows(store)).toEqual([]);
});

it('does not try again what a statement of its own holds up', async () => {
  const before = (statement: string) => {
    if (statement === 'begin immediate') throw engineError(517);
  };
  const { store, executed } = openQueue({ before });
  await expect(store.write(insert('a'))).rejects.toMatchObject({ errcode: 517 });
  expect(executed.filter(statement => statement === 'begin immediate')).toHaveLength(1);
});

it('loses all writes of a transaction to a full disk, and none of them commits on its own', async () => {
  const { store, real } = openQueue();
  real.exec('pragma max_page_count = 3');
  const big = (sql: Sql) => insert('x'.repeat(50_000))(sql);
  const results = await Promise.allSettled([store.write(insert('a')), store.write(big), store.write(insert('c'))]);
  for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StoreBusy' } });
  expect(await rows(store)).toEqual([]);
  await store.write(insert('later'));
  expect(await rows(store)).toEqual(['later']);
});

it('takes a full disk at commit as nothing written', async () => {
  let full = true;
  const before = (statement: string) => {
    if (statement === 'commit' && full) throw engineError(13);
  };
  const { store } = openQueue({ before });
  await expect(store.write(insert('a'))).rejects.toThrow(StoreBusy);
  full = false;
  expect(await rows(store)).toEqual([]);
});

it('knows nothing after any other failed commit and takes no more work', async () => {
  const told: StoreBroken[] = [];
  const onBroken = (error: StoreBroken) => void told.push(error);
  const before = (statement: string) => {
    if (statement === 'commit') throw engineError(1034);
  };
  const { store } = openQueue({ before, onBroken });
  await expect(store.write(insert('a'))).rejects.toThrow(StoreBroken);
  await expect(store.write(insert('b'))).rejects.toThrow(StoreBroken);
  await expect(store.read(async () => 1)).rejects.toThrow(StoreBroken);
  expect(told).toHaveLength(1);
});

it('runs a large write alone, with files for what the engine remembers, and undoes all of it when it throws', async () => {
  const { store, executed } = openQueue();
  const failing = async (sql: Sql) => {
    await insert('b')(sql);
    throw new Error('changed my mind');
  };
  expect(await store.write(insert('d'), 'large')).toBe(1);
  const works = [store.write(insert('a')), store.write(failing, 'large'), store.write(insert('c'))];
  expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await rows(store)).toEqual(['a', 'c', 'd']);
  const alone = ['pragma temp_store = file', 'begin immediate', 'commit', 'pragma temp_store = memory'];
  expect(executed.slice(0, 4)).toEqual(alone);
  expect(executed.slice(-4)).toEqual(alone.with(2, 'rollback'));
});

it('loses a large write to a full disk or a failed commit like any other', async () => {
  let code: number | undefined;
  const before = (statement: string) => {
    if (statement === 'commit' && code !== undefined) throw engineError(code);
  };
  const { store, real } = openQueue({ before });
  real.exec('pragma max_page_count = 3');
  await expect(store.write(insert('x'.repeat(50_000)), 'large')).rejects.toThrow(StoreBusy);
  code = 13;
  await expect(store.write(insert('a'), 'large')).rejects.toThrow(StoreBusy);
  code = undefined;
  await store.write(insert('b'), 'large');
  expect(await rows(store)).toEqual(['b']);
  code = 1034;
  await expect(store.write(insert('c'), 'large')).rejects.toThrow(StoreBroken);
  await expect(store.write(insert('d'), 'large')).rejects.toThrow(StoreBroken);
});

it('finishes what is queued before it closes, and takes nothing after', async () => {
  const { store } = openQueue();
  const written = store.write(insert('a'));
  await store.close();
  expect(await written).toBe(1);
  await expect(store.read(async () => 1)).rejects.toThrow('closed');
});

it.each([
  ['busy', 5],
  ['full', 13],
])('leaves the log where it is when it closes and the disk is %s: nothing is lost, so nothing failed', (_, code) => {
  let closed = 0;
  const connection = {
    exec: () => {
      throw engineError(code);
    },
    close: () => {
      closed += 1;
    },
  };
  expect(() => closeConnection(connection, '/a/store.db')).not.toThrow();
  expect(closed).toBe(1);
});

it('remembers what was read until something is written, or until what it read is undone', async () => {
  const { store, real } = openQueue();
  const count = async (sql: Sql) => (await sql.known<{ n: number }>('select count(*) as n from t'))[0]?.n;
  expect(await store.read(count)).toBe(0);
  // On the same connection and past the queue, so that nothing tells of it.
  real.exec("insert into t (a) values ('hidden')");
  expect(await store.read(count)).toBe(0);
  await store.write(insert('a'));
  expect(await store.read(count)).toBe(2);
  const undone = store.write(async sql => {
    await insert('b')(sql);
    expect(await count(sql)).toBe(3);
    throw new Error('changed my mind');
  });
  await expect(undone).rejects.toThrow('changed my mind');
  expect(await store.read(count)).toBe(2);
});

it('sees what another process wrote, although it remembers what it read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-queue-'));
  const path = join(folder, 'store.db');
  const [own, other] = [connectTo(path), connectTo(path)];
  own.exec('pragma journal_mode = wal; create table t (a text not null primary key) strict');
  const store = new QueuedStore({ connection: own, path, clock: setClock(0), random: idSource });
  const count = async (sql: Sql) => (await sql.known<{ n: number }>('select count(*) as n from t'))[0]?.n;
  expect(await store.read(count)).toBe(0);
  other.exec("insert into t (a) values ('theirs')");
  expect(await store.read(count)).toBe(1);
  other.exec("insert into t (a) values ('theirs too')");
  expect(await store.write(count)).toBe(2);
  other.close();
  await store.close();
  await rm(folder, { recursive: true });
});

it('does works again, each in a transaction of its own, when one of them is to be undone', async () => {
  const { store, executed } = openQueue();
  const tries: string[] = [];
  const named = (name: string, fails: boolean) => async (sql: Sql) => {
    tries.push(name);
    await insert(name)(sql);
    if (fails) throw new Error('changed my mind');
    return name;
  };
  const works = ['a', 'b', 'c'].map(name => store.write(named(name, name === 'b')));
  const results = await Promise.allSettled(works);
  expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await rows(store)).toEqual(['a', 'c']);
  expect(tries).toEqual(['a', 'b', 'a', 'b', 'c']);
  const each = (end: string) => ['begin immediate', end];
  expect(executed).toEqual([...each('rollback'), ...each('commit'), ...each('rollback'), ...each('commit')]);
});

it('does nothing again for a work that wrote nothing before it threw', async () => {
  const { store, executed } = openQueue();
  const failing = async () => {
    throw new Error('changed my mind');
  };
  const works = [insert('a'), failing, insert('c')].map(work => store.write(work));
  const results = await Promise.allSettled(works);
  expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(executed).toEqual(['begin immediate', 'commit']);
});

/** Adds a row with the next number, which it resolves to. */
const append = (what: string) => (sql: Sql) => sql.insert('tail', { what });

function openTail() {
  const opened = openQueue();
  opened.real.exec(`create table tail (number integer primary key, what text not null
    check (what <> 'bad')) strict`);
  const found = () =>
    opened.real
      .prepare('select number, what from tail order by number')
      .all()
      .map(row => ({ ...row }));
  return { ...opened, found };
}

it('writes appended rows before whoever reads their table, and numbers them without a gap', async () => {
  const { store, found } = openTail();
  const counted = async (sql: Sql) => {
    await append('a')(sql);
    expect(await sql.known('select count(*) as n from tail')).toEqual([{ n: 1 }]);
    await append('b')(sql);
    expect(await sql.known('select count(*) as n from tail')).toEqual([{ n: 2 }]);
  };
  await store.write(counted);
  await store.write(sql => sql.run('delete from tail where number = 2'));
  const numbers = await Promise.all(['c', 'd', 'e'].map(what => store.write(append(what))));
  expect(numbers).toEqual([2, 3, 4]);
  expect(found()).toEqual([
    { number: 1, what: 'a' },
    { number: 2, what: 'c' },
    { number: 3, what: 'd' },
    { number: 4, what: 'e' },
  ]);
});

it('undoes alone a work whose appended row is refused', async () => {
  const { store, found } = openTail();
  const changing = async (sql: Sql) => {
    await append('x')(sql);
    throw new Error('changed my mind');
  };
  const works = [append('a'), append('bad'), changing, append('c')].map(work => store.write<unknown>(work));
  const results = await Promise.allSettled(works);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  expect(results[1]).toMatchObject({ reason: { errcode: 275 } });
  expect(found()).toEqual([
    { number: 1, what: 'a' },
    { number: 2, what: 'c' },
  ]);
});
