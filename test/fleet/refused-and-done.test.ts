/** A create of a fleet that is refused, done all the same and listed late is made once. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { arena } from '../hostile/arena.ts';
import { refusal } from '../support/hostile-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FILE = `version: 1
fleet: ads
caps: { per_apply: 300.00, cards: 9 }
cards:
  search: { bin: bin_1, amount: 20.00 }
  social: { bin: bin_1, amount: 30.00 }
`;

it.each([
  [422, 'invalid_request', 15],
  // Some services keep it under its key, so that it is looked for before the next key is used.
  [400, 'insufficient_funds', 0],
])('%i %s', async (status, word, code) => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test');
  await using folder = await temporaryFolder();
  here.service.reset({ [place.key]: { cards: [], behind: { listMs: 1_500, walletMs: 1_500 }, keys: 'ignored' } });
  const play = { effect: 'done', answer: refusal(status, word) } as const;
  here.service.script({ operation: 'create', where: ({ body }) => body['amount'] === 30, plays: [play] });
  const file = join(folder.path, 'fleet.yaml');
  await writeFile(file, FILE);
  const codes: number[] = [];
  for (const plan of ['first', 'second']) {
    expect(await place.run(`fleet plan ${file} --out ${file}.${plan}`)).toMatchObject({ code: 0 });
    codes.push((await place.run(`fleet apply ${file} --plan ${file}.${plan}`)).code);
  }
  const effects = here.service.books(place.key).effects.map(({ operation, cents }) => [operation, cents]);
  expect({ codes, effects }).toEqual({
    codes: [code, 0],
    effects: [
      ['create', 2_000],
      ['create', 3_000],
    ],
  });
});
