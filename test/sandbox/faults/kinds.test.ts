/**
 * Every kind of fault against the real client: what becomes of a read and of a write, and how often each is asked.
 * Classes and codes are those of docs/design/reliability.md, sections 1 and 3.
 */
import { expect, it } from 'vitest';
import {
  FAULT_KINDS,
  type FaultPhase,
  isDeliveryKind,
  type RequestAction,
} from '../../../src/contract/sandbox/faults.ts';
import { ERROR_KINDS, type ErrorKind } from '../../../src/core/errors.ts';
import { cents } from '../../../src/core/money.ts';
import { thrown } from '../../client/served.ts';
import { ask } from '../../support/sandbox-http.ts';
import { type Scene, scene } from './scene.ts';

interface Expected {
  readonly action: RequestAction;
  /** Exit code of the read, and how often it was asked. */
  readonly read: readonly [exit: number, requests: number];
  /** Class and exit code of a fund that is sent once. */
  readonly write: readonly [outcome: string, exit: number, requests: number];
}

const LONG = 20_000;

const TABLE: readonly Expected[] = [
  { action: { kind: 'status', code: 500 }, read: [12, 3], write: ['ambiguous', 11, 1] },
  { action: { kind: 'status', code: 302 }, read: [12, 1], write: ['ambiguous', 11, 1] },
  { action: { kind: 'status', code: 429 }, read: [7, 3], write: ['throttled', 7, 1] },
  {
    action: { kind: 'status', code: 429, retry_after: 'Sat, 21 Nov 2099 10:00:00 GMT' },
    read: [7, 1],
    write: ['throttled', 7, 1],
  },
  { action: { kind: 'status', code: 401 }, read: [4, 1], write: ['refused', 4, 1] },
  { action: { kind: 'status', code: 200 }, read: [13, 1], write: ['ambiguous', 11, 1] },
  { action: { kind: 'latency', fixed: 10 }, read: [0, 1], write: ['done', 0, 1] },
  { action: { kind: 'reset' }, read: [12, 3], write: ['ambiguous', 11, 1] },
  { action: { kind: 'empty' }, read: [13, 1], write: ['ambiguous', 11, 1] },
  { action: { kind: 'truncate', bytes: 10 }, read: [12, 3], write: ['ambiguous', 11, 1] },
  { action: { kind: 'malformed' }, read: [13, 1], write: ['ambiguous', 11, 1] },
  { action: { kind: 'html', status: 200 }, read: [13, 1], write: ['ambiguous', 11, 1] },
  { action: { kind: 'drip', bytes_per_s: 20 }, read: [12, 3], write: ['ambiguous', 11, 1] },
  { action: { kind: 'hang', max_ms: LONG }, read: [12, 3], write: ['ambiguous', 11, 1] },
];

it('has a row for every kind that meets requests', () => {
  const kinds = FAULT_KINDS.filter(kind => !isDeliveryKind(kind));
  expect([...new Set(TABLE.map(({ action }) => action.kind))].toSorted()).toEqual(kinds.toSorted());
});

/** Short only where the wait is what is measured: a busy machine may take its time over the rest. */
const patience = ({ kind }: RequestAction) => (kind === 'hang' || kind === 'drip' ? SHORT : 5_000);
const SHORT = 150;

const exitOf = (kind: ErrorKind | undefined) => (kind === undefined ? 0 : ERROR_KINDS[kind].exit);

it.each(TABLE)('$action', async ({ action, read, write }) => {
  // Connections are cut on a socket as over TCP.
  const listen = action.kind === 'reset' ? 'socket' : 'tcp';
  await using here = await scene({ timeoutMs: patience(action), listen });
  await here.fault({ match: { operation: 'cards.get' }, action });
  const asked = here.service.send('cards.get', { card_id: here.card });
  const exit = read[0] === 0 ? await asked.then(() => 0) : exitOf((await thrown(asked)).kind);
  expect([exit, (await here.requests('cards.get')).length]).toEqual(read);
  await here.clearFaults();
  await funded(here, { action, phase: 'after_commit', write });
  // The work was done all the same, once for all that were sent under the key.
  expect((await here.balances()).card).toBe(105);
  expect(await here.broken()).toEqual([]);
});

interface Funding {
  readonly action: RequestAction;
  readonly phase: FaultPhase;
  readonly write: Expected['write'];
}

async function funded(here: Scene, { action, phase, write }: Funding): Promise<void> {
  await here.fault({ match: { operation: 'cards.fund' }, phase, action });
  const attempt = await here.attempt('cards.fund', { card_id: here.card, amount: cents(500) });
  const requests = await here.requests('cards.fund');
  expect([attempt.class, exitOf(attempt.error?.kind), requests.length]).toEqual(write);
  expect(requests.map(({ fault }) => fault)).toEqual(requests.map(() => `${phase} ${action.kind}`));
  await here.clearFaults();
}

it('carries out late what was held up before its work, although nobody waits any more', async () => {
  await using here = await scene({ timeoutMs: 100 });
  const fixed = 300;
  await here.fault({ match: { operation: 'cards.fund' }, action: { kind: 'latency', fixed }, times: 1 });
  const begun = performance.now();
  const attempt = await here.attempt('cards.fund', { card_id: here.card, amount: cents(500) });
  expect(attempt.class).toBe('ambiguous');
  const seen = (await here.balances()).card;
  // A busy machine may look so late that it is carried out by then.
  if (performance.now() - begun < fixed) expect(seen).toBe(100);
  await expect.poll(async () => (await here.balances()).card, { timeout: 60_000 }).toBe(105);
});

it('ends at once although a fault holds a request up', async () => {
  const here = await scene({ timeoutMs: 10_000 });
  await here.fault({ action: { kind: 'hang', max_ms: LONG }, match: { operation: 'cards.get' } });
  const asked = thrown(
    here.service.send('wallet.get', {}).then(() => here.service.send('cards.get', { card_id: 'x' })),
  );
  await expect.poll(async () => (await here.requests('cards.get')).length).toBe(1);
  const begun = performance.now();
  await here.sandbox.stop();
  expect(performance.now() - begun).toBeLessThan(3_000);
  expect((await asked).kind).toBe('unreachable');
  await here.service.close();
});

it('takes a fault for one request from its header, and nothing from a wrong one', async () => {
  await using here = await scene();
  const header = (fault: unknown) => ({ 'x-sandbox-fault': JSON.stringify(fault) });
  const path = `/cards/${here.card}`;
  const struck = await ask(here.sandbox, { path, headers: header({ action: { kind: 'status', code: 503 } }) });
  expect([struck.status, struck.json.error]).toEqual([503, 'service_unavailable']);
  expect((await ask(here.sandbox, { path })).status).toBe(200);
  const wrong = await ask(here.sandbox, { path, headers: header({ action: { kind: 'status', code: 42 } }) });
  expect([wrong.status, wrong.json.error]).toEqual([400, 'invalid_request']);
  expect(wrong.json.message).toContain('action.code');
  const cut = ask(here.sandbox, {
    method: 'POST',
    path: `${path}/fund`,
    body: { amount: 5 },
    headers: header({ phase: 'after_commit', action: { kind: 'reset' } }),
  });
  await expect(cut).rejects.toThrow(/hang up|reset/i);
  expect((await here.balances()).card).toBe(105);
});
