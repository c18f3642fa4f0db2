/** Whoever looks changes nothing: what a sandbox holds is the same with every look and without. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Operation } from '../../../src/contract/operation.ts';
import { ADMIN_OPERATIONS } from '../../../src/contract/sandbox/admin.ts';
import { connectTo } from '../../../src/engine/open.ts';
import type { ScenarioPlayer, ScenarioRun, Stage } from '../../../src/sandbox/service/service.ts';
import { ARCHIVED } from '../../../src/sandbox/store/schema.ts';
import { fakeService } from '../../support/fake-service.ts';
import { tellLongHistory } from '../../support/long-history.ts';
import { ask, type Served } from '../../support/sandbox-http.ts';
import { startSandbox } from '../../support/start-sandbox.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { isWhole } from '../../support/whole.ts';

interface NotingPlayer extends ScenarioPlayer {
  readonly played: { readonly text: string; readonly stage: Stage }[];
}

/** Text that begins with `bad` has one problem; a run has ended as expected at once. */
function notingPlayer(): NotingPlayer {
  const played: NotingPlayer['played'] = [];
  const run: ScenarioRun = { id: 'run_1', state: 'as_expected', steps: [], says: null };
  return {
    played,
    examples: async () => [{ name: 'one.yaml', text: 'scenario: One' }],
    check: async text =>
      text.startsWith('bad')
        ? { name: null, steps: 0, problems: [{ line: 2, column: 3, text: 'not a step' }] }
        : { name: 'One', steps: 1, problems: [] },
    play: async (text, stage) => {
      played.push({ text, stage });
      return run;
    },
    find: id => (id === run.id ? run : undefined),
  };
}

const ADMIN = '/_sandbox/v1';
const LOOKS = Object.entries(ADMIN_OPERATIONS as Readonly<Record<string, Operation>>).filter(
  ([, row]) => row.leavesNoTrace === true,
);

/** All rows of an export, as text. */
async function exported(served: Served): Promise<readonly string[]> {
  const { url, adminToken } = served;
  const headers = { authorization: `Bearer ${adminToken.expose()}` };
  const bytes = Buffer.from(await (await fetch(`${new URL(url).origin}${ADMIN}/export`, { headers })).arrayBuffer());
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'store.db');
  await writeFile(path, bytes.subarray(bytes.indexOf(10) + 1));
  const store = connectTo(path);
  try {
    return ARCHIVED.flatMap(table => {
      const rows = store.prepare(`select * from ${table}`).all();
      return rows.map(row => `${table} ${JSON.stringify(row)}`).sort();
    });
  } finally {
    store.close();
  }
}

const RULE = { match: { operation: 'cards.fund', nth: 2 }, phase: 'before', action: { kind: 'status', code: 500 } };
const addFault = (served: Served) => ask(served, { method: 'POST', path: `${ADMIN}/faults`, body: RULE });

/** An id of every kind that a look may name. */
async function named(served: Served): Promise<Readonly<Record<string, string>>> {
  const first = async (path: string, field = 'id') => (await ask(served, { path })).json.data[0]?.[field] ?? 'none';
  return {
    card_id: await first('/cards'),
    transaction_id: await first('/transactions'),
    request_id: await first(`${ADMIN}/requests`, 'request_id'),
    delivery_id: await first(`${ADMIN}/deliveries`),
    webhook_id: await first('/webhooks'),
    run_id: 'run_1',
    name: 'before',
    fault_id: (await addFault(served)).json.id,
  };
}

/** Looks that are asked with a body. */
const BODIES: Readonly<Record<string, object>> = {
  'scenarios.check': { text: 'scenario: none' },
};

async function lookAtAll(served: Served, ids: Readonly<Record<string, string>>): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const [name, row] of LOOKS) {
    const path = row.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none');
    const body = BODIES[name];
    const { status } = await ask(served, { method: row.method, path: `${ADMIN}${path}`, ...(body && { body }) });
    statuses.push(status);
  }
  return statuses;
}

const STEP = fc.oneof(
  fc.record({ do: fc.constant('purchase' as const), amount: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ do: fc.constant('fund' as const), amount: fc.integer({ min: 1, max: 9 }) }),
  fc.constantFrom({ do: 'freeze' as const }, { do: 'unfreeze' as const }, { do: 'read' as const }),
  fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 9 }) }),
);
type Step = typeof STEP extends fc.Arbitrary<infer S> ? S : never;

/** One history; `looks` says behind which of its steps somebody looks at everything. */
async function told(steps: readonly Step[], looks: readonly boolean[]): Promise<readonly string[]> {
  await using sandbox = await startSandbox({
    seed: 5,
    wallet: 500,
    deliveries: 'on-deliver',
    clock: { mode: 'frozen', at: '2026-11-20T12:00:00Z' },
    rateLimits: false,
  });
  const post = (path: string, body?: unknown) => ask(sandbox, { method: 'POST', path, body });
  const bin_id = (await ask(sandbox, { path: '/bins' })).json.data[0].id;
  const card_id = (await post('/cards', { bin_id, amount: 100 })).json.id;
  const fault_id = (await addFault(sandbox)).json.id;
  await post(`${ADMIN}/snapshots`, { name: 'before' });
  for (const [nth, step] of steps.entries()) {
    if (step.do === 'purchase') await post(`${ADMIN}/simulate/authorizations`, { card_id, amount: step.amount });
    else if (step.do === 'fund') await post(`/cards/${card_id}/fund`, { amount: step.amount });
    else if (step.do === 'wait') await post(`${ADMIN}/clock/advance`, { by: `${step.days}d` });
    else if (step.do === 'read') await ask(sandbox, { path: `/cards/${card_id}` });
    else await post(`/cards/${card_id}/${step.do}`);
    if (looks[nth])
      await lookAtAll(sandbox, { card_id, transaction_id: 'txn_none', request_id: 'none', name: 'before', fault_id });
  }
  return await exported(sandbox);
}

/** Exports of random histories are the same, wherever in them somebody looks at everything. */
async function leavesExportsAlone(numRuns: number, maxLength: number): Promise<void> {
  const histories = fc.array(STEP, { minLength: 1, maxLength, size: 'max' });
  await fc.assert(
    fc.asyncProperty(histories, fc.infiniteStream(fc.boolean()), async (steps, stream) => {
      const looks = steps.map(() => stream.next().value === true);
      expect(await told(steps, looks)).toEqual(await told(steps, []));
    }),
    { numRuns },
  );
}

it('answers every look about a long history', async () => {
  await using service = await fakeService({ scenarios: notingPlayer() });
  await tellLongHistory(service);
  await ask(service, { method: 'POST', path: `${ADMIN}/snapshots`, body: { name: 'before' } });
  const ids = await named(service);
  expect(LOOKS.length).toBeGreaterThan(14);
  expect(await lookAtAll(service, ids)).toEqual(LOOKS.map(() => 200));
  expect(service.faults).toEqual([]);
});

it('leaves an export as it is, row for row, wherever in a history somebody looks', () =>
  isWhole ? leavesExportsAlone(100, 20) : leavesExportsAlone(3, 6));
