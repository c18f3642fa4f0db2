/** Many calls of one program at once on one card: each is judged by balances that none of the others moves meanwhile. */
import { expect, it } from 'vitest';
import { createClient } from '../../src/library/client.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

Object.assign(globalThis, { CARDWRIGHT_VERSION: '0.0.0-test' });

interface Moved {
  readonly card_balance: number;
}

const CREATE = { bin_id: 'bin_1', amount: 10, label: 'ads' };
const AMOUNTS = [1, 2, 3, 4, 5, 6];

/** A program with one card of 10.00, through a proxy; with a journal its calls have intents. */
async function program({ isJournaled }: { readonly isJournaled: boolean }) {
  const sandbox = await startSandbox({ wallet: 1000, ids: 'counted' });
  const proxy = await startFaultProxy({ target: sandbox.url });
  const folder = await temporaryFolder();
  const account = { baseUrl: proxy.url, apiKey: sandbox.key.expose() };
  const client = createClient(isJournaled ? { ...account, journal: folder.path } : account);
  await client.send('cards.create', CREATE, isJournaled ? { intent: 'first' } : {});
  const close = async () => {
    for (const each of [client, proxy, sandbox, folder]) await each[Symbol.asyncDispose]();
  };
  return { proxy, client, [Symbol.asyncDispose]: close };
}

it.each([
  ['without a name', false, () => ({})],
  ['with an intent each', true, (amount: number) => ({ intent: `fund-${amount}` })],
])('funds and a withdrawal of one card at once, %s, are all done', async (_, isJournaled, calling) => {
  await using at = await program({ isJournaled });
  const { client } = at;
  const funds = AMOUNTS.map(amount => client.send('cards.fund', { card_id: 'card_1', amount }, calling(amount)));
  const back = client.send('cards.withdraw', { card_id: 'card_1', amount: 7 }, calling(7));
  const balances = ((await Promise.all([...funds, back])) as Moved[]).map(each => each.card_balance);
  expect(balances).toEqual([11, 13, 16, 20, 25, 31, 24]);
  expect(at.proxy.posts()).toHaveLength(1 + AMOUNTS.length + 1);
});

it('calls with one intent at once are one purchase, and all of them get it', async () => {
  await using at = await program({ isJournaled: true });
  const create = () => at.client.send('cards.create', { bin_id: 'bin_1', amount: 4 }, { intent: 'order-1' });
  const fund = () => at.client.send('cards.fund', { card_id: 'card_1', amount: 4 }, { intent: 'fund-1' });
  const made = await Promise.all([create(), create(), fund(), create(), fund(), create()]);
  expect(new Set(made.filter((_, at) => at !== 2 && at !== 4).map(card => (card as { id: string }).id)).size).toBe(1);
  expect(at.proxy.posts()).toHaveLength(3);
});
