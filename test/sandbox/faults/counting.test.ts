/** Which rule meets what, and how matches count down: over processes, by nth and times, by the seed. */
import { describe, expect, it } from 'vitest';
import type { FaultMatch } from '../../../src/contract/sandbox/faults.ts';
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
    const rule = (await here.admin('GET', '/faults')).json.data.find((each: { id: string }) => each.id === id);
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
});
