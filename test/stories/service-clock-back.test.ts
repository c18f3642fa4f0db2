/** The clock of the service goes back: what was read last is what is shown. */
import { expect, test } from 'vitest';
import { world } from '../support/world.ts';

test('the overview has the wallet of now, and a statement each deposit once', async () => {
  await using w = await world({ wallet: 1000 });
  const json = async (line: string) => JSON.parse((await w.run(`${line} --json`)).out);
  const done = async (line: string) => expect({ line, ...(await w.run(line)) }).toMatchObject({ line, code: 0 });
  await done('books sync');
  const deposit = async () => {
    const { out } = await w.run('sandbox simulate deposit --currency usdt --amount 500 --confirmations manual -q');
    await done(`sandbox simulate confirm ${out.trim()}`);
  };
  await deposit();
  await done('books sync');
  await done('sandbox clock set offset --at 2020-11-02T00:00:00Z');
  await done('cards create --bin auto --amount 50');
  await done('books reconcile -q');
  await deposit();
  await done('books reconcile -q');
  const { wallet } = await json('overview --offline');
  expect(wallet).toMatchObject({ balance: (await json('wallet')).balance, cards_total_balance: 50 });
  const { data } = await json('books statement --period 2020-11 --unreconciled');
  const [ofWallet] = data as { lines: { type: string; amount: number }[] }[];
  expect(ofWallet?.lines.filter(({ type }) => type === 'deposit').map(({ amount }) => amount)).toEqual([
    1000, 500, 500,
  ]);
});
