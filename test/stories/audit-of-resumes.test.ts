/** What the audit log says of rows that were done before, and by whom: a resume does not claim them. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StoredRecord } from '../../src/journal/wal/records.ts';
import { historyOf, outcomeRecordOf } from '../../src/journal/wal/replay.ts';
import type { Clock } from '../../src/platform/host.ts';
import { scriptedWorld } from '../support/scripted-world.ts';
import { WORLD_TIME, type World, world } from '../support/world.ts';

interface Line {
  readonly seq: number;
  readonly at: string;
  readonly pid: number;
  readonly event: string;
  readonly outcome?: string;
  readonly op?: string;
  readonly row?: number;
  readonly card_id?: string;
  readonly recorded_at?: string;
  readonly recorded_by?: number;
}

const fileOf = (here: World) => join(here.folder, 'state', 'audit.jsonl');
const lines = async (here: World) => (JSON.parse((await here.run('audit list --json')).out) as { data: Line[] }).data;

/** An hour after everything else of the world. */
const LATER = '2026-11-20T15:03:11.000Z';
const later: Clock = {
  now: () => Date.parse(LATER),
  monotonic: () => performance.now(),
  sleep: async () => undefined,
};

/** The log as it was when the process was killed behind its line `last`. */
async function cutBehind(here: World, last: number): Promise<void> {
  const kept = (await readFile(fileOf(here), 'utf8')).split('\n').slice(0, last);
  await writeFile(fileOf(here), `${kept.join('\n')}\n`);
  const { hash } = JSON.parse(kept.at(-1) ?? '') as { hash: string };
  await writeFile(join(here.folder, 'state', 'audit.head'), `${String(last).padStart(12, '0')} ${hash}\n`);
}

test('a resume of what is finished and recorded adds no line, of a single write and of a file', async () => {
  await using here = await world({ wallet: 50 });
  await here.run('cards create --bin bin_1 --amount 5');
  await here.run('cards fund card_1 --amount 500');
  await writeFile(join(here.folder, 'fund.csv'), 'card_id,amount\ncard_1,2\ncard_1,3\n');
  expect((await here.run('cards fund --file fund.csv --yes')).code).toBe(0);
  const before = await lines(here);
  const ops = [...new Set(before.flatMap(({ op }) => op ?? []))];
  expect(ops.length, 'each outcome names its operation').toBe(3);
  for (const op of ops) for (const _ of [1, 2]) await here.run(`ops resume ${op} --yes`);
  expect(await lines(here)).toEqual(before);
});

test('rows done before a kill keep their own time and process; the resume says that it only wrote them down', async () => {
  await using here = await world({ wallet: 50 });
  await writeFile(join(here.folder, 'more.csv'), 'bin_id,amount\nbin_1,1\nbin_1,1\n');
  await here.run('cards create --file more.csv --yes --concurrency 1');
  const run = (await lines(here)).find(({ event }) => event === 'run') as Line;
  // Another process wrote the rows: the journal names it.
  await cutBehind(here, run.seq);
  for (const _ of [1, 2]) expect((await here.run(`ops resume ${run.op} --yes`, { clock: later })).code).toBe(0);
  const added = (await lines(here)).slice(run.seq);
  expect(added.map(({ event, row, card_id, outcome }) => [event, row, card_id, outcome])).toEqual([
    ['outcome', 1, 'card_1', 'done'],
    ['outcome', 2, 'card_2', 'done'],
  ]);
  const done = new Date(WORLD_TIME).toISOString();
  for (const { at, pid, recorded_at, recorded_by } of added) {
    expect({ at, pid, recorded_at, recorded_by }).toEqual({
      at: done,
      pid: process.pid,
      recorded_at: LATER,
      recorded_by: process.pid,
    });
  }
  expect((await here.run('audit verify')).code).toBe(0);
});

test('a row belongs to the process that wrote its outcome, and to none where a person decided it', () => {
  const item = (row: number) => ({ t: 'ITEM', row, attempt: 1, operation: 'cards.freeze', input: {} });
  const run = (pid: number) => ({ t: 'RUN', pid, start: '', boot: '', at: 0 });
  const records: [string, object][] = [
    ['a', { t: 'PLAN', version: 1, at: 0 }],
    ['a', item(1)],
    ['a', item(2)],
    ['a', item(3)],
    ['a', { t: 'PLANNED' }],
    ['a', run(10)],
    ['a', { t: 'DONE', row: 1, via: 'answer', changed: true, at: 5 }],
    ['b', run(20)],
    ['b', { t: 'FAILED', row: 2, kind: 'refused', message: '', at: 6 }],
    ['b', { t: 'RESOLVED', row: 3, as: 'done', note: '', who: '', at: 7 }],
  ];
  const history = historyOf(records.map(([by, record]) => ({ by, record }) as unknown as StoredRecord));
  const decided = [...(history?.rows.values() ?? [])].map(row => [row.decidedBy, outcomeRecordOf(row)?.at]);
  expect(decided).toEqual([
    [10, 5],
    [20, 6],
    [undefined, undefined],
  ]);
});

test('a row that was recorded as unknown and is done now gets a line of what became of it', async () => {
  await using s = await scriptedWorld({ keys: 'honoured' });
  s.service.script = write => {
    write.execute();
    return { status: 500, body: {} };
  };
  const { code, error } = await s.run('cards fund card_old --amount 25');
  expect(code).toBe(11);
  s.service.script = write => write.execute();
  const about = async () =>
    (await lines(s.here))
      .filter(({ event, op }) => event === 'outcome' && op === error['op'])
      .map(({ row, outcome, recorded_by }) => [row, outcome, recorded_by !== undefined]);
  const unknown = (await lines(s.here)).at(-1) as Line;
  for (const _ of [1, 2]) expect((await s.run(`ops resume ${error['op']} --yes`)).code).toBe(0);
  expect(await about()).toEqual([
    [undefined, 'unknown', false],
    [1, 'done', false],
    [undefined, 'done', false],
  ]);
  // Killed when the row was done and before its line was written.
  await cutBehind(s.here, unknown.seq);
  for (const _ of [1, 2]) expect((await s.run(`ops resume ${error['op']} --yes`)).code).toBe(0);
  expect(await about()).toEqual([
    [undefined, 'unknown', false],
    [1, 'done', true],
  ]);
});
