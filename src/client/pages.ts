/** The paging loop: when to ask for the next page, and which rows are new (ASSUMPTIONS, section 3). */
import type { ListPage, PageFacts } from '../contract/operation.ts';
import { CliError } from '../errors.ts';

export const MAX_PAGES = 10_000;

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
 */
export async function* walkPages(paging: Paging): AsyncGenerator<ListPage<Row>> {
  const { from, fetch, warn, operation, maxPages = MAX_PAGES } = paging;
  const seen = new Set<string>();
  let firstLength = 0;
  let total: number | undefined;
  let rows = 0;
  const end = (why?: string) => {
    const off = from === 1 && total !== undefined && total !== rows ? `the service counts ${total}, ${rows} came` : why;
    if (off !== undefined) warn(`the list of ${operation} may be incomplete: ${off}`);
  };
  for (let number = from; number < from + maxPages; number += 1) {
    const page = await fetchUnlessPast(fetch, number, from);
    if (page === undefined) return end();
    const { data } = page.list;
    const fresh = data.filter(row => isNew(row, seen));
    if (number === from) firstLength = data.length;
    total = page.list.page.total ?? total;
    rows += fresh.length;
    if (number === from || fresh.length > 0) yield { ...page.list, data: fresh };
    if (data.length === 0) return end(page.next && number > from ? 'a page came empty' : undefined);
    if (fresh.length === 0) return end(page.next ? 'a page came twice' : undefined);
    if (!mayContinue(page, number, firstLength)) return end();
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

/** Rows without an id cannot be told apart and are all kept. */
function isNew(row: Row, seen: Set<string>): boolean {
  const { id } = row;
  if (typeof id !== 'string') return true;
  if (seen.has(id)) return false;
  seen.add(id);
  return true;
}

function mayContinue({ list, next }: ArrivedPage, number: number, firstLength: number): boolean {
  if (next !== undefined) return next;
  const last = lastPage(list.page);
  if (last !== undefined) return number < last;
  return list.data.length >= firstLength;
}

function lastPage({ total_pages, total, per_page }: PageFacts): number | undefined {
  if (total_pages !== undefined) return total_pages;
  return total !== undefined && per_page !== undefined && per_page > 0 ? Math.ceil(total / per_page) : undefined;
}
