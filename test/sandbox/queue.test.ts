import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Connection } from '../../src/engine/connection.ts';
import { connectTo } from '../../src/engine/open.ts';
import { QueuedStore, type Store } from '../../src/sandbox/store/queue.ts';
import { type Sql, StoreBroken, StoreBusy } from '../../src/sandbox/store/sql.ts';
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
  const failing = (sql: Sql) => {
    insert('b')(sql);
    throw new Error('changed my mind');
  };
  const results = await Promise.allSettled([store.write(insert('a')), store.write(failing), store.write(insert('c'))]);
  expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await rows(store)).toEqual(['a', 'c']);
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
  await expect(store.read(() => 1)).rejects.toThrow(StoreBroken);
  expect(told).toHaveLength(1);
});

it('sees what another process wrote, although it remembers what it read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-queue-'));
  const path = join(folder, 'store.db');
  const [own, other] = [connectTo(path), connectTo(path)];
  own.exec('pragma journal_mode = wal; create table t (a text not null primary key) strict');
  const store = new QueuedStore({ connection: own, path, clock: setClock(0), random: idSource });
  const count = (sql: Sql) => sql.known<{ n: number }>('select count(*) as n from t')[0]?.n;
  expect(await store.read(count)).toBe(0);
  other.exec("insert into t (a) values ('theirs')");
  expect(await store.read(count)).toBe(1);
  other.exec("insert into t (a) values ('theirs too')");
  expect(await store.write(count)).toBe(2);
  other.close();
  await store.close();
  await rm(folder, { recursive: true });
});
