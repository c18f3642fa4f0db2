/** A row that is refused, is done all the same, and shows later than anybody looks: the wallet tells. */
import { expect, test } from 'vitest';
import { refusal } from '../support/card-books.ts';
import { arena, TEST_KEY } from './arena.ts';

const FILE = 'bin_id,amount,label\nbin_1,25,one\nbin_1,26,two\nbin_1,27,three\n';

const WORDS = [
  [422, 'invalid_request'],
  [400, 'insufficient_funds'],
] as const;

test.each(WORDS.flatMap(word => [[...word, 'done', 11] as const, [...word, 'none', 9] as const]))(
  '%i %s, %s',
  async (status, word, effect, ending) => {
    await using here = await arena();
    await using place = await here.enter('unknown', 'test', { cards: [], behind: { listMs: 60_000 }, keys: 'ignored' });
    const play = { effect, answer: refusal(status, word) } as const;
    here.service.script({ operation: 'create', where: ({ body }) => body['amount'] === 26, plays: [play] });
    const { code, err } = await place.run('cards create --file -', FILE);
    expect([code, /row 2 {2}unknown: .*wallet does not speak against it/.test(err)], err).toEqual([
      ending,
      effect === 'done',
    ]);
    // The same file again buys nothing that was bought.
    const made = () => here.service.books(TEST_KEY).effects.length;
    const before = made();
    const again = await place.run('cards create --file -', FILE);
    expect([again.code, made()]).toEqual([14, before]);
  },
);

test('a list that cannot be read at the end makes a refused row unknown', async () => {
  await using here = await arena();
  await using place = await here.enter('unknown', 'test', { cards: [], cardsAway: true, keys: 'ignored' });
  const play = { effect: 'done', answer: refusal(422, 'invalid_request') } as const;
  here.service.script({ operation: 'create', where: ({ body }) => body['amount'] === 26, plays: [play] });
  expect((await place.run('cards create --file -', FILE)).code).toBe(11);
});
