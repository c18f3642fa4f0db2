/** Whoever looks changes nothing: what a sandbox holds is the same with every look and without. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Operation } from '../../../src/contract/operation.ts';
import { ADMIN_OPERATIONS } from '../../../src/contract/sandbox/admin.ts';
import { startSandbox } from '../../../src/sandbox/serving/start.ts';
import { fakeService } from '../../support/fake-service.ts';
import { tellLongHistory } from '../../support/long-history.ts';
import { ask, type Served } from '../../support/sandbox-http.ts';

const ADMIN = '/_sandbox/v1';
const LOOKS = Object.entries(ADMIN_OPERATIONS as Readonly<Record<string, Operation>>).filter(
  ([, row]) => row.leavesNoTrace === true,
);

async function exported(served: Served): Promise<string> {
  const headers = { authorization: `Bearer ${served.adminToken.expose()}` };
  return (await fetch(`${new URL(served.url).origin}${ADMIN}/export`, { headers })).text();
}

/** An id of every kind that a look may name. */
async function named(served: Served): Promise<Readonly<Record<string, string>>> {
  const first = async (path: string, field = 'id') => (await ask(served, { path })).json.data[0]?.[field] ?? 'none';
  return {
    card_id: await first('/cards'),
    transaction_id: await first('/transactions'),
    request_id: await first(`${ADMIN}/requests`, 'request_id'),
    name: 'before',
  };
}

async function lookAtAll(served: Served, ids: Readonly<Record<string, string>>): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const [, row] of LOOKS) {
    const path = row.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none');
    const { status } = await ask(served, { method: row.method, path: `${ADMIN}${path}` });
    statuses.push(status);
  }
  return statuses;
}

it('answers every look about a long history', async () => {
  await using service = await fakeService();
  await tellLongHistory(service);
  await ask(service, { method: 'POST', path: `${ADMIN}/snapshots`, body: { name: 'before' } });
  const ids = await named(service);
  expect(LOOKS.length).toBeGreaterThan(6);
  expect(await lookAtAll(service, ids)).toEqual(LOOKS.map(() => 200));
  expect(service.faults).toEqual([]);
});

const STEP = fc.oneof(
  fc.record({ do: fc.constant('purchase' as const), amount: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ do: fc.constant('fund' as const), amount: fc.integer({ min: 1, max: 9 }) }),
  fc.constantFrom({ do: 'freeze' as const }, { do: 'unfreeze' as const }, { do: 'read' as const }),
  fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 9 }) }),
);
type Step = typeof STEP extends fc.Arbitrary<infer S> ? S : never;

/** One history; `looks` says behind which of its steps somebody looks at everything. */
async function told(steps: readonly Step[], looks: readonly boolean[]): Promise<string> {
  await using sandbox = await startSandbox({
    seed: 5,
    wallet: 500,
    deliveries: 'queued',
    clock: { mode: 'frozen', at: '2026-11-20T12:00:00Z' },
    rateLimits: false,
  });
  const post = (path: string, body?: unknown) => ask(sandbox, { method: 'POST', path, body });
  const bin_id = (await ask(sandbox, { path: '/bins' })).json.data[0].id;
  const card_id = (await post('/cards', { bin_id, amount: 100 })).json.id;
  const rule = { match: { operation: 'cards.fund', nth: 2 }, phase: 'before', action: { kind: 'status', code: 500 } };
  await post(`${ADMIN}/faults`, rule);
  await post(`${ADMIN}/snapshots`, { name: 'before' });
  for (const [nth, step] of steps.entries()) {
    if (step.do === 'purchase') await post(`${ADMIN}/simulate/authorizations`, { card_id, amount: step.amount });
    else if (step.do === 'fund') await post(`/cards/${card_id}/fund`, { amount: step.amount });
    else if (step.do === 'wait') await post(`${ADMIN}/clock/advance`, { by: `${step.days}d` });
    else if (step.do === 'read') await ask(sandbox, { path: `/cards/${card_id}` });
    else await post(`/cards/${card_id}/${step.do}`);
    if (looks[nth])
      await lookAtAll(sandbox, { card_id, transaction_id: 'txn_none', request_id: 'none', name: 'before' });
  }
  return await exported(sandbox);
}

it('leaves an export as it is, byte for byte, wherever in a history somebody looks', async () => {
  const histories = fc.array(STEP, { minLength: 1, maxLength: 12, size: 'max' });
  await fc.assert(
    fc.asyncProperty(histories, fc.infiniteStream(fc.boolean()), async (steps, stream) => {
      const looks = steps.map(() => stream.next().value === true);
      expect(await told(steps, looks)).toBe(await told(steps, []));
    }),
    { numRuns: 8 },
  );
});

it('fires no timer that is due, and no number is missing behind a look', async () => {
  await using service = await fakeService();
  const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
  const card_id = (await ask(service, { method: 'POST', path: '/cards', body: { bin_id, amount: 50 } })).json.id;
  await ask(service, { method: 'POST', path: `${ADMIN}/simulate/authorizations`, body: { card_id, amount: 5 } });
  service.clock.set(service.clock.now() + 40 * 86_400_000);
  const { json } = await ask(service, { path: `${ADMIN}/timers` });
  expect(json.data).toMatchObject([{ kind: 'authorization.expiry', state: 'due', error: null }]);
  const { json: again } = await ask(service, { path: `${ADMIN}/timers` });
  expect(again).toEqual(json);
});
