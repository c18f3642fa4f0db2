/** What a reset goes back to, and by which clock a library's limits run. */
import { expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/serving/library.ts';

const wallet = async (sandbox: Awaited<ReturnType<typeof startSandbox>>) =>
  fetch(`${sandbox.url}/wallet`, { headers: { authorization: `Bearer ${sandbox.key}` } });

it('a reset keeps the data set, the wallet and the form of ids it was started with', async () => {
  await using sandbox = await startSandbox({ wallet: 75, ids: 'counted' });
  const reset = (input: object) => sandbox.admin.request('POST', '/reset', input);
  expect(await reset({})).toMatchObject({ data_set: 'empty', wallet_balance: 75, cards: 0 });
  expect(await reset({ data: 'demo' })).toMatchObject({ data_set: 'demo', wallet_balance: 10_000 });
  expect(await reset({})).toMatchObject({ data_set: 'empty', wallet_balance: 75 });
});

it('limits count on the clock of the sandbox, and their end is told by it as Date is', async () => {
  const at = '2026-11-20T14:00:00Z';
  await using sandbox = await startSandbox({ clock: { mode: 'frozen', at } });
  const first = await wallet(sandbox);
  expect(new Date(first.headers.get('date') ?? '').toISOString()).toBe('2026-11-20T14:00:00.000Z');
  expect(Number(first.headers.get('x-ratelimit-reset'))).toBe(Date.parse(at) / 1000 + 61);
  expect(first.headers.get('x-ratelimit-remaining')).toBe('599');
  await wallet(sandbox);
  await sandbox.advance('61s');
  expect((await wallet(sandbox)).headers.get('x-ratelimit-remaining')).toBe('599');
});
