/** Real processes at once on one machine, as jobs of one runner are: all succeed, and each is done once. */
import { expect, test } from 'vitest';
import { type Home, home } from '../package/built.ts';

const SOME_MS = 180_000;
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

const cardsOf = async (place: Home): Promise<readonly Card[]> =>
  ((await asked(place, 'cards list --all')) as { data: Card[] }).data;

/** An empty sandbox with $10,000 in the wallet. */
async function withMoney(): Promise<Home> {
  const place = await home();
  await asked(place, 'sandbox reset --data empty');
  await asked(place, 'sandbox simulate deposit --currency usdt --amount 10000');
  await asked(place, 'sandbox clock advance --by 1d');
  return place;
}

const range = (count: number) => Array.from({ length: count }, (_, n) => n + 1);
const atOnce = (place: Home, lines: readonly string[]) => Promise.all(lines.map(line => asked(place, line)));

test('16 creates with labels of their own', { timeout: SOME_MS }, async () => {
  await using place = await withMoney();
  await atOnce(
    place,
    range(16).map(n => `cards create --bin auto --amount 5 --label p${n}`),
  );
  const labels = (await cardsOf(place)).map(({ label }) => label);
  expect(labels.toSorted()).toEqual(
    range(16)
      .map(n => `p${n}`)
      .toSorted(),
  );
});

test('8 equal creates: each with an intent, then none with one', { timeout: SOME_MS }, async () => {
  await using place = await withMoney();
  const line = 'cards create --bin auto --amount 5 --label same';
  await atOnce(
    place,
    range(8).map(n => `${line} --intent order-${n}`),
  );
  expect(await cardsOf(place)).toHaveLength(8);
  await atOnce(
    place,
    range(8).map(() => line),
  );
  expect(await cardsOf(place)).toHaveLength(16);
});

test('8 funds of 8 cards, then 8 funds of one card', { timeout: SOME_MS }, async () => {
  await using place = await withMoney();
  await atOnce(
    place,
    range(8).map(n => `cards create --bin auto --amount 5 --label p${n}`),
  );
  const cards = await cardsOf(place);
  await atOnce(
    place,
    cards.map(({ id }, n) => `cards fund ${id} --amount ${n + 1}`),
  );
  const funded = new Map((await cardsOf(place)).map(({ id, balance }) => [id, balance]));
  for (const [n, { id }] of cards.entries()) expect([id, funded.get(id)]).toEqual([id, 5 + n + 1]);
  const [{ id, balance } = { id: '', balance: 0 }] = await cardsOf(place);
  await atOnce(
    place,
    range(8).map(n => `cards fund ${id} --amount ${n}`),
  );
  expect((await cardsOf(place)).find(card => card.id === id)?.balance).toBe(balance + 36);
});

test.each(['create', 'fund'])(
  'one intent of a %s typed in 8 places at once: once, and all are told of it',
  {
    timeout: SOME_MS,
  },
  async what => {
    await using place = await withMoney();
    const start = (await asked(place, 'cards create --bin auto --amount 5')) as Card;
    const line = what === 'create' ? 'cards create --bin auto --amount 5' : `cards fund ${start.id} --amount 5`;
    const told = await Promise.all(range(8).map(() => asked(place, `${line} --intent order-1`)));
    const ids = new Set(told.map(answer => (answer as { id?: string; card_id?: string }).id ?? start.id));
    const cards = await cardsOf(place);
    expect({ ids: ids.size, cents: cards.reduce((sum, { balance }) => sum + balance, 0) }).toEqual({
      ids: 1,
      cents: 10,
    });
  },
);
