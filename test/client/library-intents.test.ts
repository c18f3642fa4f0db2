/** `intent` of `cardwright/client`: what a program calls twice is done once, also by another process with the same journal. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keyPrint } from '../../src/core/key-print.ts';
import { createClient } from '../../src/library/client.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

Object.assign(globalThis, { CARDWRIGHT_VERSION: '0.0.0-test' });

it('the same call again sends nothing, in another process too; another input is refused', async () => {
  await using sandbox = await startSandbox({ wallet: 100, ids: 'counted' });
  await using proxy = await startFaultProxy({ target: sandbox.url, stripKeys: true });
  await using folder = await temporaryFolder();
  const options = { baseUrl: proxy.url, apiKey: sandbox.key.expose(), journal: folder.path };
  await using client = createClient(options);
  await using other = createClient(options);
  const create = { bin_id: 'bin_1', amount: 10, label: 'ads' };
  const [made, again] = [
    await client.send('cards.create', create, { intent: 'po-1' }),
    await other.send('cards.create', create, { intent: 'po-1' }),
  ] as { id: string; balance: number }[];
  expect(again?.id).toBe(made?.id);
  const fund = { card_id: made?.id, amount: 5 };
  const moved = await client.send('cards.fund', fund, { intent: 'po-2' });
  expect(await other.send('cards.fund', fund, { intent: 'po-2' })).toEqual(moved);
  expect(proxy.posts()).toHaveLength(2);
  await expect(client.send('cards.fund', { ...fund, amount: 6 }, { intent: 'po-2' })).rejects.toMatchObject({
    kind: 'usage',
    outcome: 'not_sent',
    op: expect.stringMatching(/^op_/),
  });
  expect(proxy.posts()).toHaveLength(2);
});

it('an answer that was lost is looked for by the next call with the same name', async () => {
  await using sandbox = await startSandbox({ wallet: 100, ids: 'counted' });
  await using proxy = await startFaultProxy({ target: sandbox.url, stripKeys: true });
  await using folder = await temporaryFolder();
  await using client = createClient({ baseUrl: proxy.url, apiKey: sandbox.key.expose(), journal: folder.path });
  proxy.fail('POST', /\/cards$/, 'drop-after');
  proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
  const send = () => client.send('cards.create', { bin_id: 'bin_1', amount: 10 }, { intent: 'po-1' });
  const lost = await send().catch((error: unknown) => error);
  expect(lost).toMatchObject({ kind: 'outcome_unknown', outcome: 'unknown' });
  proxy.mend();
  // Another name is another purchase, and waits for nobody.
  const order = (intent: string) => client.send('cards.create', { bin_id: 'bin_1', amount: 10 }, { intent });
  expect(await order('po-2')).toMatchObject({ id: 'card_2' });
  expect(await send()).toMatchObject({ id: 'card_1', balance: 10 });
  expect(await order('po-2')).toMatchObject({ id: 'card_2' });
  expect(proxy.posts()).toHaveLength(2);
});

it('nothing goes past the journal of a client: what takes an intent is refused without one, in an unused home too', async () => {
  await using sandbox = await startSandbox({ wallet: 100, ids: 'counted' });
  await using proxy = await startFaultProxy({ target: sandbox.url });
  await using folder = await temporaryFolder();
  const options = { baseUrl: proxy.url, apiKey: sandbox.key.expose() };
  const database = { journal: 'postgres://ana@127.0.0.1:1/db', journalFolder: folder.path };
  await using free = createClient(options);
  await free.send('cards.create', { bin_id: 'bin_1', amount: 10 });
  for (const journal of [{ journal: folder.path }, database]) {
    await using client = createClient({ ...options, ...journal });
    for (const [operation, input] of [
      ['cards.create', { bin_id: 'bin_1', amount: 10 }],
      ['cards.fund', { card_id: 'card_1', amount: 5 }],
      ['cards.withdraw', { card_id: 'card_1', amount: 5 }],
      ['cards.terminate', { card_id: 'card_1' }],
    ] as const) {
      for (const calling of [undefined, null, {}, { intent: undefined } as never, { idempotencyKey: 'k1' }]) {
        await expect(client.send(operation, input, calling)).rejects.toMatchObject({
          name: 'CardwrightError',
          kind: 'usage',
          outcome: 'not_sent',
          operation,
          message: expect.stringMatching(/needs an intent: send\("cards\.\w+", …, \{ intent: "order-4711" \}\)/),
        });
      }
    }
    await client.send('cards.freeze', { card_id: 'card_1' });
    if (journal === database) continue;
    await client.send('cards.unfreeze', { card_id: 'card_1' });
    expect(await client.send('cards.get', { card_id: 'card_1' })).toMatchObject({ status: 'active', balance: 10 });
  }
  expect(proxy.posts()).toHaveLength(1 + 2 + 1);
});

it('a client whose user has kept the account in a shared journal sends nothing past that', async () => {
  await using sandbox = await startSandbox({ wallet: 100, ids: 'counted' });
  await using proxy = await startFaultProxy({ target: sandbox.url });
  await using folder = await temporaryFolder();
  const seen = {
    journal: 'j1',
    account: 'a1',
    print: keyPrint(sandbox.key, 'j1'),
    shown: 'postgres://db/cards',
    seq: 3,
  };
  await writeFile(join(folder.path, 'shared-journals.ndjson'), `${JSON.stringify(seen)}\n`, { mode: 0o600 });
  const create = (apiKey: string) =>
    createClient({ baseUrl: proxy.url, apiKey, journal: folder.path }).send(
      'cards.create',
      { bin_id: 'bin_1', amount: 10 },
      { intent: 'po-1' },
    );
  await expect(create(sandbox.key.expose())).rejects.toMatchObject({
    kind: 'guarded',
    outcome: 'not_sent',
    message: expect.stringContaining('postgres://db/cards'),
  });
  expect(proxy.posts()).toHaveLength(0);
  // Another account is nobody's.
  await expect(create(`${sandbox.key.expose()}1`)).rejects.toMatchObject({ kind: 'not_authenticated' });
});

it('a promise that cannot be kept is refused before anything is sent', async () => {
  const options = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'sk_test_0123456789abcdef' };
  await using client = createClient(options);
  const fund = { card_id: 'card_1', amount: 5 };
  await expect(client.send('cards.fund', fund, { intent: 'po-1' })).rejects.toMatchObject({
    kind: 'usage',
    message: expect.stringContaining('needs a journal'),
  });
  await using folder = await temporaryFolder();
  await using journaled = createClient({ ...options, journal: folder.path });
  for (const [call, input, intent] of [
    ['cards.fund', fund, 'a b'],
    ['cards.fund', fund, 'fleet/x'],
    ['cards.freeze', { card_id: 'card_1' }, 'po-1'],
    ['wallet.get', {}, 'po-1'],
  ] as const) {
    await expect(journaled.send(call, input, { intent })).rejects.toMatchObject({ kind: 'usage', outcome: 'not_sent' });
  }
  for (const journal of ['relative', '']) {
    expect(() => createClient({ ...options, journal })).toThrow(/journal/);
  }
});
