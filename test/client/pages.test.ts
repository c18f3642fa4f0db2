/** The paging loop against servers that page well, badly and for ever. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { type ArrivedPage, type Row, walkPages } from '../../src/client/read.ts';
import { CARD, json, type Served, serve, speak } from './served.ts';

let served: Served;
afterEach(() => served?.close());

const row = (id: number) => ({ id: `c${id}` });
const rowsOf = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => row(from + index));

async function walk(
  fetch: (page: number) => ArrivedPage,
  more: { from?: number; maxPages?: number; onIncomplete?: (why: string) => void } = {},
) {
  const warnings: string[] = [];
  const asked: number[] = [];
  const ids: unknown[] = [];
  const paging = {
    from: 1,
    operation: 'cards.list',
    warn: (text: string) => warnings.push(text),
    fetch: async (page: number) => {
      asked.push(page);
      return fetch(page);
    },
    ...more,
  };
  for await (const page of walkPages(paging)) ids.push(...page.data.map(({ id }) => id));
  return { ids, asked, warnings };
}

const plain = (data: readonly Row[]): ArrivedPage => ({ list: { data, page: {} } });

describe('the loop', () => {
  test('without a paging object it ends at a shorter page', async () => {
    const { ids, asked, warnings } = await walk(page => plain(rowsOf((page - 1) * 3, Math.min(7, page * 3))));
    expect([ids.length, asked, warnings]).toEqual([7, [1, 2, 3], []]);
  });

  test.each<[string, (page: number) => ArrivedPage]>([
    ['total_pages', page => ({ list: { data: [row(page)], page: { total_pages: 2 } } })],
    ['total and per_page', page => ({ list: { data: [row(page)], page: { total: 2, per_page: 1 } } })],
    ['has_more', page => ({ list: { data: [row(page)], page: {} }, next: page < 2 })],
  ])('%s ends it without another request', async (_name, fetch) => {
    expect((await walk(fetch)).asked).toEqual([1, 2]);
  });

  test.each<[string, ArrivedPage]>([
    ['has_more', { list: { data: [], page: { has_more: true } }, next: true }],
    ['pages', { list: { data: [], page: { total_pages: 2 } } }],
    ['rows', { list: { data: [], page: { total: 30, per_page: 25 } } }],
  ])('a first page without rows is no end of a list that has more %s', async (_name, page) => {
    await expect(walk(() => page)).rejects.toMatchObject({ kind: 'contract_mismatch' });
  });

  test('rows that shift onto the next page are not told twice', async () => {
    const pages = [rowsOf(0, 3), rowsOf(2, 5), rowsOf(5, 6)];
    const { ids, warnings } = await walk(page => plain(pages[page - 1] ?? []));
    expect(ids).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5']);
    expect(warnings).toEqual([
      'the list of cards.list may be incomplete: 1 row appeared again on a later page, so rows moved in the meantime',
    ]);
  });

  test('rows that come in front while it is read leave no doubt about those that were there; a decision is told', async () => {
    // A row comes after the first page: c2 is pushed onto the second one.
    const pages = [rowsOf(0, 3), rowsOf(2, 5), rowsOf(5, 6)];
    const grown = (page: number) => ({
      list: { data: pages[page - 1] ?? [], page: { total: page === 1 ? 6 : 7, per_page: 3 } },
    });
    const { ids, warnings } = await walk(grown);
    expect([ids, warnings]).toEqual([['c0', 'c1', 'c2', 'c3', 'c4', 'c5'], []]);
    const doubts: string[] = [];
    await walk(grown, { onIncomplete: why => doubts.push(why) });
    expect(doubts).toEqual(['the service counts 7, but 6 were received']);
  });

  test('rows that go while it is read are said, although the count agrees in the end', async () => {
    // c1 goes after the first page, and c3 comes onto that page, which is read already.
    const pages = [rowsOf(0, 3), rowsOf(4, 6)];
    const { ids, warnings } = await walk(page => ({
      list: { data: pages[page - 1] ?? [], page: { total: page === 1 ? 6 : 5, per_page: 3 } },
    }));
    expect(ids).toEqual(['c0', 'c1', 'c2', 'c4', 'c5']);
    expect(warnings).toEqual([
      'the list of cards.list may be incomplete: the service counted 6 at first and 5 at the end',
    ]);
  });

  test('a service that clamps the page ends at the repetition', async () => {
    const { ids, asked } = await walk(() => plain(rowsOf(0, 3)));
    expect([ids.length, asked]).toEqual([3, [1, 2]]);
  });

  test('a total that disagrees is said', async () => {
    const { warnings } = await walk(page => ({ list: { data: page === 1 ? rowsOf(0, 2) : [], page: { total: 9 } } }));
    expect(warnings).toEqual(['the list of cards.list may be incomplete: the service counts 9, but 2 were received']);
  });

  test('every row of every size comes exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(60), fc.integer({ min: 1, max: 9 }), fc.boolean(), async (count, size, tells) => {
        const page = { total: count, per_page: size, total_pages: Math.ceil(count / size) };
        const { ids, warnings } = await walk(number => ({
          list: { data: rowsOf((number - 1) * size, Math.min(count, number * size)), page: tells ? page : {} },
        }));
        expect(ids).toEqual(rowsOf(0, count).map(({ id }) => id));
        expect(warnings).toEqual([]);
      }),
    );
  });
});

describe('over HTTP', () => {
  const cards = (from: number, to: number) => rowsOf(from, to).map(each => ({ ...CARD, ...each }));
  const pageOf = (url: string) => Number(new URL(url, 'http://x').searchParams.get('page') ?? 1);

  test('404 past the end is the end; filters go with every page', async () => {
    served = await serve(({ url }, r) =>
      pageOf(url) < 3
        ? json(r, 200, { items: cards(pageOf(url) * 2, pageOf(url) * 2 + 2) })
        : json(r, 404, { error: 'not_found' }),
    );
    const ids: string[] = [];
    for await (const page of speak(served.baseUrl).service.pages('cards.list', { status: 'active' })) {
      ids.push(...page.data.map(({ id }) => id));
    }
    expect(ids).toHaveLength(4);
    expect(served.seen.map(({ url }) => url)).toEqual([
      '/v1/cards?status=active',
      '/v1/cards?status=active&page=2',
      '/v1/cards?status=active&page=3',
    ]);
  });
});
