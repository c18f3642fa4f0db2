/** What becomes of a delivery by what its receiver answers, and when it goes again. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DELIVERY_GIVEN_UP, DELIVERY_RETRIES } from '../../../src/contract/spans.ts';
import { retryWait } from '../../../src/sandbox/delivery/send.ts';
import { receiver } from '../../support/receiver.ts';
import { scene } from './scene.ts';

const START = Date.parse('2026-11-20T14:00:00Z');
const seconds = (iso: string) => (Date.parse(iso) - START) / 1000;

describe('the schedule', () => {
  it('has the steps of the assumption, each with at most a tenth more or less, fixed by the seed', () => {
    expect(DELIVERY_RETRIES.map(ms => ms / 1000)).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 36_000]);
    expect(DELIVERY_RETRIES).toHaveLength(7);
    expect(DELIVERY_GIVEN_UP).toBe(5 * 86_400_000);
    fc.assert(
      fc.property(fc.nat(), fc.string(), fc.integer({ min: 1, max: 7 }), (seed, delivery, attempt) => {
        const wait = retryWait(attempt, { seed, delivery }) ?? 0;
        const plain = DELIVERY_RETRIES[attempt - 1] ?? 0;
        expect(Math.abs(wait - plain)).toBeLessThanOrEqual(plain / 10);
        expect(retryWait(attempt, { seed, delivery })).toBe(wait);
      }),
    );
    expect(retryWait(8, { seed: 1, delivery: 'dlv_1' })).toBeUndefined();
    const waits = Array.from({ length: 50 }, (_, seed) => retryWait(1, { seed, delivery: 'dlv_1' }));
    expect(new Set(waits).size).toBeGreaterThan(40);
  });
});

it('tries eight times at the times of the schedule while the clock is moved, and then fails', async () => {
  const run = async (seed: number) => {
    await using inbox = await receiver(503);
    await using stage = await scene({ seed, deliveries: 'live' });
    await stage.admin('POST', '/clock/advance', { by: '1s' });
    await stage.subscribe(inbox.url);
    await stage.event();
    const { fired } = (await stage.admin('POST', '/clock/advance', { by: '2d' })).json;
    const [delivery] = await stage.deliveries();
    expect(delivery).toMatchObject({ state: 'failed', attempt: 8, due_at: null });
    expect(new Set(inbox.received.map(({ bytes }) => bytes.toString())).size).toBe(1);
    expect(inbox.received.map(({ headers }) => headers['x-webhook-attempt'])).toEqual([...'12345678']);
    const times = delivery.attempts.map(({ at }: { at: string }) => seconds(at) - 1);
    const late = fired.filter(({ kind }: { kind: string }) => kind === 'delivery');
    expect(late.every(({ ref }: { ref: string }) => ref === delivery.id)).toBe(true);
    return times as number[];
  };
  const times = await run(7);
  const plain = [0, 5, 305, 2105, 9305, 27_305, 63_305, 99_305];
  for (const [nth, time] of times.entries()) expect(Math.abs(time - (plain[nth] ?? 0))).toBeLessThan(10_000);
  expect(await run(7)).toEqual(times);
  expect(await run(8)).not.toEqual(times);
});

it('takes 2xx for delivered, everything else for a failure, and follows nothing', async () => {
  await using other = await receiver();
  const statuses = [200, 204, 299, 302, 307, 404, 429, 500];
  let at = 0;
  await using inbox = await receiver(response =>
    response.writeHead(statuses[at++] ?? 0, { location: other.url }).end(),
  );
  await using stage = await scene();
  await stage.subscribe(inbox.url);
  for (const _ of statuses) await stage.event();
  await stage.drain();
  const told = (await stage.deliveries()).toReversed().map(({ state, attempts }) => [attempts[0].status, state]);
  expect(told).toEqual(statuses.map(status => [status, status < 300 ? 'delivered' : 'queued']));
  expect([inbox.received.length, other.received.length]).toEqual([statuses.length, 0]);
});

it('disables a subscription that answers 410 and cancels what waits for it', async () => {
  await using inbox = await receiver(410);
  await using stage = await scene();
  const hook = await stage.subscribe(inbox.url);
  await stage.event();
  await stage.event();
  await stage.drain();
  expect((await stage.deliveries()).map(({ state, attempt }) => [state, attempt])).toEqual([
    ['cancelled', 0],
    ['failed', 1],
  ]);
  expect((await stage.get(`/webhooks/${hook}`)).json.status).toBe('disabled');
  await stage.event();
  expect(await stage.deliveries()).toHaveLength(2);
});

it('gives a receiver that does not answer the limit and no more', async () => {
  await using inbox = await receiver(() => undefined);
  await using stage = await scene({ deliveryLimits: { attempt: 150 } });
  await stage.subscribe(inbox.url);
  await stage.event();
  const before = performance.now();
  await stage.drain();
  expect(performance.now() - before).toBeLessThan(2_000);
  const [{ state, attempts }] = await stage.deliveries();
  expect(state).toBe('queued');
  expect(attempts[0]).toMatchObject({ status: null, error: 'no answer within 0.15 s', address: '127.0.0.1' });
  expect(attempts[0].duration_ms).toBeGreaterThanOrEqual(140);
});

it('disables after five days of nothing but failures, and a success in between starts the count anew', async () => {
  const fate = async (answerOnDay3: number) => {
    await using inbox = await receiver(500);
    await using stage = await scene({ deliveries: 'live' });
    const hook = await stage.subscribe(inbox.url);
    for (let day = 0; day < 6; day += 1) {
      inbox.answer = day === 3 ? answerOnDay3 : 500;
      await stage.event();
      await stage.admin('POST', '/clock/advance', { by: '1d' });
    }
    return (await stage.get(`/webhooks/${hook}`)).json.status;
  };
  expect(await fate(500)).toBe('disabled');
  expect(await fate(200)).toBe('active');
});
