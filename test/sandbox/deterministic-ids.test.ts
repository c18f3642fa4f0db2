import { expect, it } from 'vitest';
import { deterministicIds } from '../../src/sandbox/calls/deterministic-ids.ts';
import type { IdSource } from '../../src/sandbox/calls/handler.ts';
import { libraryHost } from '../../src/sandbox/serving/start.ts';
import { clearSystemTables, openStore } from '../../src/sandbox/store/open.ts';

async function openChance(seed: number, ids: 'derived' | 'counted' = 'derived') {
  const fill = async () => undefined;
  const { store } = await openStore({ path: 'memory', tables: [], seed, ids, fill, ...libraryHost() });
  const draw = <T>(work: (idSource: IdSource) => Promise<T>, key?: string) =>
    store.write(sql => work(deterministicIds({ sql, key })));
  return { store, draw };
}

const twoCards = async (idSource: IdSource) => [await idSource.id('card'), await idSource.id('card')];

it('gives the same for the same seed and never twice', async () => {
  const one = await openChance(1);
  const same = await openChance(1);
  const other = await openChance(2);
  const ids = [...(await one.draw(twoCards)), ...(await one.draw(twoCards))];
  expect(ids.every(id => /^card_[a-z2-7]{24}$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(4);
  expect([...(await same.draw(twoCards)), ...(await same.draw(twoCards))]).toEqual(ids);
  expect((await other.draw(twoCards)).some(id => ids.includes(id))).toBe(false);
});

it('derives ids from an idempotency key, whatever came before', async () => {
  const one = await openChance(1);
  const other = await openChance(1);
  const expected = await one.draw(twoCards, 'key');
  await other.draw(twoCards);
  expect(await other.draw(twoCards, 'key')).toEqual(expected);
  expect(await other.draw(twoCards, 'key 2')).not.toEqual(expected);
});

it('counts when told to, and takes numbers of an undone write back', async () => {
  const { draw } = await openChance(1, 'counted');
  const undone = draw(async idSource => {
    await idSource.id('card');
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await draw(twoCards, 'key')).toEqual(['card_1', 'card_2']);
  expect(await draw(idSource => idSource.id('req'))).toBe('req_1');
});

it('gives digits of any length and secrets of 32 bytes', async () => {
  const { draw } = await openChance(1);
  expect(await draw(idSource => idSource.digits('pan', 100))).toMatch(/^\d{100}$/);
  expect(await draw(idSource => idSource.digits('cvv', 3))).toMatch(/^\d{3}$/);
  expect(await draw(idSource => idSource.webhookSecret('first'))).toMatch(/^whsec_[\w-]{43}$/);
  const many = await draw(idSource => idSource.digits('many', 20_000));
  for (const digit of '0123456789') {
    const share = many.split(digit).length - 1;
    expect(Math.abs(share - 2000)).toBeLessThan(250);
  }
});

it('starts over after a reset, within its transaction too', async () => {
  const { store, draw } = await openChance(1);
  const first = await draw(twoCards);
  const again = await store.write(async sql => {
    const idSource = deterministicIds({ sql });
    await clearSystemTables(sql, { seed: 5 });
    const others = await twoCards(idSource);
    await clearSystemTables(sql, { seed: 1 });
    return { others, same: await twoCards(idSource) };
  });
  expect(again.others).not.toEqual(first);
  expect(again.same).toEqual(first);
});
