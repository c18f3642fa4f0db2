/** Between two attempts a key may have grown too old: a laptop that slept, a stopped process, a long Retry-After (A4, A24). */
import { describe, expect, test } from 'vitest';
import { keyIsYoung } from '../../src/journal/execution/policy.ts';
import type { Fault } from '../support/fault-proxy.ts';
import { type Bench, bench, createRow, fundRow, planOf } from './bench.ts';

const honoured = { key: 'honoured', ttl_ms: null, proved_ms: 5_000, at: 0 } as const;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const WAYS: Readonly<Record<string, (clock: Bench['clock']) => void>> = {
  'the process was stopped for eleven minutes': clock => clock.advance(11 * MINUTE),
  'the laptop slept, and the monotonic clock with it': clock => clock.jump(25 * HOUR),
  'time went on, and the wall clock was set back': clock => {
    clock.advance(25 * HOUR);
    clock.jump(-25 * HOUR);
  },
};

/** One fund; when its n-th request is on its way time passes, and the service forgets its keys. */
async function funded(faults: readonly Fault[], at: number, pass: (clock: Bench['clock']) => void) {
  await using b = await bench({ capability: honoured });
  const made = await b.journal.begin(planOf([createRow(b.bin)]));
  const { cardId = '' } = await made.perform(1);
  await made.finish();
  await made[Symbol.asyncDispose]();
  const before = b.proxy.posts().length;
  b.proxy.fail('POST', /\/fund$/, ...faults);
  const passed = b.proxy.posted(before + at).then(() => {
    pass(b.clock);
    b.proxy.forgetKeys();
  });
  await using run = await b.journal.begin(planOf([fundRow(cardId)], { command: 'cards fund' }));
  const { outcome } = await run.perform(1);
  await passed;
  return { outcome, requests: b.proxy.posts().length - before, wallet: await b.wallet() };
}

test.each(Object.entries(WAYS))('%s: not sent again', async (_name, pass) => {
  expect(await funded(['drop-after', 'drop-after'], 1, pass)).toEqual({ outcome: 'unknown', requests: 1, wallet: 970 });
});

test.each([
  ['drop-before', 2],
  ['drop-after', 1],
] as const)(
  'nine minutes, %s: looked for, and sent again under its key where nothing shows',
  async (fault, requests) => {
    const minutes = (clock: Bench['clock']) => clock.advance(9 * MINUTE);
    await using b = await bench({ capability: honoured, skipsPauses: true });
    b.proxy.fail('POST', /\/cards$/, fault);
    const passed = b.proxy.posted(1).then(() => minutes(b.clock));
    await using run = await b.journal.begin(planOf([createRow(b.bin)]));
    expect(await run.perform(1)).toMatchObject({ outcome: 'done' });
    await passed;
    expect([b.proxy.posts().length, await b.wallet()]).toEqual([requests, 975]);
  },
);

test('a throttled attempt behind a lost one does not make the key younger', async () => {
  const pass = (clock: Bench['clock']) => clock.advance(11 * MINUTE);
  expect(await funded(['drop-after', 'throttled'], 2, pass)).toEqual({ outcome: 'unknown', requests: 2, wallet: 970 });
});

describe('the age of a key', () => {
  const sentAt = Date.parse('2026-11-20T14:00:00Z');
  const age = { now: sentAt + MINUTE, drift: 0, sentAt, latest: sentAt };
  const day = { key: 'honoured', ttl_ms: 24 * HOUR, at: 0 } as const;

  test('is the greater of wall clock, monotonic clock and the clock of the service', () => {
    const young = (more: object) => keyIsYoung(honoured, { ...age, ...more });
    expect(young({ now: sentAt + 10 * MINUTE - 1 })).toBe(true);
    expect(young({ now: sentAt + 10 * MINUTE })).toBe(false);
    expect(young({ now: sentAt + 9.5 * MINUTE, drift: -MINUTE })).toBe(false);
    expect(young({ service: { sentAt: 0, now: 9 * MINUTE } })).toBe(true);
    expect(young({ service: { sentAt: 0, now: 10 * MINUTE } })).toBe(false);
    expect(young({ service: { sentAt: 2 * MINUTE, now: 0 } })).toBe(false);
  });

  test('that is known to last a day counts for half of it, by the clock of the service too', () => {
    const young = (hours: number, there: number) =>
      keyIsYoung(day, { ...age, now: sentAt + hours * HOUR, service: { sentAt: 0, now: there * HOUR } });
    expect([young(11, 11), young(12, 11), young(0, 12), young(0, 25)]).toEqual([true, false, false, false]);
  });

  test('of which the clock of the service is not known any more is over', () => {
    expect(keyIsYoung(day, { ...age, service: 'unknown' })).toBe(false);
  });
});
