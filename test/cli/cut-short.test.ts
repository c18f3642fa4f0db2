/** Whether a list is said to be a part, by what the service tells of its pages. */
import { expect, test } from 'vitest';
import { pagedListing } from '../../src/cli/listing.ts';
import type { PageFacts } from '../../src/contract/operation.ts';
import type { Row } from '../../src/terminal/view.ts';

const rowsOf = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `card_${index}` }));

async function said(page: PageFacts, options: { rows?: number; all?: boolean; numbered?: boolean; perPage?: number }) {
  const { rows = 25, ...rest } = options;
  async function* pages() {
    yield { data: rowsOf(rows), page };
  }
  const listing = pagedListing(pages(), { noun: 'card', ...rest });
  for await (const _ of listing.batches);
  return listing.cutShort?.();
}

test.each<[PageFacts, { rows?: number; all?: boolean; numbered?: boolean; perPage?: number }, string | undefined]>([
  [{ page: 1, total: 288, total_pages: 12 }, {}, '25 of 288 cards; --all gives all of them'],
  [{ total: 288 }, {}, '25 of 288 cards; --all gives all of them'],
  [{ has_more: true }, {}, '25 cards; --all gives all of them'],
  [{}, {}, '25 cards, and perhaps more; --all gives all of them'],
  [{}, { rows: 2, perPage: 2 }, '2 cards, and perhaps more; --all gives all of them'],
  [{}, { rows: 24 }, undefined],
  [{}, { rows: 0 }, undefined],
  [{ page: 1, total: 25, total_pages: 1 }, {}, undefined],
  [{ has_more: false }, {}, undefined],
  [{ page: 2, total: 288, total_pages: 12 }, { numbered: true }, undefined],
  [{ page: 12, total: 25, total_pages: 12 }, { all: true }, undefined],
  [
    { page: 13, total: 288, total_pages: 12 },
    { rows: 0, numbered: true },
    'there is no page 13: 288 cards on 12 pages; --all gives all of them',
  ],
  [{ page: 1, total: 0, total_pages: 0 }, { rows: 0, numbered: true }, undefined],
])('%j, asked as %j: %s', async (page, options, expected) => {
  expect(await said(page, options)).toBe(expected);
});

const even = ({ id }: Row) => Number(String(id).slice(5)) % 2 === 0;

interface Footer {
  readonly rows?: number;
  readonly pages?: number;
  readonly limit?: number;
  readonly sorted?: boolean;
  readonly keep?: readonly ((row: Row) => boolean)[];
}

/** What stands under a table of these pages, each with the same facts. */
async function under(page: PageFacts, { rows = 25, pages = 1, ...options }: Footer) {
  async function* all() {
    for (let number = 1; number <= pages; number++) {
      yield { data: rowsOf(rows), page: page.page === undefined ? page : { ...page, page: page.page + number - 1 } };
    }
  }
  const listing = pagedListing(all(), { noun: 'card', ...options });
  let count = 0;
  for await (const batch of listing.batches) count += batch.length;
  return listing.footer?.(Math.min(count, listing.most ?? count));
}

test.each<[PageFacts, Footer, string]>([
  [{ page: 1, total: 288, total_pages: 12 }, {}, '25 of 288 cards, page 1 of 12.   All pages: --all'],
  [{ page: 12, total: 288, total_pages: 12 }, { rows: 13 }, '13 of 288 cards, page 12 of 12.   All pages: --all'],
  [
    { page: 13, total: 288, total_pages: 12 },
    { rows: 0 },
    'There is no page 13: 288 cards on 12 pages.   All of them: --all',
  ],
  [{ page: 1, total: 0, total_pages: 0 }, { rows: 0 }, 'No cards.'],
  [{ page: 1, total: 288, total_pages: 12 }, { limit: 4 }, '4 of 288 cards.'],
  [{ page: 1, total: 25, total_pages: 1 }, { limit: 25 }, '25 cards.'],
  [{ page: 1, total: 25, total_pages: 1 }, { limit: 26 }, '25 cards.'],
  // Filtered here: the service counts what the filter does not.
  [{ page: 1, total: 25, total_pages: 1 }, { limit: 4, keep: [even] }, '4 of 13 cards.'],
  [{ page: 1, total: 25, total_pages: 1 }, { limit: 13, keep: [even] }, '13 cards.'],
  [{ page: 1, total: 288, total_pages: 12 }, { limit: 13, keep: [even] }, '13 cards, and perhaps more.'],
  [{ page: 1, total: 288, total_pages: 12 }, { limit: 4, keep: [even] }, '4 cards, and more.'],
  // In an order, all of them are read.
  [{ page: 1, total: 50, total_pages: 2 }, { pages: 2, limit: 4, sorted: true }, '4 of 50 cards.'],
  // A service that tells nothing of its pages.
  [{}, { limit: 4 }, '4 cards, and more.'],
  [{}, { limit: 25 }, '25 cards, and perhaps more.'],
  [{}, { limit: 26 }, '25 cards.'],
])('under %j, asked as %j: %s', async (page, options, expected) => {
  expect(await under(page, options)).toBe(expected);
});
