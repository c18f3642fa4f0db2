/** Journals on the file system as it may be: strange umasks, folders that take nothing, files of a newer build. */
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { decodeLines, encodeLines } from '../../src/journal/wal/codec.ts';
import type { PlanRecord } from '../../src/journal/wal/records.ts';
import { bench, createRow, planOf } from './bench.ts';

test.skipIf(process.platform === 'win32').each([0o000, 0o077, 0o377])('modes under umask %o', async umask => {
  await using b = await bench();
  const usual = process.umask(umask);
  try {
    await using run = await b.journal.begin(planOf([createRow(b.bin)]));
    const mode = async (...names: string[]) => (await stat(join(b.folder, 'ops', ...names))).mode & 0o777;
    expect([await mode(), await mode(run.op), await mode(run.op, 'journal')]).toEqual([0o700, 0o700, 0o600]);
    expect(await run.perform(1)).toMatchObject({ outcome: 'done' });
  } finally {
    process.umask(usual);
  }
});

test('a state folder that takes no files: 14, nothing sent', async () => {
  await using b = await bench();
  await writeFile(join(b.folder, 'ops'), 'a file in its place');
  await expect(b.journal.begin(planOf([createRow(b.bin)]))).rejects.toMatchObject({ exitCode: 14 });
  expect(b.proxy.posts()).toEqual([]);
});

test.skipIf(userInfo().uid === 0)('a state folder that is read-only: 14, nothing sent', async () => {
  await using b = await bench();
  await chmod(b.folder, 0o500);
  await expect(b.journal.begin(planOf([createRow(b.bin)]))).rejects.toMatchObject({ exitCode: 14 });
  await chmod(b.folder, 0o700);
  expect(b.proxy.posts()).toEqual([]);
});

test('a journal of a newer build: 15 for whoever needs it, and nothing is sent', async () => {
  await using b = await bench();
  const plan = planOf([createRow(b.bin)], { bulk: true });
  const run = await b.journal.begin(plan);
  await run[Symbol.asyncDispose]();
  const path = join(b.folder, 'ops', run.op, 'journal');
  const { written } = decodeLines(await readFile(path), run.op);
  const [{ by } = { by: '' }] = written;
  const newer = written.map(({ record }) =>
    record.t === 'PLAN' ? ({ ...record, version: 99 } as PlanRecord) : record,
  );
  await writeFile(path, encodeLines(by, 0, newer));
  const refused = { exitCode: 15, message: expect.stringContaining('newer cardwright (version 99); nothing was sent') };
  await expect(b.journal.resume(run.op)).rejects.toMatchObject(refused);
  await expect(b.journal.show(run.op)).rejects.toMatchObject(refused);
  await expect(b.journal.begin(plan)).rejects.toMatchObject({ exitCode: 15 });
  expect(await b.journal.list()).toMatchObject([{ op: run.op, state: 'newer', command: 'cards create', rows: 1 }]);
  expect(b.proxy.posts()).toEqual([]);
});
