/** What must be refused before anything leaves: twins, other bytes, folders that take no journal, damage, two at once. */
import { constants } from 'node:fs';
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { cents } from '../../src/core/money.ts';
import type { RunPlan } from '../../src/journal/types.ts';
import { decodeLines } from '../../src/journal/wal/codec.ts';
import { historyOf } from '../../src/journal/wal/replay.ts';
import type { JournalDisk, JournalFile } from '../../src/journal/wal/storage.ts';
import { type Bench, bench, createRow, planOf } from './bench.ts';

async function once(b: Bench, plan: RunPlan) {
  await using run = await b.journal.begin(plan);
  const outcome = await run.perform(1);
  await run.finish();
  return { op: run.op, ...outcome };
}

test('a key of the caller: the same bytes are the same operation, other bytes are exit 2', async () => {
  await using b = await bench();
  const plan = planOf([createRow(b.bin)], { key: 'order-7' });
  const first = await once(b, plan);
  const second = await once(b, plan);
  expect([second.op, second.outcome, second.cardId]).toEqual([first.op, 'done', first.cardId]);
  expect(b.proxy.posts()).toHaveLength(1);
  const other = planOf([createRow(b.bin, 1, cents(2600))], { key: 'order-7' });
  await expect(b.journal.begin(other)).rejects.toMatchObject({ kind: 'usage', facts: { op: first.op } });
});

test('a key of the caller after a refusal that the service keeps: a new attempt under a key of the op', async () => {
  await using b = await bench({ wallet: 10 });
  const plan = planOf([createRow(b.bin)], { key: 'order-8' });
  expect(await once(b, plan)).toMatchObject({ outcome: 'refused' });
  expect(await once(b, plan)).toMatchObject({ outcome: 'refused' });
  const second = await once(b, plan);
  expect(b.proxy.posts().map(({ key }) => key)).toEqual([
    'order-8',
    expect.stringMatching(/^op_.*\.1\.1$/),
    `${second.op}.1.1`,
  ]);
});

test('the same operation twice is fine once the first is settled', async () => {
  await using b = await bench();
  const plan = planOf([createRow(b.bin)]);
  await once(b, plan);
  await once(b, plan);
  expect(await b.cards()).toHaveLength(2);
});

test('let go before anything was sent, a single operation is over, and may be begun again', async () => {
  await using b = await bench();
  const plan = planOf([createRow(b.bin)]);
  const run = await b.journal.begin(plan);
  await run[Symbol.asyncDispose]();
  expect(await b.journal.list()).toMatchObject([{ op: run.op, state: 'finished' }]);
  expect(await once(b, plan)).toMatchObject({ outcome: 'done' });
  // What it left stays as it is.
  await using resumed = await b.journal.resume(run.op);
  expect(await resumed.perform(1)).toMatchObject({ outcome: 'not_sent' });
  expect(await b.cards()).toHaveLength(1);
});

test('a NOTSENT behind the RUN of another process says nothing: its writer knows only what it has sent itself', async () => {
  await using b = await bench();
  const run = await b.journal.begin(planOf([createRow(b.bin)], { bulk: true }));
  await run[Symbol.asyncDispose]();
  const { written } = decodeLines(await readFile(join(b.folder, 'ops', run.op, 'journal')), run.op);
  const [first] = written;
  const by = (first?.by ?? '') === '00000001' ? '00000002' : '00000001';
  const taken = { by, seq: 0, record: { t: 'RUN', pid: 2, start: undefined, boot: undefined, at: 2 } as const };
  const sent = { by, seq: 1, record: { t: 'SENT', row: 1, attempt: 1, at: 3 } as const };
  const late = { by: first?.by ?? '', seq: 9, record: { t: 'NOTSENT', row: 1, at: 4 } as const };
  const records = [...written, taken, sent, late] as unknown as Parameters<typeof historyOf>[0];
  expect(historyOf(records)?.rows.get(1)?.state).toBe('unknown');
});

test('a card with 20 metadata keys has no room for the marker', async () => {
  await using b = await bench();
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, 'v']));
  const row = { ...createRow(b.bin), input: { bin_id: b.bin, amount: cents(2500), metadata } };
  await expect(b.journal.begin(planOf([row]))).rejects.toMatchObject({
    kind: 'usage',
    facts: { hint: 'the same command with --no-marker' },
  });
  expect(await once(b, planOf([row], { marker: false }))).toMatchObject({ outcome: 'done' });
});

test('without a marker nothing is sent twice, whatever keys are worth', async () => {
  await using b = await bench({ capability: { key: 'honoured', ttl_ms: null, proved_ms: 5_000, at: 0 } });
  b.proxy.fail('POST', /\/cards$/, 'drop-after');
  const { outcome, op } = await once(b, planOf([createRow(b.bin)], { marker: false }));
  expect(outcome).toBe('unknown');
  await using resumed = await b.journal.resume(op, { resendAbsent: true });
  expect(await resumed.perform(1)).toMatchObject({ outcome: 'unknown' });
  expect(b.proxy.posts()).toHaveLength(1);
});

test('every call that can fail while the plan is written: 14, and nothing was sent', async () => {
  const calls = ['prepareFolder', 'note', 'syncNames', 'create', 'append', 'sync'] as const;
  for (const call of calls) {
    await using b = await bench({ disk: real => failing(real, call) });
    const error = await b.journal.begin(planOf([createRow(b.bin)])).catch((thrown: unknown) => thrown);
    expect(error, call).toMatchObject({ kind: 'guarded', exitCode: 14 });
    expect(b.proxy.posts(), call).toHaveLength(0);
    // Nor is anything left behind: half a plan would fill a full disk for nothing.
    const left = await readdir(join(b.folder, 'ops')).catch(() => []);
    expect(
      left.filter(name => name.startsWith('op_')),
      call,
    ).toEqual([]);
  }
});

test('a full disk at SENT: nothing was sent; at the outcome: unknown, and a resume settles it', async () => {
  for (const failAt of [2, 3]) {
    let writes = 0;
    const disk = (real: JournalDisk) =>
      wrapping(real, file => ({
        ...file,
        append: bytes => {
          writes += 1;
          return writes === failAt ? full() : file.append(bytes);
        },
      }));
    await using b = await bench({ disk });
    const run = await b.journal.begin(planOf([createRow(b.bin)]));
    if (failAt === 2) {
      await expect(run.perform(1)).rejects.toMatchObject({ exitCode: 14 });
      await expect(run.perform(1)).rejects.toMatchObject({ exitCode: 14 });
      expect(b.proxy.posts()).toHaveLength(0);
    } else {
      const { outcome, error, stops, cardId } = await run.perform(1);
      expect([outcome, error?.exitCode, stops]).toEqual(['unknown', 11, true]);
      expect([cardId, error?.message]).toEqual([
        (await b.cards())[0]?.id,
        expect.stringContaining('and the service said yes, but the journal could not be written'),
      ]);
      expect(error?.facts.notes).toEqual(
        expect.arrayContaining([
          `Checked: the answer of the service, which said that it is done, card ${cardId}.`,
          'Verdict: probably done: only the record of it is missing.',
        ]),
      );
      expect(error?.facts.evidence).toMatchObject({ card_id: cardId, verdict: 'probably done' });
    }
    await run[Symbol.asyncDispose]();
    await using resumed = await b.another({ disk: real => real }).resume(run.op);
    expect(await resumed.perform(1)).toMatchObject({ outcome: 'done' });
    expect(await b.cards()).toHaveLength(1);
    expect(b.proxy.posts()).toHaveLength(1);
  }
});

test.skipIf(process.platform !== 'linux')('/dev/full takes no journal', async () => {
  const disk = (real: JournalDisk): JournalDisk => ({
    ...real,
    create: async path => {
      const file = await real.create(path);
      const device = await open('/dev/full', constants.O_WRONLY);
      return {
        ...file,
        append: bytes =>
          device.write(bytes).then(
            () => undefined,
            (cause: unknown) => Promise.reject(refusal(cause)),
          ),
        close: () => device.close().then(() => file.close()),
      };
    },
  });
  await using b = await bench({ disk });
  await expect(b.journal.begin(planOf([createRow(b.bin)]))).rejects.toMatchObject({ exitCode: 14 });
  expect(b.proxy.posts()).toHaveLength(0);
});

test('a damaged journal is 15 and sends nothing; the list names it', async () => {
  await using b = await bench({ stripKeys: true });
  b.proxy.fail('POST', /\/cards$/, 'drop-before');
  const { op } = await once(b, planOf([createRow(b.bin)]));
  const path = join(b.folder, 'ops', op, 'journal');
  const bytes = await readFile(path);
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  await writeFile(path, bytes);
  const posts = b.proxy.posts().length;
  await expect(b.journal.resume(op)).rejects.toMatchObject({ exitCode: 15 });
  await expect(b.journal.begin(planOf([createRow(b.bin)]))).rejects.toMatchObject({ exitCode: 15 });
  expect(b.proxy.posts()).toHaveLength(posts);
  expect(await b.journal.list()).toMatchObject([{ op, state: 'damaged' }]);
  // Another row would be refused as well while not even the plan can be read; with the plan whole it is no twin.
  const other = planOf([createRow(b.bin, 1, cents(100))]);
  await expect(b.journal.begin(other)).rejects.toMatchObject({ exitCode: 15 });
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  bytes[bytes.length - 10] = (bytes[bytes.length - 10] ?? 0) ^ 1;
  await writeFile(path, bytes);
  await expect(b.journal.begin(planOf([createRow(b.bin)]))).rejects.toMatchObject({ exitCode: 15 });
  expect(await once(b, other)).toMatchObject({ outcome: 'done' });
});

test('folders are 0700, files 0600, and no key is in them', async () => {
  await using b = await bench();
  const { op } = await once(b, planOf([createRow(b.bin)]));
  const mode = async (...names: string[]) => ((await stat(join(b.folder, ...names))).mode & 0o777).toString(8);
  expect([await mode('ops'), await mode('ops', op), await mode('ops', op, 'journal')]).toEqual(['700', '700', '600']);
});

/** `../crash/two-resumes.full.ts` has 200. */
const PAIRS = 20;

test(`two resumes at once, ${PAIRS} times: one is refused and sends nothing`, { timeout: 180_000 }, async () => {
  await using b = await bench({ stripKeys: true, wallet: 5000 });
  const ops: string[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    // A run that stopped before its first row: both resumes would send it. A single operation would be over.
    const run = await b.journal.begin(planOf([createRow(b.bin, 1, cents(100 + pair))], { bulk: true }));
    await run[Symbol.asyncDispose]();
    ops.push(run.op);
  }
  for (const op of ops) {
    const resumed = await Promise.allSettled(
      [b.another(), b.another()].map(async journal => {
        await using run = await journal.resume(op);
        const outcome = await run.perform(1);
        await run.finish();
        return outcome.outcome;
      }),
    );
    const results = resumed.map(each => (each.status === 'fulfilled' ? each.value : (each.reason as CliError).kind));
    // The second may come when the first is through; then it finds END and sends nothing either.
    expect([
      ['done', 'guarded'],
      ['done', 'done'],
    ]).toContainEqual([...results].sort());
  }
  expect(b.proxy.posts()).toHaveLength(PAIRS);
  expect(await b.cards()).toHaveLength(PAIRS);
});

test('the fence behind the lock: whoever appends RUN later stops the earlier one before it sends', async () => {
  // A lock that lets everybody in.
  const disk = (real: JournalDisk): JournalDisk => ({ ...real, hold: async () => async () => undefined });
  await using b = await bench({ disk });
  await using first = await b.journal.begin(planOf([createRow(b.bin)]));
  await using second = await b.another().resume(first.op);
  await expect(first.perform(1)).rejects.toThrow(/taken over/);
  expect(b.proxy.posts()).toHaveLength(0);
  expect([...second.rows][0]?.state).toBe('open');
});

test('prune removes what ended 90 days ago, and nothing that is open', async () => {
  await using b = await bench({ stripKeys: true });
  const { op } = await once(b, planOf([createRow(b.bin)], { key: 'mine' }));
  b.proxy.fail('POST', /\/cards$/, 'drop-before');
  const lost = await once(b, planOf([createRow(b.bin, 1, cents(300))]));
  b.clock.advance(89 * 86_400_000);
  expect(await b.journal.prune()).toEqual([]);
  b.clock.advance(2 * 86_400_000);
  expect(await b.journal.prune({ dryRun: true })).toEqual([op]);
  expect(await b.journal.prune()).toEqual([op]);
  expect((await b.journal.list()).map(each => each.op)).toEqual([lost.op]);
});

test('another account cannot resume it', async () => {
  await using b = await bench();
  await using other = await bench();
  const run = await b.journal.begin(planOf([createRow(b.bin)]));
  await run[Symbol.asyncDispose]();
  await expect(other.journal.resume(run.op)).rejects.toMatchObject({ kind: 'usage' });
});

test('a row that was stopped is not sent', async () => {
  await using b = await bench();
  await using run = await b.journal.begin(planOf([createRow(b.bin)]));
  b.stop.abort(new CliError('interrupted', { message: 'stopped by Ctrl-C' }));
  expect(await run.perform(1)).toMatchObject({ outcome: 'not_sent', stops: true, error: { kind: 'interrupted' } });
  expect(b.proxy.posts()).toHaveLength(0);
});

test('a row that is written down and held back is not sent, and the next run takes it up', async () => {
  await using b = await bench();
  const plan = planOf([createRow(b.bin, 1), createRow(b.bin, 2)], { bulk: true });
  const run = await b.journal.begin(plan);
  const permit = { acquire: async () => false, acknowledge: () => undefined };
  expect(await run.perform(1, permit)).toMatchObject({ outcome: 'not_sent', stops: true });
  await run[Symbol.asyncDispose]();
  expect(b.proxy.posts()).toHaveLength(0);
  expect((await b.journal.show(run.op)).rowsInDetail).toMatchObject([{ state: 'not_sent' }, { state: 'open' }]);
  await using again = await b.journal.resume(run.op);
  for (const { row } of again.rows) expect(await again.perform(row)).toMatchObject({ outcome: 'done' });
  expect(b.proxy.posts()).toHaveLength(2);
});

function refusal(cause: unknown): CliError {
  return new CliError('guarded', { message: 'the disk does not take it', outcome: 'not_sent', cause });
}

function full(): Promise<never> {
  return Promise.reject(refusal('ENOSPC'));
}

function wrapping(real: JournalDisk, wrap: (file: JournalFile) => JournalFile): JournalDisk {
  return {
    ...real,
    create: async path => (path.endsWith('journal') ? wrap(await real.create(path)) : real.create(path)),
  };
}

function failing(real: JournalDisk, call: 'append' | 'sync' | keyof JournalDisk): JournalDisk {
  if (call === 'append' || call === 'sync') return wrapping(real, file => ({ ...file, [call]: full }));
  return { ...real, [call]: full };
}

test.each([false, true])(
  'a run that ended while this one was asked about: no row of both is done twice (again: %s)',
  async again => {
    await using b = await bench();
    const rows = [1, 2, 3].map(row => createRow(b.bin, row, cents(1000 + row)));
    const [mine, theirs] = [planOf(rows.slice(0, 2), { again }), planOf(rows.slice(1))];
    await b.journal.refuseTwin(mine);
    const another = b.another();
    await using run = await another.begin(theirs);
    for (const row of [2, 3]) expect(await run.perform(row)).toMatchObject({ outcome: 'done' });
    await run.finish();
    await run[Symbol.asyncDispose]();
    await expect(b.journal.begin(mine)).rejects.toThrow(`1 of these 2 rows is done in ${run.op}`);
    expect(await b.journal.list()).toHaveLength(1);
    // Now it is known.
    const told = b.another();
    await (again ? told.refuseTwin(mine) : expect(told.refuseTwin(mine)).rejects.toThrow('1 of these 2 rows is done'));
    if (!again) return;
    await using second = await told.begin(mine);
    for (const row of [1, 2]) expect(await second.perform(row)).toMatchObject({ outcome: 'done' });
    await second.finish();
  },
);
