/** The clock of the sandbox (docs/design/sandbox.md, section 6): set, moved, and what happens on the way. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beginAdvance } from '../../src/sandbox/clock/clock.ts';
import { runTimersUntil } from '../../src/sandbox/service/service.ts';
import { fakeService, NOON } from '../support/fake-service.ts';
import { everyRow, tellLongHistory } from '../support/long-history.ts';
import { ask, type Served } from '../support/sandbox-http.ts';
import { isWhole } from '../support/whole.ts';

const ADMIN = '/_sandbox/v1';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const set = (served: Served, body: object) => ask(served, { method: 'PUT', path: `${ADMIN}/clock`, body });
const advance = (served: Served, body: object) => ask(served, { method: 'POST', path: `${ADMIN}/clock/advance`, body });
const shown = async (served: Served) => (await ask(served, { path: `${ADMIN}/clock` })).json;
const freeze = (served: Served) => set(served, { mode: 'frozen' });

async function holding(served: Served): Promise<string> {
  const bin_id = (await ask(served, { path: '/bins' })).json.data[0].id;
  const { json: card } = await ask(served, { method: 'POST', path: '/cards', body: { bin_id, amount: 50 } });
  const body = { card_id: card.id, amount: 20 };
  await ask(served, { method: 'POST', path: `${ADMIN}/simulate/authorizations`, body });
  return card.id;
}

/** What fired, and every row of the store, behind these moves of a clock over a long history, s. */
async function ended(spans: readonly number[]) {
  await using service = await fakeService();
  await freeze(service);
  await tellLongHistory(service);
  const fired = [];
  for (const s of spans) fired.push(...(await advance(service, { by: `${s}s` })).json.fired);
  expect(service.faults).toEqual([]);
  return { fired, rows: await everyRow(service) };
}

describe('clock set', () => {
  test('what became due by it has happened before the next request, at its own time', async () => {
    await using service = await fakeService();
    await freeze(service);
    const card = await holding(service);
    await set(service, { mode: 'frozen', at: '2026-12-24T00:00:00Z' });
    expect((await ask(service, { path: `/cards/${card}` })).json.balance).toBe(50);
    const { json } = await ask(service, { path: `${ADMIN}/ledger/entries?account=hold:${card}` });
    expect(json.data.at(-1)).toMatchObject({ kind: 'release', created_at: '2026-11-27T12:00:00Z' });
  });
});

describe('clock advance', () => {
  test('a second one at the same time is 409, and one after it is not', async () => {
    await using service = await fakeService();
    await freeze(service);
    const body = { currency: 'usdt', amount: 5 };
    await ask(service, { method: 'POST', path: `${ADMIN}/simulate/deposits`, body });
    const both = await Promise.all([advance(service, { by: '1h' }), advance(service, { by: '1h' })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await shown(service)).toMatchObject({ now: '2026-11-20T13:00:00Z' });
    expect((await advance(service, { by: '1h' })).status).toBe(200);
  });

  test('one that a dead process left holds nothing up; while a living one moves it, nothing else sets the clock', async () => {
    await using service = await fakeService({ isGone: owner => owner === 'dead' });
    const left = (owner: string) =>
      service.store.write(sql => beginAdvance(sql, { owner, token: `of ${owner}`, moves_to: NOON + DAY }));
    await ask(service, { method: 'POST', path: `${ADMIN}/snapshots`, body: { name: 'before' } });
    const others = {
      advance: () => advance(service, { by: '1h' }),
      set: () => set(service, { mode: 'frozen' }),
      restore: () => ask(service, { method: 'POST', path: `${ADMIN}/snapshots/before/restore` }),
    };
    for (const [name, asked] of Object.entries(others)) {
      await left('living');
      expect([name, (await asked()).status]).toEqual([name, 409]);
      await left('dead');
      expect([name, (await asked()).status]).toEqual([name, 200]);
    }
  });

  test('one that is under way is shown; of one that a dead process left the clock stands where it got to', async () => {
    await using service = await fakeService({ isGone: owner => owner === 'dead' });
    await freeze(service);
    await holding(service);
    const left = (owner: string) =>
      service.store.write(sql => beginAdvance(sql, { owner, token: 'x', moves_to: NOON + DAY }));
    await left('living');
    expect(await shown(service)).toMatchObject({ now: '2026-11-20T12:00:00Z', moving_to: '2026-11-21T12:00:00Z' });
    await left('dead');
    expect(await shown(service)).toMatchObject({ now: '2026-11-20T12:00:00Z', moving_to: null });
    expect((await advance(service, { by: '1h' })).json).toMatchObject({ now: '2026-11-20T13:00:00Z' });
  });

  test('in two steps or in one, the whole store is the same', async () => {
    const seconds = fc.oneof(fc.integer({ min: 1, max: 1_500 }), fc.integer({ min: 1, max: 40 * 86_400 }));
    const same = fc.asyncProperty(seconds, seconds, async (a, b) => {
      expect(await ended([a, b])).toEqual(await ended([a + b]));
    });
    await fc.assert(same, { numRuns: isWhole ? 100 : 4, seed: 7 });
  });
});

test('a sandbox that is left running needs no request for what is due', async () => {
  await using service = await fakeService();
  const card = await holding(service);
  service.clock.set(NOON + 8 * DAY);
  const ending = new AbortController();
  const running = runTimersUntil(service.parts, ending.signal);
  const hold = () => service.store.read(sql => sql.get<{ hold: number }>('select hold from cards where id = ?', card));
  await expect.poll(hold).toEqual({ hold: 0 });
  ending.abort();
  await running;
  expect(service.faults).toEqual([]);
});
