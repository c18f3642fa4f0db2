/** Whether a list is said to be a part, by what the service tells of its pages. */
import { expect, test } from 'vitest';
import { pagedListing } from '../../src/cli/listing.ts';
import type { PageFacts } from '../../src/contract/operation.ts';

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
  [{ page: 1, total: 288, total_pages: 12 }, {}, '25 of 288 cards, page 1 of 12; --all gives all of them'],
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
