/** Whoever decides by a list that is seconds behind counts what this journal has done beside it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { arena, type Place } from '../hostile/arena.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

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

it('fund --to brings a card to its balance once', async () => {
  await using place = await behind();
  const line = "cards fund --where 'balance<50' --to 50";
  expect(await place.run(line)).toMatchObject({ code: 0 });
  const again = await place.run(line);
  expect({ code: again.code, data: JSON.parse(again.out).data }).toEqual({ code: 0, data: [] });
  expect(effects(place)).toEqual([['fund', 4_000]]);
});

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

it('fleet plan and apply know the cards that the apply before has made', async () => {
  await using place = await behind();
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'fleet.yaml');
  const text = `version: 1
fleet: ads
caps: { per_apply: 300.00, cards: 9 }
cards:
  search: { bin: bin_1, amount: 20.00 }
  social: { bin: bin_1, amount: 30.00 }
`;
  await writeFile(file, text);
  const plan = (name: string) => place.run(`fleet plan ${file} --out ${file}.${name}`);
  expect(await plan('first')).toMatchObject({ code: 0 });
  expect(await place.run(`fleet apply ${file} --plan ${file}.first`)).toMatchObject({ code: 0 });
  const second = await plan('second');
  expect({ code: second.code, steps: JSON.parse(second.out).steps }).toEqual({ code: 0, steps: [] });
  expect(await place.run(`fleet apply ${file} --plan ${file}.second`)).toMatchObject({ code: 0 });
  expect(effects(place)).toEqual([
    ['create', 2_000],
    ['create', 3_000],
  ]);
});
