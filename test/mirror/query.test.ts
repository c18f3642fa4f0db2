/** SQL that somebody may hand to `books query`, with what comes of it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openForReading } from '../../src/mirror/file.ts';
import { type Line, notOneStatement, queryCopy, runQuery } from '../../src/mirror/query.ts';
import { isWhole } from '../support/whole.ts';
import { MovingService } from './moving-service.ts';
import { syncing } from './syncing.ts';

/** Refused before a row is read, or on the way. */
const REFUSED: readonly string[] = [
  '',
  ';;',
  '-- nothing',
  '/* nothing',
  'select 1; select 2',
  'select 1;; delete from record',
  "select 1; attach 'other.sqlite' as other",
  "select ';' ; vacuum",
  'select 1 /* ; */ ; select 2',
  'selec 1',
  'select * from nothing',
  'select * from facts',
  'select value from FACTS',
  'with tx as (select value from facts) select * from tx',
  'select (select value from facts limit 1)',
  'select * from copied_op',
  'insert into record (tx_id) values (1)',
  "insert into facts values ('origin', 'x')",
  'insert into cards (card_id) values (1)',
  'update record set cents = 0',
  "update card set label = 'x' returning label",
  'delete from record',
  'delete from record returning *',
  'replace into facts values (1, 2)',
  'with x as (select 1) delete from record',
  'create table t (a)',
  'create temp table t (a)',
  'create view v as select 1',
  'create temp view v as select 1',
  'create trigger t after insert on record begin select 1; end',
  'create index i on record (cents)',
  'create virtual table t using fts5 (a)',
  'drop table record',
  'drop view tx',
  'alter table record rename to r',
  'alter table record add column x',
  "attach ':memory:' as other",
  "attach 'file:other?mode=rwc' as other",
  'detach main',
  'vacuum',
  "vacuum into 'copy.sqlite'",
  'reindex',
  'analyze',
  'begin',
  'begin immediate',
  'commit',
  'rollback',
  'savepoint s',
  'release s',
  'pragma query_only = off',
  'pragma journal_mode = delete',
  'pragma writable_schema = on',
  'pragma trusted_schema = on',
  'pragma hard_heap_limit = 0',
  'pragma database_list',
  'select * from pragma_database_list',
  "select load_extension('x')",
  'select randomblob(1000000)',
  'select zeroblob(1000000)',
  'select fts5_source_id()',
  "insert into card_words (card_words) values ('rebuild')",
  "select char(0) || '\0'",
];

/** Would be very long: refused, or answered in less than 2 MB. */
const LONG: readonly string[] = [
  "select printf('%.1000000000c', 'x')",
  "select replace(hex(printf('%.400000c', 'x')), '7', hex(printf('%.400000c', 'y')))",
  "with recursive s(t) as (select 'x' union all select t || t from s) select max(length(t)) from s",
];

/** Answered, as anything else that reads. */
const ANSWERED: readonly string[] = [
  'select 1',
  'SELECT count(*) FROM tx;  -- the end ;',
  'select \';\' as a, "merchant" from tx limit 1;',
  'values (1), (2)',
  'explain query plan select * from tx',
  'pragma table_info(tx)',
  'with recursive n(i) as (select 1 union all select i + 1 from n where i < 10) select sum(i) from n',
  "select json_extract(metadata, '$.team') from cards",
  'select status, count(*) over (partition by status) from cards',
];

/** Never come to an end by themselves. */
const ENDLESS: readonly string[] = [
  'with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n',
  'select count(*) from tx a, tx b, tx c, tx d, tx e, tx f',
  "select 'a' like printf('%.40000c', '%') || 'b' from tx, tx, tx, tx, tx, tx",
  'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n order by i desc',
];

const PROGRAM = [process.execPath, join(import.meta.dirname, '..', '..', 'bin', 'cardwright.js'), '__query'] as const;

async function copied() {
  const service = new MovingService(8);
  service.live(200, 3_600_000);
  service.moves = false;
  const world = await syncing(service);
  await world.mirror.sync();
  const { path } = world.mirror;
  /** Every byte beside the copy: its log too, and files that should not be there. */
  const bytes = () => {
    const names = readdirSync(dirname(path)).filter(name => !name.endsWith('-shm'));
    const all = names.map(
      name =>
        `${name} ${createHash('sha256')
          .update(readFileSync(join(dirname(path), name)))
          .digest('hex')}`,
    );
    return all.filter(line => !line.endsWith('-wal e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'));
  };
  const asked = async (sql: string) => {
    const lines: Line[] = [];
    await runQuery({ path, sql }, async line => void lines.push(line));
    return lines;
  };
  return { world, path, bytes, asked };
}

it('refuses what would write, and changes no byte whatever it is asked', async () => {
  const { world, bytes, asked } = await copied();
  await using _world = world;
  const before = bytes();
  for (const sql of REFUSED) {
    const last = (await asked(sql)).at(-1);
    expect({ sql, refused: last !== undefined && 'refused' in last }).toEqual({ sql, refused: true });
  }
  for (const sql of LONG) expect(JSON.stringify(await asked(sql)).length).toBeLessThan(2_100_000);
  for (const sql of ANSWERED) expect({ sql, last: (await asked(sql)).at(-1) }).toEqual({ sql, last: { end: true } });
  expect(bytes().filter(line => !line.includes('-wal '))).toEqual(before.filter(line => !line.includes('-wal ')));
  expect(REFUSED.length + LONG.length).toBeGreaterThanOrEqual(60);
});

it('ends what goes on for too long, with 8, and keeps keys out of its process', async () => {
  const { world, path } = await copied();
  await using _world = world;
  const parts = { program: PROGRAM, env: { PATH: process.env['PATH'] }, signal: new AbortController().signal };
  await expect(queryAll(ENDLESS[0] ?? '', 400)).rejects.toMatchObject({ kind: 'wait_expired' });
  expect(await queryAll('select count(*) as n from cards', 20_000)).toEqual([{ n: expect.any(Number) }]);

  async function queryAll(sql: string, ms: number) {
    const { batches } = await queryCopy({ path, sql }, ms, parts);
    const rows: unknown[] = [];
    for await (const batch of batches) rows.push(...batch);
    return rows;
  }
});

it('takes one statement for one, whatever stands in its texts and comments', () => {
  const quoted = fc.string().map(text => text.replaceAll('\0', ''));
  const piece = fc.oneof(
    quoted.map(text => `'${text.replaceAll("'", "''")}'`),
    quoted.map(text => `"${text.replaceAll('"', '""')}"`),
    quoted.map(text => `/*${text.replaceAll('*/', '')} */`),
    quoted.map(text => `--${text.replaceAll('\n', '')}\n`),
    fc.constantFrom(' 1 ', ' a ', '+', '\n'),
  );
  fc.assert(
    fc.property(fc.array(piece), pieces => {
      const one = `select ${pieces.join('')}`;
      expect(notOneStatement(one)).toBeUndefined();
      expect(notOneStatement(`${one} ; -- end\n ;`)).toBeUndefined();
      expect(notOneStatement(`${one} ; select 2`)).toMatch(/one statement at a time/);
    }),
  );
});

it.runIf(isWhole)(
  'ends every endless statement at its time',
  async () => {
    const service = new MovingService(9);
    service.live(400, 3_600_000);
    service.moves = false;
    await using world = await syncing(service);
    await world.mirror.sync();
    const parts = { program: PROGRAM, env: { PATH: process.env['PATH'] }, signal: new AbortController().signal };
    for (const sql of ENDLESS) {
      const began = performance.now();
      const asked = queryCopy({ path: world.mirror.path, sql }, 5_000, parts).then(async ({ batches }) => {
        for await (const _rows of batches);
      });
      await expect(asked, sql).rejects.toMatchObject({ kind: expect.stringMatching(/^(?:wait_expired|usage)$/) });
      expect(performance.now() - began).toBeLessThan(10_000);
    }
  },
  120_000,
);

it('walks on through rows whatever the collector takes meanwhile', async () => {
  const { world, path } = await copied();
  await using _world = world;
  using db = openForReading({ path });
  const records = db?.count('record') ?? 0;
  const rows = db?.each('select tx_id from record order by card_id') ?? [][Symbol.iterator]();
  expect(rows.next().done).toBe(false);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 5; turn += 1) {
    collect();
    // The engine finalizes between two turns.
    await setImmediate();
  }
  expect([...rows]).toHaveLength(records - 1);
});
