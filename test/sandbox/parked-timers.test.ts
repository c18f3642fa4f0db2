/** A timer whose action throws is parked with what it said; requests, and the timers behind it, go on. */
import { expect, test } from 'vitest';
import { TIMER_ACTIONS } from '../../src/sandbox/account/challenges.ts';
import { schedule } from '../../src/sandbox/clock/clock.ts';
import { fakeService, NOON } from '../support/fake-service.ts';
import { ask, type Served } from '../support/sandbox-http.ts';

const ADMIN = '/_sandbox/v1';
const HOUR = 3_600_000;

const broken = {
  ...TIMER_ACTIONS,
  'of a bug': ({ sql }: { sql: Parameters<typeof schedule>[0] }) => {
    sql.run('update wallets set balance = balance + 1');
    throw new Error('the action does not work');
  },
};

async function holding(served: Served): Promise<string> {
  const bin_id = (await ask(served, { path: '/bins' })).json.data[0].id;
  const { json: card } = await ask(served, { method: 'POST', path: '/cards', body: { bin_id, amount: 50 } });
  const body = { card_id: card.id, amount: 20 };
  await ask(served, { method: 'POST', path: `${ADMIN}/simulate/authorizations`, body });
  return card.id;
}

const setBroken = (service: Awaited<ReturnType<typeof fakeService>>, due_at = NOON + HOUR) =>
  service.store.write(sql => schedule(sql, { kind: 'of a bug', ref: 'thing_1', due_at }));

test('requests go on, what it did is undone, and the timers behind it go off', async () => {
  await using service = await fakeService({ timerActions: broken });
  const card = await holding(service);
  await setBroken(service);
  service.clock.set(NOON + 8 * 24 * HOUR);
  const got = await ask(service, { path: `/cards/${card}` });
  expect([got.status, got.json.balance]).toEqual([200, 50]);
  expect(service.faults).toMatchObject([{ message: 'the action does not work' }]);
  const { json: status } = await ask(service, { path: `${ADMIN}/status` });
  expect(status).toMatchObject({
    ledger_ok: true,
    timers_parked: [
      { kind: 'of a bug', ref: 'thing_1', due_at: '2026-11-20T13:00:00Z', error: 'the action does not work' },
    ],
  });
  expect((await ask(service, { path: '/wallet' })).json.balance).toBe(950);
  // Told once: it is out of the way.
  expect(service.faults).toHaveLength(1);
});
