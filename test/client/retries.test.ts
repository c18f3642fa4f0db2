import { afterEach, describe, expect, it, test } from 'vitest';
import { retryAfterMs } from '../../src/client/wire.ts';
import { cents } from '../../src/core/money.ts';
import type { Clock } from '../../src/platform/host.ts';
import { json, type Served, serve, speak, thrown } from './served.ts';

let served: Served | undefined;
afterEach(() => served?.close());

describe('Retry-After', () => {
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT';
  it.each<[string, number | undefined]>([
    ['0', 0],
    ['1', 1_000],
    ['  7 ', 7_000],
    ['999999999', 999_999_999_000],
    ['9999999999', undefined],
    ['-5', undefined],
    ['+5', undefined],
    ['1.5', 1_500],
    ['1.5.5', undefined],
    ['1e3', undefined],
    ['soon', undefined],
    ['', undefined],
    ['3, 5', undefined],
    ['Wed, 21 Oct 2026 07:28:09 GMT', 9_000],
    ['Wed, 21 Oct 2026 07:27:59 GMT', undefined],
    ['2026-10-21T07:28:09Z', undefined],
  ])('%j', (value, ms) => {
    expect(retryAfterMs({ 'retry-after': value, date }, 'Retry-After')).toBe(ms);
  });

  it.each([
    ['61', 1, []],
    ['60', 3, [60_000, 60_000]],
  ])('of %s s: %i requests', async (wait, requests, waited) => {
    served = await serve((_, r) => json(r, 429, { error: 'rate_limited' }, { 'retry-after': wait }));
    const waits: number[] = [];
    const { service } = speak(served.baseUrl, { clock: skipping(waits) });
    const failed = await thrown(service.send('wallet.get', {}));
    expect([failed.exitCode, failed.facts.outcome, failed.facts.retryAfterMs]).toEqual([
      7,
      'refused',
      Number(wait) * 1000,
    ]);
    expect(served.seen).toHaveLength(requests);
    expect(waits.filter(ms => ms === 60_000)).toEqual(waited);
    await service.close();
  });

  it('on a 503 moves a read to wait, and a write to nothing', async () => {
    served = await serve((_, r) => json(r, 503, { error: 'service_unavailable' }, { 'retry-after': '2' }));
    const waits: number[] = [];
    const { service } = speak(served.baseUrl, { clock: skipping(waits) });
    await thrown(service.send('cards.fund', { card_id: 'card_1', amount: cents(100) }));
    expect([served.seen.filter(({ method }) => method === 'POST').length, waits.includes(2_000)]).toEqual([1, false]);
    await thrown(service.send('wallet.get', {}));
    expect(waits.filter(ms => ms === 2_000)).toHaveLength(2);
    await service.close();
  });
});

test('a pause that the service asked for holds every read up', async () => {
  let limited = true;
  served = await serve((_, r) => {
    if (!limited) return json(r, 200, { balance: 1, currency: 'USD' });
    limited = false;
    return json(r, 429, { error: 'rate_limited' }, { 'retry-after': '3' });
  });
  const waits: number[] = [];
  const { service } = speak(served.baseUrl, { clock: skipping(waits) });
  const first = service.send('wallet.get', {});
  await expect.poll(() => waits).toEqual([3_000]);
  await Promise.all([first, service.send('wallet.get', {})]);
  expect(served.seen).toHaveLength(3);
  await service.close();
});

/** Time that only pauses move; a deadline, longer than any of them, is never reached. */
function skipping(waits: number[]): Clock {
  let passed = 0;
  return {
    now: () => Date.now(),
    monotonic: () => passed,
    sleep(ms, signal) {
      if (ms > 60_000 || ms === 30_000)
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
      waits.push(ms);
      passed += ms;
      return Promise.resolve();
    },
  };
}
