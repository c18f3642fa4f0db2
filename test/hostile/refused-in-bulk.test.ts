/** A row that is refused in a word that nobody knows, is done all the same, and shows later than anybody looks. */
import { expect, test } from 'vitest';
import { refusal } from '../support/hostile-service.ts';
import { arena, TEST_KEY } from './arena.ts';

const FILE = 'bin_id,amount,label\nbin_1,25,one\nbin_1,26,two\nbin_1,27,three\n';

test.each([
  ['done', 15],
  ['none', 9],
] as const)('its amount is missing in the wallet at the end: %s', async (effect, ending) => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test');
  here.service.reset({ [TEST_KEY]: { cards: [], behind: { listMs: 60_000 }, keys: 'ignored' } });
  const play = { effect, answer: refusal(422, 'not_this_way') } as const;
  here.service.script({ operation: 'create', where: ({ body }) => body['amount'] === 26, plays: [play] });
  const { code, err } = await place.run('cards create --file -', FILE);
  expect([code, /row 2 was refused in a word that nobody knows/.test(err)]).toEqual([ending, effect === 'done']);
});
