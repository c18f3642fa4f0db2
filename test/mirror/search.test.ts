import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { toCents } from '../../src/core/money.ts';
import { codePoint } from '../support/code-point.ts';
import { isWhole } from '../support/whole.ts';
import { MovingService } from './moving-service.ts';
import { syncing } from './syncing.ts';

const NAMES = [
  'CLOUD HOSTING',
  'Café Zürich',
  'cafe 24/7',
  'O"NEILL AND',
  'near miss',
  "it's -- (fine)",
  'ÉCOLE 42',
  'a*b:c^d',
];

const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
const wordsOf = (text: string) =>
  plain(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '');

let service: MovingService;
let world: Awaited<ReturnType<typeof syncing>>;
beforeAll(async () => {
  service = new MovingService(11);
  service.live(300, 3_600_000);
  for (const [index, record] of service.records.entries()) record.merchant = NAMES[index % NAMES.length] ?? '';
  service.moves = false;
  world = await syncing(service);
  await world.mirror.sync();
});
afterAll(() => world[Symbol.asyncDispose]());

it('finds by parts of words what a plain look finds, with every filter', async () => {
  using copy = await world.mirror.read();
  const begins = fc
    .constantFrom(...NAMES.flatMap(wordsOf))
    .chain(word => fc.nat(word.length - 1).map(at => (at % 2 === 0 ? word.slice(0, at + 1) : word.slice(at))));
  const texts = new Map(service.cards.map(({ id, label }) => [id, `${label} 4242 {}`]));
  const query = fc.record({
    words: fc.array(begins, { minLength: 1, maxLength: 3 }),
    type: fc.option(fc.constantFrom('authorization', 'settlement'), { nil: undefined }),
    min: fc.option(fc.integer({ min: 0, max: 9_000 }), { nil: undefined }),
    max: fc.option(fc.integer({ min: 0, max: 9_000 }), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(query, async ({ words, type, min, max }) => {
      const fits = ({ merchant, card_id }: { merchant: string; card_id: string }) =>
        words.every(word => [merchant, texts.get(card_id) ?? ''].some(text => plain(text).includes(word)));
      const expected = service.records
        .filter(record => fits(record) && (type === undefined || record.type === type))
        .filter(({ cents }) => cents >= (min ?? 0) && cents <= (max ?? Number.POSITIVE_INFINITY));
      const cents = (amount: number | undefined) => (amount === undefined ? undefined : toCents(amount / 100));
      const { total, pages } = copy.transactions({ words, type, min: cents(min), max: cents(max) });
      const ids: string[] = [];
      for await (const { data } of pages) ids.push(...data.map(({ id }) => id));
      expect({ total, ids: ids.sort() }).toEqual({ total: expected.length, ids: expected.map(({ id }) => id).sort() });
    }),
    { numRuns: isWhole ? 60 : 15 },
  );
});

it('takes any text as words, and passes on nothing that SQL would understand', async () => {
  using copy = await world.mirror.read();
  const hostile = fc.oneof(
    fc.string({ unit: codePoint }),
    fc.constantFrom(
      '"',
      '" OR "a',
      'a* NOT b',
      'NEAR(a b)',
      'name:a',
      '^a',
      '{a} : b',
      "'; drop table record; --",
      '%',
      '_',
      '\\',
      '\0a',
    ),
  );
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), words => {
      try {
        copy.transactions({ words, label: words[0] });
        copy.cards({ words });
      } catch (error) {
        expect(error).toBeInstanceOf(CliError);
        expect(error).toMatchObject({ kind: 'usage' });
      }
    }),
    { numRuns: isWhole ? 40 : 12 },
  );
  // % and _ stand for themselves.
  expect(copy.transactions({ words: ['a_e%1'] }).total).toBe(0);
});
