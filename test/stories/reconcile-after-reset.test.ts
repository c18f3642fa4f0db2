/** A reset of the sandbox makes another account: what was done before it is no part of its books. */
import { expect, it } from 'vitest';
import { world } from '../support/world.ts';

it('reconcile after a reset counts no row of before it, also where a card has the id of a former one', async () => {
  await using here = await world({ wallet: 1000 });
  const done = async (line: string) => {
    const { code, out, err } = await here.run(line);
    expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' });
    return out;
  };
  expect(await done('cards create --bin bin_1 --amount 25 -q')).toBe('card_1\n');
  await done('cards fund card_1 --amount 5');
  await done('books reconcile -q');
  await done('sandbox clock advance --by 1m');
  await done('sandbox reset --data empty --yes');
  await done('sandbox simulate deposit --currency usdt --amount 500');
  await done('sandbox clock advance --by 1h');
  const empty = JSON.parse(await done('books reconcile --json'));
  expect(empty).toMatchObject({ verdict: 'baseline', wallet: { closing: 500, created: 0, other: 0 } });
  expect(await done('books query "select * from moves" --json --jq ".data | length"')).toBe('0\n');
  expect(await done('cards create --bin bin_1 --amount 40 -q')).toBe('card_1\n');
  await done('cards fund card_1 --amount 2');
  const { verdict, wallet, findings } = JSON.parse(await done('books reconcile --sole-operator --json'));
  expect({ verdict, wallet, findings }).toMatchObject({
    verdict: 'balanced',
    wallet: { opening: 500, created: 40, funded: 2, other: 0, closing: 458 },
    findings: [],
  });
});
