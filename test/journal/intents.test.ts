/** A name of the caller's stands for one change: what came of the first op decides what the same command does again. */
import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DAY } from '../../src/core/durations.ts';
import type { CliError } from '../../src/core/errors.ts';
import { cents } from '../../src/core/money.ts';
import type { RowOutcome } from '../../src/journal/row-outcome.ts';
import type { Journal, PlannedRow, RunPlan } from '../../src/journal/types.ts';
import { bench, createRow, fundRow, planOf } from './bench.ts';

const createPath = /\/cards$/;
const named = (row: PlannedRow, intent = 'po-1'): PlannedRow => ({ ...row, intent });
const planned = (row: PlannedRow, more: Partial<RunPlan> = {}) => planOf([row], more);

/** As a command does it: what is settled is told, what is not is taken up, else it is begun. */
async function command(
  journal: Journal,
  plan: RunPlan,
): Promise<{ readonly op: string; readonly outcome: RowOutcome }> {
  const earlier = (await journal.earlierUses(plan)).get(1);
  if (earlier?.settled !== undefined) return { op: earlier.op, outcome: earlier.settled };
  await using run = await (earlier === undefined ? journal.begin(plan) : journal.resume(earlier.op));
  const outcome = await run.perform(1);
  await run.finish();
  return { op: run.op, outcome };
}

test('done: the same again sends nothing, and other values are refused', async () => {
  await using b = await bench();
  const first = await command(b.journal, planned(named(createRow(b.bin))));
  const again = await command(b.another(), planned(named(createRow(b.bin))));
  expect(again).toMatchObject({
    op: first.op,
    outcome: { outcome: 'done', changed: false, cardId: first.outcome.cardId },
  });
  expect(b.proxy.posts()).toHaveLength(1);
  const other = command(b.journal, planned(named(createRow(b.bin, 1, cents(2600)))));
  await expect(other).rejects.toMatchObject({
    kind: 'usage',
    facts: { op: first.op, outcome: 'not_sent', evidence: { fields: ['amount'] } },
  });
  const { message, facts } = (await other.catch((error: unknown) => error)) as CliError;
  expect(`${message} ${facts.notes}`.replaceAll(first.op, '').replaceAll('po-1', '')).not.toMatch(/\d/);
  await expect(command(b.journal, planned(named(fundRow(String(first.outcome.cardId)))))).rejects.toMatchObject({
    kind: 'usage',
    facts: { evidence: { fields: ['operation'] } },
  });
  // Another name is another purchase.
  await command(b.journal, planned(named(createRow(b.bin), 'po-2')));
  expect(await b.cards()).toHaveLength(2);
});

test.each([
  ['lost before it is done', 'drop-before', 11, 1],
  ['lost after it is done', 'drop-after', 11, 1],
] as const)('unknown, %s: the same again settles it and never makes two', async (_name, fault, exitCode, cards) => {
  await using b = await bench({ stripKeys: true });
  b.proxy.fail('POST', createPath, fault);
  b.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
  const lost = await command(b.journal, planned(named(createRow(b.bin))));
  expect(lost.outcome).toMatchObject({ outcome: 'unknown', error: { exitCode } });
  b.proxy.mend();
  // Other values do not go around it.
  await expect(command(b.journal, planned(named(createRow(b.bin, 1, cents(900)))))).rejects.toMatchObject({
    kind: 'usage',
  });
  const again = await command(b.another(), planned(named(createRow(b.bin))));
  expect(again.op).toBe(lost.op);
  expect(await b.cards()).toHaveLength(fault === 'drop-after' ? cards : 0);
  expect(b.proxy.posts()).toHaveLength(1);
  expect(again.outcome.outcome).toBe(fault === 'drop-after' ? 'done' : 'unknown');
});

test('a fresh name is no way around an unknown outcome', async () => {
  await using b = await bench({ stripKeys: true });
  b.proxy.fail('POST', createPath, 'drop-after');
  b.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
  const { op } = await command(b.journal, planned(named(createRow(b.bin))));
  await expect(command(b.another(), planned(named(createRow(b.bin), 'po-2')))).rejects.toMatchObject({
    kind: 'guarded',
    facts: { op },
  });
});

test('under way in another process: refused, whatever it comes to', async () => {
  await using b = await bench();
  const plan = planned(named(createRow(b.bin)));
  const run = await b.journal.begin(plan);
  await expect(command(b.another(), plan)).rejects.toMatchObject({ kind: 'guarded', facts: { op: run.op } });
  await expect(b.another().begin(plan)).rejects.toMatchObject({ kind: 'guarded', facts: { op: run.op } });
  await run.perform(1);
  await run.finish();
  await run[Symbol.asyncDispose]();
  expect(b.proxy.posts()).toHaveLength(1);
});

test('refused or never sent: the name is free, for other values too', async () => {
  await using b = await bench({ wallet: 20 });
  const refused = await command(b.journal, planned(named(createRow(b.bin))));
  expect(refused.outcome).toMatchObject({ outcome: 'refused', error: { kind: 'insufficient_funds' } });
  b.proxy.fail('POST', createPath, 'unauthorized');
  const turned = await command(b.journal, planned(named(createRow(b.bin, 1, cents(1000)))));
  expect(turned.outcome.outcome).toBe('refused');
  const done = await command(b.journal, planned(named(createRow(b.bin, 1, cents(500)))));
  expect(done.outcome.outcome).toBe('done');
  expect(await b.cards()).toHaveLength(1);
});

test('with a key of the caller the key is part of what must be equal, and a used key needs its own name', async () => {
  await using b = await bench();
  const row = named(createRow(b.bin));
  const first = await command(b.journal, planned(row, { key: 'k-1' }));
  expect(await command(b.journal, planned(row, { key: 'k-1' }))).toMatchObject({ op: first.op });
  await expect(command(b.journal, planned(row, { key: 'k-2' }))).rejects.toMatchObject({
    kind: 'usage',
    facts: { evidence: { fields: ['idempotency key'] } },
  });
  await expect(command(b.journal, planned(row))).rejects.toMatchObject({ kind: 'usage' });
  // It would lead to the op of another name, and this one would be free for a second purchase.
  await expect(command(b.journal, planned(named(row, 'po-2'), { key: 'k-1' }))).rejects.toMatchObject({
    kind: 'usage',
    message: expect.stringContaining('another intent'),
  });
  expect(b.proxy.posts()).toHaveLength(1);
});

test('rows of many: what is done is told, what is not settled holds the whole back', async () => {
  await using b = await bench({ stripKeys: true });
  const rows = [named(createRow(b.bin, 1), 'a'), named(createRow(b.bin, 2, cents(300)), 'b')];
  {
    await using run = await b.journal.begin(planOf(rows));
    await run.perform(1);
    b.proxy.fail('POST', createPath, 'drop-after');
    b.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
    expect(await run.perform(2)).toMatchObject({ outcome: 'unknown' });
    const third = [named(createRow(b.bin, 1, cents(700)), 'c'), named(createRow(b.bin, 2, cents(300)), 'b')];
    await expect(b.another().earlierUses(planOf(third))).rejects.toMatchObject({
      kind: 'guarded',
      facts: { op: run.op, hint: `cardwright ops resume ${run.op}` },
    });
    // Nor does a single command resume rows of others.
    await expect(b.another().earlierUses(planned(named(createRow(b.bin, 1, cents(300)), 'b')))).rejects.toMatchObject({
      kind: 'guarded',
    });
    expect(await b.another().earlierUses(planned(named(createRow(b.bin), 'a')))).toMatchObject(
      new Map([[1, { op: run.op, row: 1, bulk: true, settled: { outcome: 'done', changed: false } }]]),
    );
  }
});

test('the same rows under other names are meant; without names in one of the two they are not', async () => {
  await using b = await bench();
  const file = (names: readonly (string | undefined)[]) =>
    planOf(names.map((intent, index) => ({ ...createRow(b.bin, index + 1), ...(intent && { intent }) })));
  const runAll = async (plan: RunPlan) => {
    await b.journal.refuseTwin(plan);
    await using run = await b.journal.begin(plan);
    for (const { row } of run.rows) await run.perform(row);
    await run.finish();
  };
  await runAll(file(['a', 'b']));
  await runAll(file(['c', 'd']));
  await expect(runAll(file([undefined, undefined]))).rejects.toMatchObject({ kind: 'guarded' });
  await expect(runAll(file(['e', undefined]))).rejects.toMatchObject({ kind: 'guarded' });
  await runAll(file(['e', 'f']));
  expect(await b.cards()).toHaveLength(6);
});

test('names outlive their ops by what came of them, for 400 days', async () => {
  await using b = await bench({ wallet: 60 });
  const [bought, poor] = [named(createRow(b.bin)), named(createRow(b.bin, 1, cents(5000)), 'poor')];
  const { op, outcome } = await command(b.journal, planned(bought));
  await command(b.journal, planned(poor));
  b.clock.advance(91 * DAY);
  expect(await b.journal.prune()).toHaveLength(2);
  expect(await b.journal.list()).toEqual([]);
  expect(await command(b.journal, planned(bought))).toMatchObject({
    op,
    outcome: { outcome: 'done', cardId: outcome.cardId },
  });
  await expect(command(b.journal, planned(named(createRow(b.bin, 1, cents(100)))))).rejects.toMatchObject({
    kind: 'usage',
    facts: { op },
  });
  expect(await b.journal.earlierUses(planned(poor))).toEqual(new Map());
  expect(b.proxy.posts()).toHaveLength(2);
  b.clock.advance(310 * DAY);
  await b.journal.prune();
  expect((await command(b.journal, planned(bought))).op).not.toBe(op);
  expect(await b.cards()).toHaveLength(2);
});

test('a torn line of a crash is cut off; a damaged one stops every command that names something there', async () => {
  await using b = await bench();
  const plan = planned(named(createRow(b.bin)));
  await command(b.journal, plan);
  const folder = join(b.folder, 'ops', 'intents');
  const [name = ''] = await readdir(folder);
  const path = join(folder, name);
  const whole = await readFile(path, 'utf8');
  await appendFile(path, whole.slice(0, 30));
  expect(await command(b.journal, plan)).toMatchObject({ outcome: { outcome: 'done' } });
  await appendFile(path, `\n${whole}`);
  await expect(command(b.journal, plan)).rejects.toMatchObject({
    kind: 'check_failed',
    facts: { outcome: 'not_sent' },
  });
  expect(b.proxy.posts()).toHaveLength(1);
});
