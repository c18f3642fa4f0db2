/** Real processes at once on one machine, as jobs of one runner are: all succeed, and each is done once. */
import { expect, test } from 'vitest';
import { type Home, home } from '../package/built.ts';

const SANDBOX = ['--sandbox', '--json', '--yes'];

async function asked(place: Home, line: string): Promise<unknown> {
  const { code, out, err } = await place.run([...line.split(' '), ...SANDBOX]);
  expect({ line, code, err }).toMatchObject({ line, code: 0 });
  return JSON.parse(out);
}

interface Card {
  readonly id: string;
  readonly label: string;
  readonly balance: number;
}

test('creates of their own, funds of one card and one intent typed several times', { timeout: 180_000 }, async () => {
  await using place = await home();
  const { id } = (await asked(place, 'cards create --bin auto --amount 5 --label first')) as Card;
  const create = 'cards create --bin auto --amount 5 --label';
  const lines = [
    // Equal ones are as many cards, for each of them is meant.
    ...['1', '2'].map(order => `${create} same --intent order-${order}`),
    `${create} same`,
    // One intent is one card, whoever types it meanwhile.
    ...[1, 2].map(() => `${create} once --intent order-3`),
    ...[1, 2].map(() => `cards fund ${id} --amount 4 --intent fund-1`),
    ...[1, 2].map(amount => `cards fund ${id} --amount ${amount}`),
  ];
  const made = (await Promise.all(lines.map(line => asked(place, line)))) as readonly Card[];
  const { data } = (await asked(place, 'cards list --all')) as { data: readonly Card[] };
  const cards = data.filter(({ label }) => /^(?:first|once|same)$/.test(label));
  expect(cards.map(({ label }) => label).toSorted()).toEqual(['first', 'once', 'same', 'same', 'same']);
  const told = lines.flatMap((line, nth) => (line.includes('order-3') ? [made[nth]?.id] : []));
  expect(new Set(told)).toEqual(new Set(cards.filter(({ label }) => label === 'once').map(card => card.id)));
  expect(cards.find(card => card.id === id)?.balance).toBe(5 + 3 + 4);
});
