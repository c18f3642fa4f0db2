/** A service that does not show what a card was made with: one card at most, and from then on none. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Arena, arena, type Place } from '../hostile/arena.ts';
import type { BookOptions } from '../support/card-books.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FILE = `version: 1
fleet: ads
caps: {per_apply: 300.00, cards: 9}
defaults: {bin: bin_1, amount: 30.00}
cards:
  event: {label: "event {n}", count: 3}
`;
const SINGLE = FILE.replace('event: {label: "event {n}", count: 3}', 'search: {label: search}');

let here: Arena;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let [file, nth] = ['', 0];
beforeAll(async () => {
  [here, folder] = [await arena(), await temporaryFolder()];
});
afterAll(async () => {
  for (const each of [here, folder]) await each[Symbol.asyncDispose]();
});

/** A place whose service has no card yet. */
async function shows(metadata: BookOptions['metadata'], keys: BookOptions['keys'], text: string): Promise<Place> {
  const place = await here.enter('unknown', 'test');
  here.service.reset({ [place.key]: { metadata: metadata ?? 'everywhere', keys: keys ?? 'honoured' } });
  nth += 1;
  file = join(folder.path, `${nth}.yaml`);
  await writeFile(file, text);
  return place;
}

const cardsOf = (place: Place) => [...here.service.books(place.key).cards.keys()];

/** Plans and applies so many times; the exit codes of each, and what was told. */
async function applied(place: Place, times: number) {
  const codes: number[][] = [];
  let told = '';
  for (let time = 1; time <= times; time += 1) {
    const plan = await place.run(`fleet plan ${file} --out ${file}.${time}`);
    told += plan.all;
    codes.push([plan.code]);
    if (plan.code !== 0) continue;
    const apply = await place.run(`fleet apply ${file} --plan ${file}.${time}`);
    told += apply.all;
    codes.at(-1)?.push(apply.code);
  }
  return { codes, told, cards: cardsOf(place) };
}

it.each(['honoured', 'ignored'] as const)('nowhere: one card is made, and none after it; keys %s', async keys => {
  await using place = await shows('nowhere', keys, FILE);
  const { codes, told, cards } = await applied(place, 3);
  expect({ codes, cards }, told).toEqual({ codes: [[0, 13], [13], [13]], cards: ['card_1'] });
});

it.each(['honoured', 'ignored'] as const)('not in lists: its cards are read one by one; keys %s', async keys => {
  await using place = await shows('not-in-lists', keys, FILE);
  const { codes, told, cards } = await applied(place, 2);
  expect({ codes, cards: cards.length }, told).toEqual({
    codes: [
      [0, 0],
      [0, 0],
    ],
    cards: 3,
  });
});

it('on another machine, whose journal knows nothing of the card: none is made beside it', async () => {
  await using place = await shows('nowhere', 'ignored', SINGLE);
  expect((await applied(place, 1)).codes).toEqual([[0, 13]]);
  await using elsewhere = await here.enter('unknown', 'test');
  const plan = await elsewhere.run(`fleet plan ${file}`);
  expect(plan.code, plan.all).toBe(13);
  await writeFile(file, SINGLE.replace('{label', '{card: card_1, label'));
  expect((await elsewhere.run(`fleet plan ${file} --exit-code any`)).code).toBe(0);
  expect(cardsOf(place)).toEqual(['card_1']);
});

it('the last card too: it is told with its line for the file, and with that line nothing is left to do', async () => {
  await using place = await shows('nowhere', 'ignored', SINGLE);
  const { codes, told } = await applied(place, 1);
  const line = 'search: {card: card_1}';
  expect(codes, told).toEqual([[0, 13]]);
  expect(told).toContain('card_1 was made and does not show its marker; no further card is made');
  expect(told).toContain(line);
  await writeFile(file, SINGLE.replace('search: {label: search}', line));
  expect((await place.run(`fleet plan ${file} --exit-code any`)).code).toBe(0);
});
