/** Which rule meets what, and how matches count down: over processes, by nth and times, by the seed. */
import { describe, expect, it } from 'vitest';
import { FAULT_KINDS, type FaultMatch } from '../../../src/contract/sandbox/faults.ts';
import { drawnWait } from '../../../src/sandbox/faults/applied-fault.ts';
import { ask } from '../../support/sandbox-http.ts';
import { type Scene, scene } from './scene.ts';

const DOWN = { kind: 'status', code: 503 } as const;

/** Statuses of `count` reads of the card. */
async function reads(here: Scene, count: number, path = `/cards/${here.card}`): Promise<number[]> {
  const statuses: number[] = [];
  for (let done = 0; done < count; done += 1) statuses.push((await ask(here.sandbox, { path })).status);
  return statuses;
}

describe('counting', () => {
  it('begins with the nth match and ends after so many times', async () => {
    await using here = await scene();
    const id = await here.fault({ match: { operation: 'cards.get', nth: 3 }, action: DOWN, times: 2 });
    expect(await reads(here, 6)).toEqual([200, 200, 503, 503, 200, 200]);
    const rule = (await here.admin('GET', `/faults/${id}`)).json;
    expect(rule).toMatchObject({ active: false, seen: 4, struck: 2, times: 2 });
  });
  it('lets the seed decide a probability, the same in two runs', async () => {
    const run = async (seed: number) => {
      await using here = await scene({ seed, rateLimits: false });
      await here.fault({ match: { operation: 'cards.get', probability: 0.5 }, action: DOWN });
      return await reads(here, 60);
    };
    const [one, again, other] = [await run(7), await run(7), await run(8)];
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
    const struck = one.filter(status => status === 503).length;
    expect(struck).toBeGreaterThan(15);
    expect(struck).toBeLessThan(45);
  });

  it('asks rules in the order they were added, until one strikes', async () => {
    await using here = await scene();
    await here.fault({ match: { nth: 2 }, action: { kind: 'status', code: 500 }, times: 1 });
    await here.fault({ action: DOWN });
    expect(await reads(here, 3)).toEqual([503, 500, 503]);
  });

  it('ends at its time, by the clock of the sandbox', async () => {
    await using here = await scene();
    await here.fault({ action: DOWN, expires_at: '2026-11-20T15:00:00Z' });
    expect(await reads(here, 1)).toEqual([503]);
    await here.admin('POST', '/clock/advance', { by: '1h' });
    expect(await reads(here, 1)).toEqual([200]);
    expect((await here.admin('GET', '/faults')).json.data[0].active).toBe(false);
  });

  it('never meets the control surface, and nothing once removed', async () => {
    await using here = await scene();
    const id = await here.fault({ action: DOWN });
    expect((await here.admin('GET', '/status')).status).toBe(200);
    expect((await here.admin('DELETE', `/faults/${id}`)).status).toBe(204);
    expect((await here.admin('DELETE', `/faults/${id}`)).status).toBe(404);
    expect(await reads(here, 1)).toEqual([200]);
  });
});

it.each([{}, { action: 'reset' }, { action: {} }])('%j to the control surface: the kinds there are', async rule => {
  await using here = await scene();
  const { status, json } = await here.admin('POST', '/faults', rule);
  expect([status, json.error]).toEqual([400, 'invalid_request']);
  expect(json.message).toMatch(new RegExp(`^action.* ${FAULT_KINDS.join(', ')}, as in \\{"kind":"reset"\\}$`));
});

describe('matching', () => {
  it('by operation, path, method, card and key', async () => {
    await using here = await scene();
    const cases: readonly (readonly [FaultMatch, string, boolean])[] = [
      [{ operation: 'cards.list' }, '/cards', true],
      [{ operation: 'cards.list' }, '/wallet', false],
      [{ path: '/cards/{any}' }, '/cards/CARD', true],
      [{ path: '/cards/{any}' }, '/cards', false],
      [{ method: 'GET', path: '/wallet' }, '/wallet', true],
      [{ method: 'POST', path: '/wallet' }, '/wallet', false],
      [{ card_id: 'card_1' }, '/cards/card_1', true],
      [{ card_id: 'card_1' }, '/transactions?card_id=card_1', true],
      [{ card_id: 'card_2' }, '/cards/card_1', false],
      [{ key_prefix: 'bulk-' }, '/wallet', false],
    ];
    for (const [match, path, meets] of cases) {
      await here.fault({ match, action: DOWN });
      const [status] = await reads(here, 1, path.replace('CARD', here.card));
      expect([match, path, status === 503]).toEqual([match, path, meets]);
      await here.clearFaults();
    }
  });

  it('takes the beginning of the idempotency key, and the end of the API key', async () => {
    await using here = await scene();
    const post = async (idempotencyKey: string) => {
      const body = { bin_id: here.bin, amount: 5 };
      return (await ask(here.sandbox, { method: 'POST', path: '/cards', body, idempotencyKey })).status;
    };
    await here.fault({ match: { key_prefix: 'bulk-' }, action: DOWN });
    expect([await post('bulk-1'), await post('one')]).toEqual([503, 201]);
    await here.clearFaults();
    await here.fault({ match: { key_last4: here.sandbox.key.expose().slice(-4) }, action: DOWN });
    expect(await reads(here, 1)).toEqual([503]);
    await here.clearFaults();
    await here.fault({ match: { key_last4: '????' }, action: DOWN });
    expect(await reads(here, 1)).toEqual([200]);
  });
});

it('a delay is drawn from its source alone', () => {
  const latency = { lognormal: { median: 80, sigma: 0.4 } };
  const drawn = Array.from({ length: 400 }, (_, index) => drawnWait(latency, `s ${index}`)).sort((a, b) => a - b);
  expect(drawnWait(latency, 's 1')).toBe(drawnWait(latency, 's 1'));
  expect(drawn[200]).toBeGreaterThan(70);
  expect(drawn[200]).toBeLessThan(90);
  const even = Array.from({ length: 400 }, (_, index) => drawnWait({ uniform: { min: 5, max: 7 } }, `s ${index}`));
  expect(new Set(even)).toEqual(new Set([5, 6, 7]));
});
