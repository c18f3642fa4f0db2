/** A service that does not show what a card was made with: one card at most, and from then on none. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { arena } from '../hostile/arena.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FILE = `version: 1
fleet: ads
caps: {per_apply: 300.00, cards: 9}
defaults: {bin: bin_1, amount: 30.00}
cards:
  search: {label: search}
`;

it('its card is told with its line for the file; another machine makes none beside it, and with that line nothing is left to do', async () => {
  await using here = await arena();
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'fleet.yaml');
  await writeFile(file, FILE);
  await using place = await here.enter('unknown', 'test');
  here.service.reset({ [place.key]: { metadata: 'nowhere', keys: 'ignored' } });
  expect((await place.run(`fleet plan ${file} --out ${file}.plan`)).code).toBe(0);
  const { code, all } = await place.run(`fleet apply ${file} --plan ${file}.plan`);
  const line = 'search: {card: card_1}';
  expect([code, all]).toEqual([13, expect.stringContaining(line)]);
  expect(all).toContain('card_1 was made and does not show its marker; no further card is made');
  // Its journal knows nothing of the card.
  await using elsewhere = await here.enter('unknown', 'test');
  expect((await elsewhere.run(`fleet plan ${file}`)).code).toBe(13);
  await writeFile(file, FILE.replace('search: {label: search}', line));
  for (const each of [place, elsewhere]) expect((await each.run(`fleet plan ${file} --exit-code any`)).code).toBe(0);
  expect([...here.service.books(place.key).cards.keys()]).toEqual(['card_1']);
});
