/** Lists as commands return them: a page, all pages, or as many rows as wanted, filtered on the way. */

import { flag, integer } from '../contract/field.ts';
import { LIMITS } from '../contract/limits.ts';
import type { ListPage, PageFacts } from '../contract/operation.ts';
import type { WrittenRows } from '../core/raw-rows.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Listing, Row } from '../terminal/view.ts';
import { OURS, option } from './parsing/flag.ts';

/** Rows of a page where nothing else was asked for. */
const PAGE_SIZE = LIMITS.pageSize.defaults;

/** `--all` and `--limit`, the same for every paged list. */
export const PAGING_FLAGS = {
  all: option(flag({ doc: 'All pages.', basis: OURS })),
  limit: option(integer({ doc: 'At most this many rows, over as many pages as it takes.', basis: OURS, min: 1 })),
} as const;

export interface ListWish {
  readonly noun: string;
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
  /** Filters of ours, run over all pages, never over one. */
  readonly keep?: readonly ((row: Row) => boolean)[];
  /** One page was asked for by its number: that there are others is known. */
  readonly numbered?: boolean;
  /** Most rows of a page; the contract's default when left out. */
  readonly perPage?: number | undefined;
  /** The rows will be put in an order, so all of them are read, and the limit counts in that order. */
  readonly sorted?: boolean;
  /** Told of each page where there is more than one to read. */
  readonly progress?: Progress;
}

/** The pages as they come, with a word on standard error where they take long. */
export async function* watchedPages<Page extends ListPage<object>>(
  pages: AsyncIterable<Page>,
  { noun, progress, limit = Number.POSITIVE_INFINITY }: Pick<ListWish, 'noun' | 'progress' | 'limit'>,
): AsyncGenerator<Page> {
  let rows = 0;
  try {
    for await (const page of pages) {
      rows += page.count ?? page.data.length;
      const { total } = page.page;
      progress?.reading({ noun, rows, total: total === undefined ? undefined : Math.min(total, limit) });
      yield page;
    }
  } finally {
    progress?.clear();
  }
}

/** A paged list. Without `--all`, `--limit`, a filter or an order it is one page. */
export function pagedListing(pages: AsyncIterable<ListPage<object>>, wish: ListWish): Listing {
  const keep = wish.keep ?? [];
  const sorted = wish.sorted === true;
  const everything = wish.all === true || wish.limit !== undefined || keep.length > 0 || sorted;
  const limit = sorted ? Number.POSITIVE_INFINITY : (wish.limit ?? Number.POSITIVE_INFINITY);
  let last: PageFacts = {};
  let read = 0;
  let kept = 0;

  async function* batches(): AsyncGenerator<readonly Row[]> {
    for await (const { data, page } of everything ? watchedPages(pages, wish) : pages) {
      last = page;
      read++;
      const rows = (data as readonly Row[]).filter(row => keep.every(test => test(row))).slice(0, limit - kept);
      kept += rows.length;
      yield rows;
      if (!everything || kept >= limit) return;
    }
  }

  /** Where no filter and no end needs the rows themselves. */
  async function* writtenBatches(): AsyncGenerator<readonly Row[] | WrittenRows> {
    for await (const list of watchedPages(pages as AsyncIterable<ListPage<Row>>, wish)) {
      last = list.page;
      read++;
      kept += list.count ?? list.data.length;
      yield list.written ?? list.data;
    }
  }

  return {
    batches: batches(),
    ...(everything && keep.length === 0 && limit === Number.POSITIVE_INFINITY && { written: writtenBatches() }),
    ...(sorted && wish.limit !== undefined && { most: wish.limit }),
    page: () =>
      everything
        ? {
            pages: read,
            // The service counts what it holds; how many of those our filters keep is known to nobody but the reader.
            ...(last.total === undefined || keep.length > 0 ? {} : { total: last.total }),
            ...(kept >= limit ? { limit } : {}),
          }
        : { ...last },
    footer(rows) {
      if (everything || (rows === 0 && !last.total)) return counted(rows, wish.noun);
      const where =
        last.page === undefined ? '' : `, page ${last.page}${last.total_pages ? ` of ${last.total_pages}` : ''}`;
      // A service that says nothing about further pages may have some.
      const { has_more, total_pages, total } = last;
      if ([has_more, total_pages, total].every(fact => fact === undefined)) {
        return `${rows} ${plural(wish.noun, rows)} on this page.   All pages: --all`;
      }
      return `${rows} ${plural(wish.noun, rows)}${where}.${isLast(last) ? '' : '   All pages: --all'}`;
    },
    cutShort() {
      if (everything || wish.numbered === true) return undefined;
      const { has_more, total, total_pages } = last;
      if ([has_more, total, total_pages].every(fact => fact === undefined)) {
        const isFull = kept >= (wish.perPage ?? PAGE_SIZE);
        return isFull ? `${kept} ${plural(wish.noun, kept)}, and perhaps more; --all gives all of them` : undefined;
      }
      if (isLast(last) && kept >= (total ?? 0)) return undefined;
      return `${kept}${total === undefined ? '' : ` of ${total}`} ${plural(wish.noun, total ?? kept)}; --all gives all of them`;
    },
  };
}

/** Whether the service says that no page comes after this one. */
function isLast({ has_more, page = 1, total_pages }: PageFacts): boolean {
  return !(has_more ?? page < (total_pages ?? 1));
}

/** A list that is not paged. */
export function wholeListing(list: ListPage<object>, wish: ListWish): Listing {
  const keep = wish.keep ?? [];
  const rows = (list.data as readonly Row[]).filter(row => keep.every(test => test(row)));
  async function* batches(): AsyncGenerator<readonly Row[]> {
    yield rows;
  }
  return {
    batches: batches(),
    page: () => ({ ...list.page }),
    footer: count => counted(count, wish.noun),
  };
}

function counted(count: number, noun: string): string {
  return `${count === 0 ? 'No' : count} ${plural(noun, count)}.`;
}

function plural(noun: string, count: number): string {
  if (count === 1) return noun;
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return noun.endsWith('s') ? `${noun}es` : `${noun}s`;
}
