/** The paging loop: when to ask for the next page, and which rows are new (ASSUMPTIONS, section 3). */
import type { ListPage, PageFacts } from '../contract/operation.ts';
import { CliError } from '../errors.ts';

/** A million rows, 25 a page, and room. */
export const MAX_PAGES = 50_000;

export type Row = Readonly<Record<string, unknown>>;

/** A page as it arrived, and what the service said about there being more. */
export interface ArrivedPage {
  readonly list: ListPage<Row>;
  readonly next?: boolean;
}

export interface Paging {
  /** Number of the first page asked for. */
  readonly from: number;
  readonly fetch: (page: number) => Promise<ArrivedPage>;
  readonly warn: (text: string) => void;
  /** Named in warnings. */
  readonly operation: string;
  readonly maxPages?: number;
}

/**
 * Yields pages without the rows that were there before: new rows shift the ones behind them onto later pages.
 * Ends when the paging object says so; else at an empty page, one shorter than the first, or one without a new
 * row. Warns when the list may be incomplete. Errors of `fetch` pass through; 404 past the first page is the end.
 * From the second page on the next one is asked for while one is worked on.
 */
export async function* walkPages(paging: Paging): AsyncGenerator<ListPage<Row>> {
  const { from, fetch, warn, operation, maxPages = MAX_PAGES } = paging;
  const seen = recentIds();
  let firstLength = 0;
  let total: number | undefined;
  let rows = 0;
  const end = (why?: string) => {
    const off = from === 1 && total !== undefined && total !== rows ? `the service counts ${total}, ${rows} came` : why;
    if (off !== undefined) warn(`the list of ${operation} may be incomplete: ${off}`);
  };
  let next: Promise<ArrivedPage | undefined> | undefined;
  for (let number = from; number < from + maxPages; number += 1) {
    const page = await (next ?? fetchUnlessPast(fetch, number, from));
    next = undefined;
    if (page === undefined) return end();
    const length = page.list.written?.count ?? page.list.data.length;
    if (number === from) firstLength = length;
    const goesOn = mayContinue(page, number, { length, firstLength });
    const fresh = freshOf(page.list, seen);
    const isTold = page.next === true || lastPage(page.list.page) !== undefined;
    if (goesOn && isTold && number > from && fresh.count > 0 && number + 1 < from + maxPages) {
      next = fetchUnlessPast(fetch, number + 1, from);
      // It fails where it is waited for, or not at all when nobody wants more.
      next.catch(() => undefined);
    }
    total = page.list.page.total ?? total;
    rows += fresh.count;
    if (number === from || fresh.count > 0) yield fresh.list;
    if (length === 0) return end(page.next && number > from ? 'a page came empty' : undefined);
    if (fresh.count === 0) return end(page.next ? 'a page came twice' : undefined);
    if (!goesOn) return end();
  }
  end(`stopped after ${maxPages} pages`);
}

async function fetchUnlessPast(fetch: Paging['fetch'], number: number, from: number): Promise<ArrivedPage | undefined> {
  try {
    return await fetch(number);
  } catch (error) {
    if (number > from && error instanceof CliError && error.kind === 'not_found') return undefined;
    throw error;
  }
}

/** The page without rows that came before. Rows without an id cannot be told apart and are all kept. */
function freshOf(list: ListPage<Row>, seen: RecentIds): { readonly list: ListPage<Row>; readonly count: number } {
  const { written } = list;
  if (written === undefined) {
    const data = list.data.filter(({ id }) => typeof id !== 'string' || seen.add(JSON.stringify(id)));
    return { list: { ...list, data }, count: data.length };
  }
  const hasIds = written.fields.includes('id');
  const repeated = new Set<number>();
  for (let index = 0; hasIds && index < written.count; index += 1) {
    if (!seen.add(written.id(index))) repeated.add(index);
  }
  if (repeated.size === 0) return { list, count: written.count };
  const data = list.data.filter((_, index) => !repeated.has(index));
  return { list: { page: list.page, data }, count: data.length };
}

interface RecentIds {
  /** True when it was not there. */
  add(id: string): boolean;
}

/** Rows move to later pages by as many as are new, so the ids of the pages before are enough, however long the list. */
const MOST_RECENT = 2_000;

function recentIds(): RecentIds {
  let [recent, before] = [new Set<string>(), new Set<string>()];
  return {
    add(id) {
      if (recent.has(id) || before.has(id)) return false;
      if (recent.size === MOST_RECENT) [recent, before] = [new Set(), recent];
      recent.add(id);
      return true;
    },
  };
}

interface Lengths {
  readonly length: number;
  readonly firstLength: number;
}

function mayContinue({ list, next }: ArrivedPage, number: number, { length, firstLength }: Lengths): boolean {
  if (next !== undefined) return next;
  const last = lastPage(list.page);
  if (last !== undefined) return number < last;
  return length >= firstLength;
}

function lastPage({ total_pages, total, per_page }: PageFacts): number | undefined {
  if (total_pages !== undefined) return total_pages;
  return total !== undefined && per_page !== undefined && per_page > 0 ? Math.ceil(total / per_page) : undefined;
}
