/** Copies of ops that other processes of this machine work on while they are looked at. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { JournalRecord } from '../../src/journal/wal/records.ts';
import type { JournalDisk } from '../../src/journal/wal/storage.ts';
import { bringNotes } from '../../src/team/kept-notes.ts';
import type { SharedOps } from '../../src/team/shared-ops.ts';
import { pushSpool } from '../../src/team/spool.ts';
import { linesOf, sent } from './test-account.ts';

const [OP, BY] = ['op_00000000000000000000000001', '97c7d7d0'];

/** A spool whose one copy is ended by its process once it is listed: it is not there when the lock is had. */
function endedMeanwhile(): SharedOps {
  const bytes = linesOf(BY, { t: 'RUN', pid: 1, start: '1', boot: 'b', at: 1 }, sent(1));
  const disk: Partial<JournalDisk> = {
    names: async () => [`${OP}.${BY}`],
    hold: async () => async () => undefined,
    open: async () => undefined,
  };
  const statements = { readOp: async () => [{ n: 1, bytes }] };
  const shared = { disk, statements: () => statements, spoolFolder: async () => '/spool', account: 'main' };
  return shared as unknown as SharedOps;
}

it('a copy that is ended after it was listed is nobody’s, and no damage', async () => {
  expect(await pushSpool(endedMeanwhile())).toEqual({
    brought: [],
    missing: [],
    leftOut: [],
    restored: [],
    clashes: [],
  });
});

/** One copy, what the database has of its op, and what was kept of it before. */
function taken(kept: Uint8Array, there: readonly Uint8Array[], keptBefore: Uint8Array = new Uint8Array()) {
  const moved: string[] = [];
  const removed: string[] = [];
  const replaced: string[] = [];
  const disk = {
    names: async () => [`${OP}.${BY}`],
    hold: async () => async () => undefined,
    open: async (path: string) => ({
      readAll: async () => (path.includes('/kept/') ? keptBefore : kept),
      close: async () => undefined,
    }),
    replace: async (_path: string, text: string) => void replaced.push(text),
    prepareFolder: async () => undefined,
    read: async () => undefined,
    rename: async (_from: string, to: string) => void moved.push(to),
    remove: async (path: string) => void removed.push(path),
  };
  const statements = {
    readOp: async () => there.map((bytes, index) => ({ n: index + 1, bytes })),
    heads: async () => [{ holder: 'ben', host: 'desk', epoch: 2 }],
  };
  const clock = { now: () => Date.parse('2026-11-20T14:00:00Z') };
  const parts = { disk, clock, role: 'ana', statements: () => statements, spoolFolder: async () => '/spool' };
  return { moved, removed, replaced, shared: { ...parts, account: 'main', host: 'laptop' } as unknown as SharedOps };
}

it('what was not brought of an op in other hands is told, and its copy is kept', async () => {
  const before: JournalRecord[] = [{ t: 'RUN', pid: 1, start: '1', boot: 'b', at: 1 }, sent(1)];
  const doubt: JournalRecord = { t: 'AMBIG', row: 1, reason: 'lost', at: 2 };
  const there = [linesOf(BY, ...before), linesOf('0b0b0b0b', { t: 'RUN', pid: 2, start: '2', boot: 'c', at: 3 })];
  const { moved, removed, shared } = taken(linesOf(BY, ...before, doubt), there);
  expect(await pushSpool(shared)).toEqual({
    brought: [],
    missing: [],
    leftOut: [{ op: OP, records: 1, holder: 'ben', host: 'desk' }],
    restored: [],
    clashes: [],
  });
  expect([moved, removed]).toEqual([
    [`/spool/kept/2026-11-20/${OP}.open`],
    [`/spool/kept/2026-11-20/${OP}.open.confirmed`],
  ]);
});

it('a copy that the database has whole is kept without a word, for the database may lose it', async () => {
  const bytes = linesOf(BY, { t: 'RUN', pid: 1, start: '1', boot: 'b', at: 1 }, sent(1));
  const { moved, removed, replaced, shared } = taken(bytes, [bytes]);
  expect(await pushSpool(shared)).toEqual({ brought: [], missing: [], leftOut: [], restored: [], clashes: [] });
  expect([moved, removed, replaced]).toEqual([
    [`/spool/kept/2026-11-20/${OP}.open`],
    [`/spool/kept/2026-11-20/${OP}.open.confirmed`],
    [],
  ]);
});

it('a copy that lacks what was claimed with it is kept as the database has it', async () => {
  const run: JournalRecord = { t: 'RUN', pid: 1, start: '1', boot: 'b', at: 1 };
  const { moved, removed, replaced, shared } = taken(linesOf(BY, run), [linesOf(BY, run, sent(1))]);
  expect(await pushSpool(shared)).toEqual({ brought: [], missing: [], leftOut: [], restored: [], clashes: [] });
  expect([moved, removed]).toEqual([
    [`/spool/kept/2026-11-20/${OP}.open`],
    [`/spool/kept/2026-11-20/${OP}.open.confirmed`],
  ]);
  expect(replaced).toEqual([Buffer.from(linesOf(BY, run, sent(1))).toString()]);
});

it('a copy that was left keeps its place behind a longer one of its op', async () => {
  const run: JournalRecord = { t: 'RUN', pid: 1, start: '1', boot: 'b', at: 1 };
  const longer = linesOf(BY, run, sent(1), { t: 'AMBIG', row: 1, reason: 'lost', at: 2 });
  const { moved, removed, shared } = taken(linesOf(BY, run, sent(1)), [linesOf(BY, run, sent(1))], longer);
  expect(await pushSpool(shared)).toEqual({ brought: [], missing: [], leftOut: [], restored: [], clashes: [] });
  expect([moved, removed]).toEqual([[], [`/spool/${OP}.${BY}`, `/spool/${OP}.${BY}.confirmed`]]);
});

it('a damaged note is put aside with a word, and the others are brought', async () => {
  const folder = '/state/team/notes/main';
  const service = { origin: 'https://api.example.com', mode: 'test' } as const;
  const name = (digit: string) => `${digit.repeat(32)}.json`;
  const files = new Map([
    [join(folder, name('a')), '{"event":"wri'],
    [join(folder, name('b')), JSON.stringify({ ...service, event: 'write' })],
  ]);
  const disk: Partial<JournalDisk> = {
    names: async () => [name('a'), name('b')],
    read: async path => files.get(path),
    rename: async (from, to) => {
      files.set(to, files.get(from) ?? '');
      files.delete(from);
    },
    remove: async path => void files.delete(path),
  };
  const noted: unknown[] = [];
  const statements = { note: async (_call: unknown, facts: unknown) => noted.push(facts) };
  const head = { known: () => undefined, learn: () => undefined };
  const shared = { disk, statements: () => statements, account: 'main', host: 'laptop', head } as unknown as SharedOps;
  const aside = join(folder, `${name('a')}.damaged`);
  expect(await bringNotes(shared, '/state', service)).toEqual({ brought: 1, waiting: 0, damaged: [aside] });
  expect([noted.length, [...files.keys()]]).toEqual([1, [aside]]);
});
