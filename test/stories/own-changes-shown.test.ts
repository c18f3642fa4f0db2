import { expect, test } from 'vitest';
import { world } from '../support/world.ts';

test('a page shows what this machine has done a moment ago, also what no journal keeps', async () => {
  await using here = await world({ wallet: 100 });
  const json = async (line: string) => JSON.parse((await here.run(`${line} --json`)).out);
  const [one, other] = [
    (await json('cards create --bin auto --amount 5 --yes')).id,
    (await json('cards create --bin auto --amount 5 --yes')).id,
  ];
  const shown = async () => (await json('overview')).cards;
  expect(await shown()).toMatchObject({ active: 2, frozen: 0 });
  await here.run(`cards freeze ${one} --yes`);
  expect(await shown()).toMatchObject({ active: 1, frozen: 1 });
  // All numbers of the account are the same afterwards.
  await here.run(`cards freeze ${other} --yes`);
  await here.run(`cards unfreeze ${one} --yes`);
  expect(await shown()).toMatchObject({ active: 1, frozen: 1 });
  const { data } = await json('cards list --offline --all');
  expect(Object.fromEntries(data.map(({ id, status }: { id: string; status: string }) => [id, status]))).toEqual({
    [one]: 'active',
    [other]: 'frozen',
  });
});
