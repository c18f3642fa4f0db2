import { expect, it } from 'vitest';
import { connectTo } from '../../src/engine/open.ts';
import { MovingService } from './moving-service.ts';
import { syncing } from './syncing.ts';

const ROW = { row: 1, operation: 'cards.fund', card_id: 'card_1', cents: 500, at_ms: 1 } as const;

/** What the first two schemas had otherwise. */
const SECOND_SCHEMA = [
  'drop table folded',
  'drop index record_by_authorization',
  'drop index record_gone',
  'drop index record_of_unknown_type',
  'drop index record_in_other_currency',
  'drop index record_pending',
  `create index record_pending on record (at_ms) where type = 'authorization' and status = 'pending'`,
  'pragma user_version = 2',
];

/** The tables of the first schema where they were other ones. */
const FIRST_SCHEMA = [
  ...SECOND_SCHEMA,
  'drop view moves',
  'drop table move',
  `create table move (op text not null, row integer not null, operation text not null, card_id text,
    cents integer not null, outcome text not null, at_ms integer not null, primary key (op, row)) without rowid`,
  `insert into move values ('op_1', 1, 'cards.fund', 'card_1', 500, 'done', 1),
    ('op_2', 1, 'cards.fund', 'card_1', 500, 'unknown', 1)`,
  'create view moves as select op, row, operation, card_id, cents, outcome, at_ms from move',
  'pragma user_version = 1',
];

it('brings a copy of an older program up to date, with all it knows', async () => {
  const service = new MovingService(3);
  service.live(40, 3_600_000);
  service.moves = false;
  const rows = [{ ...ROW, op: 'op_2', cents: 500 as never, outcome: 'done' as const }];
  await using world = await syncing(service, {
    ownOperations: async () => [
      { op: 'op_2', last_at: '2026-11-01T00:00:00Z', rows: async () => ({ isMine: true, isHere: true, rows }) },
    ],
  });
  await world.mirror.sync();
  const older = connectTo(world.mirror.path);
  for (const statement of FIRST_SCHEMA) older.exec(statement);
  older.exec('delete from copied_op');
  older.close();
  // Who only reads need not wait for a sync.
  expect(await world.held()).toEqual(service.truth());
  expect(await world.mirror.sync()).toMatchObject({ transactions: { new: 0, gone: 0 } });
  using copy = await world.mirror.read();
  expect(copy.db.all('select op, outcome, first_sync, done_sync from move order by op')).toEqual([
    { op: 'op_1', outcome: 'done', first_sync: 0, done_sync: 0 },
    { op: 'op_2', outcome: 'done', first_sync: 0, done_sync: 2 },
  ]);
});

it('brings a copy of the second schema up to date, and its indexes are those of a new one', async () => {
  const service = new MovingService(5);
  service.live(40, 3_600_000);
  service.moves = false;
  await using world = await syncing(service);
  await world.mirror.sync();
  const indexes = () => {
    const opened = connectTo(world.mirror.path);
    const rows = opened.prepare("select name, sql from sqlite_master where type in ('index', 'table') order by name");
    const found = rows.all().map(row => JSON.stringify(row));
    opened.close();
    return found;
  };
  const made = indexes();
  const older = connectTo(world.mirror.path);
  for (const statement of SECOND_SCHEMA) older.exec(statement);
  older.close();
  expect(indexes()).not.toEqual(made);
  await world.mirror.sync();
  expect(indexes()).toEqual(made);
  expect(await world.held()).toEqual(service.truth());
});
