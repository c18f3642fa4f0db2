/** A journal of an unfinished op that was emptied, cut off or removed is not taken for one that was never written. */
import { access, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import type { RunPlan } from '../../src/journal/types.ts';
import { newOp } from '../../src/journal/wal/op-id.ts';
import { random } from '../support/clocks.ts';
import { type Bench, bench, createRow, planOf } from './bench.ts';

const missing = (path: string) =>
  access(path).then(
    () => false,
    () => true,
  );

async function once(b: Bench, plan: RunPlan) {
  await using run = await b.journal.begin(plan);
  const outcome = await run.perform(1);
  await run.finish();
  return outcome;
}

/** A create whose answer is lost: its outcome is unknown. */
async function unknownCreate(b: Bench): Promise<{ op: string; journal: string; text: string }> {
  b.proxy.fail('POST', /\/cards$/, 'drop-before');
  const run = await b.journal.begin(planOf([createRow(b.bin)]));
  await run.perform(1);
  await run.finish();
  await run[Symbol.asyncDispose]();
  const journal = join(b.folder, 'ops', run.op, 'journal');
  return { op: run.op, journal, text: await readFile(journal, 'latin1') };
}

const endOf = (text: string, line: string) => text.indexOf('\n', text.indexOf(`"t":"${line}"`)) + 1;

test.each([
  ['was emptied', ({ journal }: { journal: string }) => truncate(journal, 0), true],
  ['was cut off in its first record', ({ journal }: { journal: string }) => truncate(journal, 300), true],
  ['is gone', ({ journal }: { journal: string }) => rm(journal), true],
  ['is gone with its folder', ({ journal }: { journal: string }) => rm(join(journal, '..'), { recursive: true }), true],
  [
    'lost its rows',
    async (of: { journal: string; text: string }) => truncate(of.journal, endOf(of.text, 'PLAN')),
    true,
  ],
  [
    'lost what was sent',
    async (of: { journal: string; text: string }) => truncate(of.journal, endOf(of.text, 'RUN')),
    false,
  ],
])('a journal that %s is damaged: nothing is sent until a person says what is known', async (_, damage, alsoOthers) => {
  await using b = await bench({ stripKeys: true });
  const unknown = await unknownCreate(b);
  const { op } = unknown;
  await damage(unknown);
  const posts = b.proxy.posts().length;
  const plan = planOf([createRow(b.bin)]);
  const refused = { kind: 'check_failed', facts: { op, outcome: 'not_sent' } };
  await expect(b.another().begin(plan)).rejects.toMatchObject(refused);
  await expect(b.another().resume(op)).rejects.toMatchObject(refused);
  await expect(b.another().show(op)).rejects.toMatchObject(refused);
  expect(await b.another().list()).toMatchObject([{ op, state: 'damaged' }]);
  expect(b.proxy.posts()).toHaveLength(posts);
  const other = b.another().begin(planOf([createRow(b.bin, 1)], { digest: 'another' }));
  if (alsoOthers) await expect(other).rejects.toMatchObject(refused);
  else await expect(other).rejects.toMatchObject({ kind: 'check_failed' });

  const named = { op, rows: [1], as: 'done', note: 'seen' } as const;
  await expect(b.another().resolve(named)).rejects.toMatchObject({ kind: 'usage' });
  const { aside = '' } = await b.another().resolve({ op, as: 'done', note: 'the card is there' });
  expect(JSON.parse(await readFile(join(aside, 'recorded.json'), 'utf8'))).toMatchObject({ note: 'the card is there' });
  expect(await b.another().list()).toEqual([]);
  await using run = await b.another().begin(plan);
  expect(run.op).not.toBe(op);
});

test('cards are frozen and terminated all the same, and no other change is made', async () => {
  await using b = await bench({ stripKeys: true });
  const { cardId: card = '' } = await once(b, planOf([createRow(b.bin, 1, cents(300))]));
  const { journal } = await unknownCreate(b);
  await truncate(journal, 0);
  const rowOf = (operation: 'cards.freeze' | 'cards.unfreeze' | 'cards.terminate') =>
    planOf([{ row: 1, operation, input: { card_id: card }, cardId: card }], { marker: false, digest: operation });
  expect(await once(b, rowOf('cards.freeze'))).toMatchObject({ outcome: 'done' });
  await expect(b.another().begin(rowOf('cards.unfreeze'))).rejects.toMatchObject({ kind: 'check_failed' });
  expect(await once(b, rowOf('cards.terminate'))).toMatchObject({ outcome: 'done' });
});

test.each([
  ['no folder yet', async () => undefined],
  ['an empty folder', (folder: string) => mkdir(folder)],
  ['an empty journal', (folder: string) => mkdir(folder).then(() => writeFile(join(folder, 'journal'), ''))],
  ['a torn plan', (folder: string) => mkdir(folder).then(() => writeFile(join(folder, 'journal'), '0011aabb 60'))],
])('a process that was killed before its plan was whole is in nobody’s way: %s', async (_, leave) => {
  await using b = await bench();
  const op = newOp(random);
  await mkdir(join(b.folder, 'ops', 'unfinished'), { recursive: true, mode: 0o700 });
  await writeFile(join(b.folder, 'ops', 'unfinished', op), '');
  await leave(join(b.folder, 'ops', op));
  await using run = await b.journal.begin(planOf([createRow(b.bin)]));
  expect(await run.perform(1)).toMatchObject({ outcome: 'done' });
});

test('an op that ended keeps no mark, and one that was taken back is not missed', async () => {
  await using b = await bench();
  const run = await b.journal.begin(planOf([createRow(b.bin)]));
  const mark = join(b.folder, 'ops', 'unfinished', run.op);
  const journal = join(b.folder, 'ops', run.op, 'journal');
  await run.perform(1);
  expect(await readFile(mark, 'utf8')).toMatch(new RegExp(`\\n${(await readFile(journal)).length}\\n$`));
  await run.finish();
  await run[Symbol.asyncDispose]();
  expect(await missing(mark)).toBe(true);
});

test('an intent whose operation was recorded as done is not free', async () => {
  await using b = await bench({ stripKeys: true });
  b.proxy.fail('POST', /\/cards$/, 'drop-before');
  const plan = planOf([{ ...createRow(b.bin), intent: 'order-1' }]);
  const run = await b.journal.begin(plan);
  await run.perform(1);
  await run.finish();
  await run[Symbol.asyncDispose]();
  await rm(join(b.folder, 'ops', run.op), { recursive: true });
  await expect(b.another().begin(plan)).rejects.toMatchObject({ kind: 'check_failed' });
  await b.another().resolve({ op: run.op, as: 'done', note: 'seen' });
  await expect(b.another().begin(plan)).rejects.toMatchObject({ kind: 'guarded', facts: { outcome: 'not_sent' } });
});
