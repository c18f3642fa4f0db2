/**
 * An answer to a create that describes the new card under the id of another one, or two rows that are answered with one id.
 * What is told is the card that carries the marker; a row is never done by a card that another row was answered with.
 */
import { afterAll, expect, test } from 'vitest';
import type { Answered, View } from '../support/card-books.ts';
import { errorOf } from '../support/world.ts';
import { arena } from './arena.ts';

const here = await arena();
afterAll(() => here[Symbol.asyncDispose]());

/** The honest answer under another id. */
const under = (id: string, more: object = {}) => ({
  effect: 'done' as const,
  answer: ({ honest }: View): Answered => ({ ...honest, body: { ...(honest.body as object), id, ...more } }),
});

const FILE = 'bin_id,amount\nbin_1,5\nbin_1,6\nbin_1,7\n';

test('a row of many under the id of another card: the end names the card that carries the marker, and no other to end', async () => {
  await using place = await here.enter('unknown', 'test', { cards: [{}] });
  here.service.script({ operation: 'create', plays: [under('card_1')] });
  const ran = await place.run('cards create --file -', FILE);
  const { code, err } = ran;
  const [, right = ''] = [...here.service.books(place.key).cards.keys()];
  expect(code).toBe(15);
  expect(err).toContain(`row 1: the answer named the card card_1, which is another one; the card of row 1 is ${right}`);
  expect(err).not.toMatch(/cards carry|cards (freeze|terminate)/);
  const { op } = errorOf(ran);
  const shown = JSON.parse((await place.run(`ops show ${op}`)).out) as { items: { card_id: string }[] };
  expect(shown.items[0]?.card_id).toBe(right);
  expect((await place.run(`ops resume ${op}`)).code).toBe(15);
});
