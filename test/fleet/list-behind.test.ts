/** Whoever decides by a list that is seconds behind counts what this journal has done beside it. */
import { afterAll, expect, it } from 'vitest';
import { arena, type Place } from '../hostile/arena.ts';

const here = await arena();
afterAll(() => here[Symbol.asyncDispose]());

const BEHIND_MS = 12_000;

async function behind(): Promise<Place> {
  const place = await here.enter('unknown', 'test');
  const cards = [{ cents: 1_000, label: 'one' }];
  here.service.reset({ [place.key]: { cards, behind: { listMs: BEHIND_MS, rowMs: BEHIND_MS } } });
  here.clock.pass(BEHIND_MS * 2);
  return place;
}

const effects = (place: Place) =>
  here.service.books(place.key).effects.map(({ operation, cents }) => [operation, cents]);

it('a card that was made and frozen a moment ago is among those that are chosen', async () => {
  await using place = await behind();
  expect(await place.run('cards create --bin bin_1 --amount 25 --label two')).toMatchObject({ code: 0 });
  const froze = await place.run("cards freeze --where 'label=two'");
  expect({ code: froze.code, done: JSON.parse(froze.out).data.length }).toEqual({ code: 0, done: 1 });
  const again = await place.run("cards freeze --where 'label=two'");
  expect({ code: again.code, data: JSON.parse(again.out).data }).toEqual({ code: 0, data: [] });
  expect(effects(place)).toEqual([
    ['create', 2_500],
    ['freeze', 0],
  ]);
});
