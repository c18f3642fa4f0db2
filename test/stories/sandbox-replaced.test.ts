/** After the sandbox was replaced the journal believes nothing of the cards before it. */
import { expect, it } from 'vitest';
import { world } from '../support/world.ts';

const BUY = 'cards create --bin auto --amount 5 --intent order-1 -q';

it.each([
  ['sandbox export before.snapshot', 'sandbox import before.snapshot --yes'],
  ['wallet', 'sandbox reset --data demo --yes'],
])('%s, then %s: an intent is free, and made once', async (before, replaced) => {
  await using here = await world();
  expect((await here.run(before)).code).toBe(0);
  expect(await here.run(BUY)).toMatchObject({ code: 0 });
  expect(await here.run(replaced)).toMatchObject({ code: 0 });
  expect(JSON.parse((await here.run('ops list --json')).out).data).toEqual([]);
  const cards = async () => JSON.parse((await here.run('cards list --all --json')).out).data.length as number;
  const there = await cards();
  const again = await here.run(BUY);
  expect(again).toMatchObject({ code: 0, err: '' });
  expect(await here.run(BUY)).toMatchObject({ code: 0, out: again.out });
  expect(await cards()).toBe(there + 1);
  expect(await here.run('journal check')).toMatchObject({ code: 0 });
});

it('a reset takes the local copy with it: no page and no book names cards that are gone', async () => {
  await using here = await world({ wallet: 1000 });
  expect((await here.run('cards create --bin bin_1 --amount 500')).code).toBe(0);
  expect(JSON.parse((await here.run('overview --json')).out).wallet.balance).toBe(500);
  expect((await here.run('sandbox reset --data empty --yes')).code).toBe(0);
  const page = JSON.parse((await here.run('overview --json')).out);
  expect([page.wallet.balance, page.cards.active]).toEqual([0, 0]);
  const books = await here.run('books reconcile --json --all');
  expect([books.code, JSON.parse(books.out).cards]).toEqual([0, []]);
});
