/** `startSandbox()` in a test suite that has put its own timers and its own time in place of the real ones. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { startSandbox } from '../../src/sandbox/serving/library.ts';
import { ask } from '../support/sandbox-http.ts';

beforeEach(() => {
  vi.useFakeTimers({
    now: Date.parse('2001-01-01T00:00:00Z'),
    // All that can be faked, but for `process.nextTick`, of which Node itself is built.
    toFake: ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'Date', 'performance'],
  });
});
afterEach(() => void vi.useRealTimers());

it('starts, answers, moves its clock, delivers and stops while time stands still around it', async () => {
  const sandbox = await startSandbox({
    wallet: 50,
    ids: 'counted',
    clock: { mode: 'frozen', at: '2026-11-20T14:00:00Z' },
  });
  const served = { url: sandbox.url, key: new Secret(sandbox.key), adminToken: new Secret(sandbox.admin.token) };
  const made = await ask(served, { method: 'POST', path: '/cards', body: { bin_id: 'bin_1', amount: 20 } });
  expect(made.status).toBe(201);
  await sandbox.admin.request('POST', '/simulate/authorizations', { card_id: 'card_1', amount: 5 });
  expect((await sandbox.advance('7d')).map(({ kind }) => kind)).toEqual(['authorization.expiry']);
  await sandbox.deliver();
  expect(await sandbox.check()).toEqual([]);
  await sandbox.stop();
});

it('keeps real time, whatever the suite says the time is', async () => {
  const sandbox = await startSandbox();
  const { now } = await sandbox.admin.request<{ now: string }>('GET', '/clock');
  expect(Date.parse(now)).toBeGreaterThan(Date.parse('2026-01-01T00:00:00Z'));
  await sandbox.stop();
});
