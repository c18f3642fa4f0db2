/**
 * What a key is worth: its age, its answers, its bytes (docs/design/reliability.md, section 3;
 * docs/design/security.md, A6, A9, A26).
 */
import { describe, expect, it, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { keyIsYoung, quietPeriodMs } from '../../src/journal/execution/policy.ts';
import { bench, createRow, fundRow, planOf } from './bench.ts';

const honoured = { key: 'honoured', ttl_ms: null, proved_ms: 5_000, at: 0 } as const;
const HOUR = 3_600_000;
const createPath = /\/cards$/;

describe('the window of a key', () => {
  const sentAt = Date.parse('2026-11-20T14:00:00Z');
  const age = (hours: number, more = {}) => ({ now: sentAt + hours * HOUR, drift: 0, sentAt, latest: sentAt, ...more });

  it('is half of what the service remembers, half a day at most, and ten minutes where that is not told', () => {
    const young = (ttl_ms: number | null, hours: number) => keyIsYoung({ ...honoured, ttl_ms }, age(hours));
    expect([young(null, 0.16), young(null, 1 / 6), young(72 * HOUR, 11.99), young(72 * HOUR, 12)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect([young(2 * HOUR, 0.99), young(2 * HOUR, 1)]).toEqual([true, false]);
    expect([keyIsYoung({ key: 'unknown' }, age(0)), keyIsYoung({ key: 'ignored', at: 0 }, age(0))]).toEqual([
      false,
      false,
    ]);
  });

  it('is over when the clock cannot be believed: it drifts, runs behind the sending or behind the journal', () => {
    for (const drift of [60_001, -60_001]) expect(keyIsYoung(honoured, age(0.1, { drift }))).toBe(false);
    expect(keyIsYoung(honoured, age(0.1, { drift: 60_000 }))).toBe(true);
    expect(keyIsYoung(honoured, age(-0.01))).toBe(false);
    expect(keyIsYoung(honoured, age(0.1, { latest: sentAt + 2 * HOUR }))).toBe(false);
  });

  it('is not waited for in the sandbox, and twice the longest write elsewhere', () => {
    expect([quietPeriodMs('sandbox', 75_000), quietPeriodMs('test', 75_000), quietPeriodMs('live', 400)]).toEqual([
      0, 150_000, 150_000,
    ]);
    expect(quietPeriodMs('live', 200_000)).toBe(400_000);
  });
});

test('a clock set back behind the journal makes no old key young: a fund is not sent again', async () => {
  await using b = await bench({ capability: honoured });
  const made = await b.journal.begin(planOf([createRow(b.bin)]));
  const { cardId = '' } = await made.perform(1);
  await made[Symbol.asyncDispose]();
  b.proxy.fail('POST', /\/fund$/, 'drop-before', 'drop-before', 'drop-before');
  const run = await b.journal.begin(planOf([fundRow(cardId)], { command: 'cards fund' }));
  expect(await run.perform(1)).toMatchObject({ outcome: 'unknown' });
  await run[Symbol.asyncDispose]();
  // Looked at thirty hours later: the key is old, and the journal says what time it was.
  b.clock.advance(30 * HOUR);
  const late = await b.journal.resume(run.op);
  expect(await late.perform(1)).toMatchObject({ outcome: 'unknown' });
  await late[Symbol.asyncDispose]();
  const posts = b.proxy.posts().length;
  b.clock.jump(-29 * HOUR);
  await using back = await b.another().resume(run.op);
  expect(await back.perform(1)).toMatchObject({ outcome: 'unknown' });
  expect(b.proxy.posts()).toHaveLength(posts);
});

test('a service that answers 502 for ever under the key: two more tries, then the list decides', async () => {
  await using b = await bench({ capability: honoured });
  b.proxy.fail('POST', createPath, ...Array.from({ length: 9 }, () => 'html-502' as const));
  await using run = await b.journal.begin(planOf([createRow(b.bin)]));
  expect(await run.perform(1)).toMatchObject({ outcome: 'done', reread: true });
  expect(new Set(b.proxy.posts().map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
  expect(b.proxy.posts()).toHaveLength(3);
  expect(await b.cards()).toHaveLength(1);
});

test('a newer build sends what the older one has written down, byte by byte', async () => {
  await using b = await bench({ capability: honoured });
  b.proxy.fail('POST', createPath, 'drop-before', 'drop-before', 'drop-before');
  const run = await b.journal.begin(planOf([createRow(b.bin)]));
  expect(await run.perform(1)).toMatchObject({ outcome: 'unknown' });
  await run[Symbol.asyncDispose]();
  const [sent] = b.proxy.posts();
  // This one would write the very same create another way.
  const service = b.connect({ 'cards.create': { method: 'PUT', path: '/v2/issue', body: { version: 2 } } });
  await using again = await b.another({ service }).resume(run.op);
  expect(await again.perform(1)).toMatchObject({ outcome: 'done' });
  await service.close();
  const last = b.proxy.posts().at(-1);
  expect([last?.path, last?.body, last?.key]).toEqual([sent?.path, sent?.body, sent?.key]);
  expect(await b.cards()).toHaveLength(1);
});

test('keys ignored, a wallet drained meanwhile: its refusal says nothing about the try before', async () => {
  await using b = await bench({ wallet: 30, stripKeys: true });
  b.proxy.fail('POST', createPath, 'drop-before');
  const run = await b.journal.begin(planOf([createRow(b.bin)], { bulk: true }));
  expect(await run.perform(1)).toMatchObject({ outcome: 'unknown' });
  await run[Symbol.asyncDispose]();
  await b.service.send('cards.create', { bin_id: b.bin, amount: cents(2000) }, { key: 'somebody-else' });
  await using resumed = await b.journal.resume(run.op, { resendAbsent: true });
  const { outcome, error } = await resumed.perform(1);
  expect([outcome, error?.exitCode]).toEqual(['unknown', 11]);
  expect(error?.message).toMatch(/asked again: .*insufficient_funds/);
  expect(await resumed.finish()).toMatchObject({ ended: false, counts: { unknown: 1, refused: 0 } });
});

test('a single create whose wallet has moved is not sent again, also where it was asked for: it may be its card', async () => {
  await using b = await bench({ stripKeys: true });
  b.proxy.fail('POST', createPath, 'drop-before');
  const run = await b.journal.begin(planOf([createRow(b.bin)]));
  expect(await run.perform(1)).toMatchObject({ outcome: 'unknown' });
  await run[Symbol.asyncDispose]();
  await b.service.send('cards.create', { bin_id: b.bin, amount: cents(2500) }, { key: 'somebody-else' });
  const sent = b.proxy.posts().length;
  await using resumed = await b.journal.resume(run.op, { resendAbsent: true });
  const { outcome, next, error } = await resumed.perform(1);
  expect([outcome, next, b.proxy.posts().length - sent]).toEqual(['unknown', 'decide', 0]);
  expect(error?.facts.evidence).toMatchObject({
    verdict: 'probably done',
    verdict_because: 'the wallet holds $25.00 less, its amount',
  });
});
