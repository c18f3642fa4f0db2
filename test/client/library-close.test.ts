/** `close()` of `cardwright/client`: a program that ends lets what is under way end, and nothing begins behind it. */
import { expect, it } from 'vitest';
import { createClient } from '../../src/library/client.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

Object.assign(globalThis, { CARDWRIGHT_VERSION: '0.0.0-test' });

const CREATE = { bin_id: 'bin_1', amount: 10 };
const CLOSED = { name: 'CardwrightError', kind: 'usage', outcome: 'not_sent', message: 'this client is closed' };

/** A client without and one with a journal, through a proxy that answers late where it is told. */
async function programs() {
  const sandbox = await startSandbox({ wallet: 1000, ids: 'counted' });
  const proxy = await startFaultProxy({ target: sandbox.url, delayMs: 300 });
  const folder = await temporaryFolder();
  const account = { baseUrl: proxy.url, apiKey: sandbox.key.expose() };
  const client = createClient(account);
  const journaled = createClient({ ...account, journal: folder.path });
  const close = async () => {
    for (const each of [client, journaled, proxy, sandbox, folder]) await each[Symbol.asyncDispose]();
  };
  return { proxy, client, journaled, [Symbol.asyncDispose]: close };
}

it('sends nothing after close(), which may come twice', async () => {
  await using at = await programs();
  for (const client of [at.client, at.journaled]) {
    await Promise.all([client.close(), client.close()]);
    await client.close();
    await expect(client.send('cards.create', CREATE, { intent: 'po-1' })).rejects.toMatchObject(CLOSED);
    await expect(client.send('cards.create', CREATE)).rejects.toMatchObject(CLOSED);
    await expect(client.send('wallet.get')).rejects.toMatchObject(CLOSED);
    await expect(client.pages('cards.list').next()).rejects.toMatchObject(CLOSED);
  }
  expect(at.proxy.seen).toEqual([]);
});

it.each(['client', 'journaled'] as const)(
  'lets calls of the %s that are under way end, those too that wait',
  async which => {
    await using at = await programs();
    const client = at[which];
    const calling = (intent: string) => (which === 'journaled' ? { intent } : {});
    await client.send('cards.create', CREATE, calling('po-1'));
    at.proxy.fail('POST', /\/fund$/, 'late-answer');
    const ended: string[] = [];
    const fund = (amount: number) =>
      client
        .send('cards.fund', { card_id: 'card_1', amount }, calling(`fund-${amount}`))
        .finally(() => ended.push(`fund ${amount}`));
    const both = [fund(1), fund(2)];
    await at.proxy.posted(2);
    const closing = client.close().then(() => ended.push('closed'));
    await expect(client.send('cards.fund', { card_id: 'card_1', amount: 4 }, calling('fund-4'))).rejects.toMatchObject(
      CLOSED,
    );
    await closing;
    expect(await Promise.all(both)).toMatchObject([{ card_balance: 11 }, { card_balance: 13 }]);
    expect(ended).toEqual(['fund 1', 'fund 2', 'closed']);
    expect(at.proxy.posts()).toHaveLength(3);
  },
);
