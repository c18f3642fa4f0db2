/**
 * The checks of this folder, each against the journal as it is and against one with a piece taken out: no lock, no
 * fence, no sync. A check that finds nothing wrong with the broken one is worth nothing. (SENT written after the
 * send: test/crash/kill.test.ts. Naive policies: model.test.ts.)
 */
import { expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import type { JournalDisk, JournalFile } from '../../src/journal/wal/storage.ts';
import { bench, createRow, planOf } from './bench.ts';

type Mutant = (real: JournalDisk) => JournalDisk;

const whole: Mutant = real => real;
const lockless: Mutant = real => ({ ...real, hold: async () => async () => undefined });
/** Nobody else ever seems to have written. */
const fenceless: Mutant = real => withFiles(lockless(real), pretending);
const powerLoss: Mutant = real => withFiles(real, file => unsynced(file, true));
const syncless: Mutant = real => withFiles(real, file => unsynced(file, false));

test.each([
  { what: 'as it is', disk: whole, wrong: [] },
  { what: 'without a lock', disk: lockless, wrong: ['the second resume was let in'] },
])('of two resumes one is refused and sends nothing: $what', async ({ disk, wrong }) => {
  await using b = await bench({ stripKeys: true });
  const begun = await b.journal.begin(planOf([createRow(b.bin)]));
  await begun[Symbol.asyncDispose]();
  await using first = await b.another({ disk }).resume(begun.op);
  const second = await b
    .another({ disk })
    .resume(begun.op)
    .catch((thrown: unknown) => thrown);
  const found: string[] = [];
  if (!(second instanceof CliError)) {
    found.push('the second resume was let in');
    await (second as typeof first)[Symbol.asyncDispose]();
  } else if (second.exitCode !== 14) found.push(`it ended with ${second.exitCode}`);
  if (b.proxy.posts().length > 0) found.push('something was sent');
  expect(found).toEqual(wrong);
  expect(first.op).toBe(begun.op);
});

test.each([
  { what: 'as it is', disk: lockless, wrong: [] },
  { what: 'without the fence', disk: fenceless, wrong: ['sent by a run that had been taken over'] },
])('behind a lock that failed, who was taken over sends nothing: $what', async ({ disk, wrong }) => {
  await using b = await bench({ stripKeys: true, disk });
  await using first = await b.journal.begin(planOf([createRow(b.bin)]));
  await using second = await b.another().resume(first.op);
  await first.perform(1).catch(() => undefined);
  const found = b.proxy.posts().length > 0 ? ['sent by a run that had been taken over'] : [];
  expect(found).toEqual(wrong);
  expect(second.op).toBe(first.op);
});

test.each([
  { what: 'as it is', disk: powerLoss, wrong: [] },
  { what: 'without the sync', disk: syncless, wrong: ['2 cards'] },
])('power that fails after a create, before anything more is synced: $what', async ({ disk, wrong }) => {
  await using b = await bench({ stripKeys: true, disk });
  b.proxy.fail('POST', /\/cards$/, 'drop-after');
  const run = await b.journal.begin(planOf([createRow(b.bin, 1), createRow(b.bin, 2)], { bulk: true }));
  await run.perform(1);
  await run[Symbol.asyncDispose]();
  await using again = await b.another({ disk: whole }).resume(run.op, { resendAbsent: true });
  await again.perform(1);
  const { length } = await b.cards();
  expect(length === 1 ? [] : [`${length} cards`]).toEqual(wrong);
});

function withFiles(real: JournalDisk, wrap: (file: JournalFile) => JournalFile): JournalDisk {
  return {
    ...real,
    create: async path => wrap(await real.create(path)),
    async open(path) {
      const file = await real.open(path);
      return file && wrap(file);
    },
  };
}

/** Reports the size it has written itself. */
function pretending(file: JournalFile): JournalFile {
  let size: number | undefined;
  return {
    ...file,
    async append(bytes) {
      size = (size ?? (await file.size())) + bytes.length;
      await file.append(bytes);
    },
    size: async () => size ?? file.size(),
  };
}

/** What is appended reaches the disk at a sync, and is lost with the power before it; the plan's own sync counts. */
function unsynced(file: JournalFile, honest: boolean): JournalFile {
  let waiting: Uint8Array[] = [];
  let [ahead, syncs] = [0, 0];
  return {
    ...file,
    async append(bytes) {
      waiting.push(bytes);
      ahead += bytes.length;
    },
    async sync() {
      syncs += 1;
      if (!honest && syncs > 1) return;
      for (const bytes of waiting) await file.append(bytes);
      [waiting, ahead] = [[], 0];
      await file.sync();
    },
    size: async () => (await file.size()) + ahead,
  };
}
