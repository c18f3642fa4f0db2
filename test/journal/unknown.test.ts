/** Lost answers, on a real sandbox behind the fault proxy: what is sent again, what is found, what is left (A1-A26). */
import { expect, test } from 'vitest';
import { DAY } from '../../src/core/durations.ts';
import { cents } from '../../src/core/money.ts';
import { bench, createRow, fundRow, planOf } from './bench.ts';

const honoured = { key: 'honoured', ttl_ms: null, proved_ms: 5_000, at: 0 } as const;
const createPath = /\/cards$/;

test.each(['drop-before', 'drop-after', 'html-502'] as const)('keys honoured, %s: one card, done', async fault => {
  await using b = await bench({ capability: honoured });
  b.proxy.fail('POST', createPath, fault);
  await using run = await b.journal.begin(planOf([createRow(b.bin)]));
  const outcome = await run.perform(1);
  expect(outcome).toMatchObject({ outcome: 'done', result: { balance: 25 } });
  expect(new Set(b.proxy.posts().map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
  expect(b.proxy.posts()).toHaveLength(2);
  expect(await run.finish()).toMatchObject({ ended: true, objections: [], counts: { done: 1 } });
  expect(await b.cards()).toHaveLength(1);
  expect(await b.wallet()).toBe(975);
});

test('a late answer: the second try is replayed', async () => {
  await using b = await bench({ capability: honoured, timeoutMs: 300, delayMs: 2_000 });
  b.proxy.fail('POST', createPath, 'late-answer');
  await using run = await b.journal.begin(planOf([createRow(b.bin)]));
  expect(await run.perform(1)).toMatchObject({ outcome: 'done' });
  expect(await b.cards()).toHaveLength(1);
});

test('keys unknown and ignored: never sent again, found by its marker at once', async () => {
  await using b = await bench({ stripKeys: true });
  b.proxy.fail('POST', createPath, 'drop-after');
  await using run = await b.journal.begin(planOf([createRow(b.bin)]));
  const [card] = await Promise.all([run.perform(1)]);
  expect(card).toMatchObject({ outcome: 'done', reread: true, cardId: (await b.cards())[0]?.id });
  expect(b.proxy.posts()).toHaveLength(1);
  expect(await run.finish()).toMatchObject({ ended: true });
});

test('keys unknown, the request lost: exit 11 with all seven points, never sent again; resume waits and leaves it', async () => {
  await using b = await bench({ stripKeys: true });
  b.proxy.fail('POST', createPath, 'drop-before');
  {
    await using run = await b.journal.begin(planOf([{ ...createRow(b.bin), label: 'ads' }]));
    const { outcome, error } = await run.perform(1);
    expect([outcome, error?.exitCode, error?.facts.outcome]).toEqual(['unknown', 11, 'unknown']);
    const text = [error?.message, ...(error?.facts.notes ?? []), error?.facts.hint].join('\n');
    expect(text).toMatch(/was sent at .*no trustworthy answer came back \(.*\)\. It may or may not have happened/);
    expect(text).toContain('Asked: cards.create $25.00, from BIN');
    expect(text).toContain('label "ads", profile bench, TEST');
    expect(text).toContain(`marker ${run.op}.1: none; wallet $1,000.00 -> $1,000.00, at 2026-11-20T14:00:00Z`);
    expect(text).toContain('Verdict: no trace yet: the wallet has not moved (1 check until 2026-11-20T14:00:00Z)');
    expect(text).toContain('Do not run the command again: that is a new key and can charge the wallet twice');
    for (const as of ['done', 'not-done'])
      expect(text).toContain(`cardwright ops resolve ${run.op} 1 --as ${as} --note "why"`);
    expect(text).toContain(`key ${run.op}.1.1`);
    expect(text).toContain(`This only looks: cardwright ops resume ${run.op} --dry-run\n`);
    expect(text).toContain(`may send it again where that is safe: cardwright ops resume ${run.op}\n`);
    expect(error?.facts).toMatchObject({
      op: run.op,
      idempotencyKey: `${run.op}.1.1`,
      evidence: { verdict: 'no trace yet', amount: '25.00', checks: 1 },
    });
    expect(await run.finish()).toMatchObject({ ended: false, counts: { unknown: 1 } });
  }
  const [{ op = '' } = {}] = await b.journal.list();
  await expect(b.journal.begin(planOf([createRow(b.bin)]))).rejects.toMatchObject({ kind: 'guarded', facts: { op } });
  {
    await using run = await b.journal.resume(op);
    const before = b.clock.monotonic();
    const outcome = await run.perform(1);
    expect(outcome).toMatchObject({
      outcome: 'unknown',
      error: { facts: { hint: `cardwright ops resume ${op} --resend-absent` } },
    });
    expect(b.clock.monotonic() - before).toBe(150_000);
    expect(b.notices.join('\n')).toContain(
      'row 1: no trace yet; looking again, for 150 s at most: then nothing can still be on its way',
    );
  }
  expect(b.proxy.posts()).toHaveLength(1);
  {
    await using run = await b.journal.resume(op, { resendAbsent: true });
    expect(await run.perform(1)).toMatchObject({ outcome: 'done' });
    expect(await run.finish()).toMatchObject({ ended: true });
  }
  expect(new Set(b.proxy.posts().map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
  expect(await b.cards()).toHaveLength(1);
  const requests = b.proxy.seen.length;
  await using again = await b.journal.resume(op);
  expect(await again.perform(1)).toMatchObject({ outcome: 'done' });
  await again.finish();
  expect(b.proxy.seen).toHaveLength(requests);
});

test('rows that are looked for at the same time share the readings of the list', async () => {
  await using b = await bench({ stripKeys: true });
  const rows = Array.from({ length: 12 }, (_, index) => createRow(b.bin, index + 1));
  b.proxy.fail(
    'POST',
    createPath,
    ...rows.map((_, index) => (index % 3 === 0 ? ('drop-before' as const) : ('drop-after' as const))),
  );
  b.proxy.fail('GET', /\/cards\?/, ...Array.from({ length: 99 }, () => 'unauthorized' as const));
  const run = await b.journal.begin(planOf(rows, { bulk: true }));
  for (const { row } of rows) expect(await run.perform(row)).toMatchObject({ outcome: 'unknown' });
  await run[Symbol.asyncDispose]();
  b.proxy.mend();
  const before = b.proxy.seen.length;
  await using again = await b.journal.resume(run.op);
  const outcomes = await Promise.all(rows.map(async ({ row }) => (await again.perform(row)).outcome));
  expect(outcomes).toEqual(rows.map((_, index) => (index % 3 === 0 ? 'unknown' : 'done')));
  // Two readings of one page at each look: at once, and nine times with growing pauses until the others have settled.
  const looks = 10;
  expect(b.proxy.seen.length - before).toBeLessThanOrEqual(2 + 2 * looks);
  expect(await b.cards()).toHaveLength(8);
});

test('only looking sends nothing and writes nothing', async () => {
  await using b = await bench({ stripKeys: true });
  b.proxy.fail('POST', createPath, 'drop-before');
  const run = await b.journal.begin(planOf([createRow(b.bin)]));
  await run.perform(1);
  await run[Symbol.asyncDispose]();
  const before = await b.journal.show(run.op);
  const { run: look } = await b.journal.look(run.op);
  expect(await look.perform(1)).toMatchObject({ outcome: 'unknown' });
  await look.finish();
  expect(await b.journal.show(run.op)).toEqual(before);
  expect(b.proxy.posts()).toHaveLength(1);
});

test('fund: sent once, evidence only, settled by hand', async () => {
  await using b = await bench({ stripKeys: true });
  const made = await b.journal.begin(planOf([createRow(b.bin)]));
  const { cardId = '' } = await made.perform(1);
  await made.finish();
  await made[Symbol.asyncDispose]();
  b.proxy.fail('POST', /\/fund$/, 'drop-after');
  const run = await b.journal.begin(planOf([fundRow(cardId)], { command: 'cards fund' }));
  const { outcome, error } = await run.perform(1);
  await run[Symbol.asyncDispose]();
  expect(outcome).toBe('unknown');
  expect(error?.facts.evidence).toMatchObject({ verdict: 'probably done', card_id: cardId });
  expect(error?.facts.notes?.join('\n')).toContain(`card ${cardId} $25.00 -> $30.00, wallet $975.00 -> $970.00`);
  await using resumed = await b.journal.resume(run.op, { resendAbsent: true });
  expect(await resumed.perform(1)).toMatchObject({ outcome: 'unknown' });
  await resumed[Symbol.asyncDispose]();
  expect(b.proxy.posts().filter(({ path }) => path.endsWith('/fund'))).toHaveLength(1);
  const { detail } = await b.journal.resolve({ op: run.op, as: 'done', note: 'seen in the dashboard' });
  expect(detail).toMatchObject({ state: 'finished', counts: { done: 1, unknown: 0 } });
  expect(detail.rowsInDetail[0]?.resolved).toMatchObject({ as: 'done', note: 'seen in the dashboard' });
});

test('terminate: its state is looked at', async () => {
  await using b = await bench({ stripKeys: true });
  const made = await b.journal.begin(planOf([createRow(b.bin)]));
  const { cardId = '' } = await made.perform(1);
  await made[Symbol.asyncDispose]();
  b.proxy.fail('POST', /\/terminate$/, 'drop-after');
  const row = { row: 1, operation: 'cards.terminate', input: { card_id: cardId }, cardId } as const;
  await using run = await b.journal.begin(planOf([row]));
  expect(await run.perform(1)).toMatchObject({ outcome: 'done', result: { status: 'terminated' } });
  expect(b.proxy.posts().filter(({ path }) => path.endsWith('/terminate'))).toHaveLength(1);
});

test('a refusal from in front of the key says nothing about the try before it', async () => {
  await using b = await bench({ capability: honoured });
  b.proxy.fail('POST', createPath, 'drop-before', 'unauthorized');
  await using run = await b.journal.begin(planOf([createRow(b.bin)]));
  const { outcome, error } = await run.perform(1);
  expect(outcome).toBe('unknown');
  expect(error?.message).toContain('asked again: cards.create: the service does not accept the API key');
});

test('429 is waited for under the same key, and is no failure', async () => {
  await using b = await bench({ skipsPauses: true });
  b.proxy.fail('POST', createPath, 'throttled');
  await using run = await b.journal.begin(planOf([createRow(b.bin)]));
  expect(await run.perform(1)).toMatchObject({ outcome: 'done', throttled: true });
  expect(new Set(b.proxy.posts().map(({ key }) => key)).size).toBe(1);
});

test('an expired key is not used for sending again', async () => {
  await using b = await bench({ capability: honoured, stripKeys: true });
  b.proxy.fail('POST', createPath, 'drop-before', 'drop-before', 'drop-before');
  const run = await b.journal.begin(planOf([createRow(b.bin)]));
  expect(await run.perform(1)).toMatchObject({ outcome: 'unknown' });
  await run[Symbol.asyncDispose]();
  b.clock.advance(25 * 3_600_000);
  const posts = b.proxy.posts().length;
  await using late = await b.journal.resume(run.op);
  expect(await late.perform(1)).toMatchObject({ outcome: 'unknown' });
  expect(b.proxy.posts()).toHaveLength(posts);
});

test('a clock that jumped proves nothing about the age of a key', async () => {
  await using b = await bench({ capability: honoured });
  b.proxy.fail('POST', createPath, 'drop-before', 'drop-before', 'drop-before');
  const run = await b.journal.begin(planOf([createRow(b.bin)]));
  await run.perform(1);
  await run[Symbol.asyncDispose]();
  b.clock.jump(-3_600_000);
  await using late = await b.journal.resume(run.op);
  expect(await late.perform(1)).toMatchObject({ outcome: 'unknown' });
  expect(b.proxy.posts()).toHaveLength(3);
});

test('two cards of one row: both named, none touched, the audit objects', async () => {
  await using b = await bench({ stripKeys: true });
  b.proxy.fail('POST', createPath, 'drop-before');
  const run = await b.journal.begin(planOf([createRow(b.bin)]));
  await run.perform(1);
  await run[Symbol.asyncDispose]();
  const [sent] = b.proxy.posts();
  const input = { bin_id: b.bin, amount: cents(2500), metadata: { cardwright: `${run.op}.1` } };
  // Both tries of the lost request arrive after all.
  for (const key of ['one', 'two']) await b.service.send('cards.create', input, { key });
  expect(b.proxy.posts().at(-1)?.body).toBe(sent?.body);
  await using resumed = await b.journal.resume(run.op);
  const { duplicate = [] } = await resumed.perform(1);
  expect([...duplicate].sort()).toEqual((await b.cards()).map(({ id }) => id).sort());
  const { objections } = await resumed.finish();
  expect(objections.join('\n')).toMatch(
    /2 cards carry the marker.*\ncardwright cards freeze card_\d\ncardwright cards terminate card_\d/,
  );
});

test('bulk: a wallet that ran dry is topped up, the refused row gets a new key, the rest is sent', async () => {
  await using b = await bench({ wallet: 40 });
  const rows = [1, 2, 3].map(row => createRow(b.bin, row, cents(2000)));
  const run = await b.journal.begin(planOf(rows));
  expect(await run.perform(1)).toMatchObject({ outcome: 'done' });
  expect(await run.perform(2)).toMatchObject({ outcome: 'done' });
  expect(await run.perform(3)).toMatchObject({ outcome: 'refused', error: { kind: 'insufficient_funds' } });
  expect(await run.finish()).toMatchObject({ ended: false, counts: { done: 2, refused: 1 }, cents: 4000 });
  await run[Symbol.asyncDispose]();
  const [first] = await b.cards();
  await b.service.send('cards.terminate', { card_id: first?.id ?? '' });
  await using resumed = await b.journal.resume(run.op);
  expect([...resumed.rows].map(({ state }) => state)).toEqual(['done', 'done', 'open']);
  expect(await resumed.perform(3)).toMatchObject({ outcome: 'done' });
  expect(b.proxy.posts().at(-1)?.key).toBe(`${run.op}.3.2`);
  expect(await resumed.finish()).toMatchObject({ ended: true, objections: [] });
  await resumed[Symbol.asyncDispose]();
  await expect(b.journal.begin(planOf(rows))).rejects.toThrow(/finished less than 24 hours ago/);
  await using again = await b.journal.begin(planOf(rows, { again: true }));
  expect(again.op).not.toBe(run.op);
});

test('rows at once share the lock and the file, and all come out', async () => {
  await using b = await bench();
  const rows = Array.from({ length: 12 }, (_, index) => createRow(b.bin, index + 1, cents(100 + index)));
  await using run = await b.journal.begin(planOf(rows));
  const outcomes = await Promise.all(rows.map(({ row }) => run.perform(row)));
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(rows.map(() => 'done'));
  expect(await run.finish()).toMatchObject({ ended: true, objections: [], cents: 1266 });
  expect(await b.cards()).toHaveLength(12);
});

test('a row that is sent again and refused for another reason says both: why it is unknown, and what came then', async () => {
  await using b = await bench({ capability: { ...honoured, ttl_ms: DAY }, skipsPauses: true });
  b.proxy.fail('POST', /\/fund$/, 'drop-after', ...new Array<'html-502'>(20).fill('html-502'));
  await using made = await b.journal.begin(planOf([createRow(b.bin)]));
  const card = String((await made.perform(1)).cardId);
  const told: (string | undefined)[] = [];
  let op = '';
  {
    await using run = await b.journal.begin(planOf([fundRow(card)]));
    op = run.op;
    told.push(String((await run.perform(1)).error?.facts.evidence?.['reason']));
  }
  for (const _ of [1, 2]) {
    await using run = await b.journal.resume(op);
    told.push(String((await run.perform(1)).error?.facts.evidence?.['reason']));
  }
  for (const reason of told) expect(reason).toMatch(/^[^;]*(?:reset|closed)[^;]*; asked again: [^;]*502[^;]*$/);
});
