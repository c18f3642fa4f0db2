/** A service that does not show what a card was made with: one card at most, and from then on none. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Arena, arena, type Place } from '../hostile/arena.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FILE = `version: 1
fleet: ads
caps: {per_apply: 300.00, cards: 9}
defaults: {bin: bin_1, amount: 30.00}
cards:
  search: {label: search}
`;

let here: Arena;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let [file, nth] = ['', 0];
beforeAll(async () => {
  [here, folder] = [await arena(), await temporaryFolder()];
});
afterAll(async () => {
  for (const each of [here, folder]) await each[Symbol.asyncDispose]();
});

/** A place whose service has no card yet, and shows no marker. */
async function opened(): Promise<Place> {
  const place = await here.enter('unknown', 'test');
  here.service.reset({ [place.key]: { metadata: 'nowhere', keys: 'ignored' } });
  nth += 1;
  file = join(folder.path, `${nth}.yaml`);
  await writeFile(file, FILE);
  return place;
}

const cardsOf = (place: Place) => [...here.service.books(place.key).cards.keys()];

/** Plans and applies; the exit codes, and what was told. */
async function applied(place: Place) {
  const plan = await place.run(`fleet plan ${file} --out ${file}.plan`);
  const apply = await place.run(`fleet apply ${file} --plan ${file}.plan`);
  return { codes: [plan.code, apply.code], told: plan.all + apply.all };
}

it('on another machine, whose journal knows nothing of the card: none is made beside it', async () => {
  await using place = await opened();
  expect((await applied(place)).codes).toEqual([0, 13]);
  await using elsewhere = await here.enter('unknown', 'test');
  const plan = await elsewhere.run(`fleet plan ${file}`);
  expect(plan.code, plan.all).toBe(13);
  await writeFile(file, FILE.replace('{label', '{card: card_1, label'));
  expect((await elsewhere.run(`fleet plan ${file} --exit-code any`)).code).toBe(0);
  expect(cardsOf(place)).toEqual(['card_1']);
});

it('the last card too: it is told with its line for the file, and with that line nothing is left to do', async () => {
  await using place = await opened();
  const { codes, told } = await applied(place);
  const line = 'search: {card: card_1}';
  expect(codes, told).toEqual([0, 13]);
  expect(told).toContain('card_1 was made and does not show its marker; no further card is made');
  expect(told).toContain(line);
  await writeFile(file, FILE.replace('search: {label: search}', line));
  expect((await place.run(`fleet plan ${file} --exit-code any`)).code).toBe(0);
});
