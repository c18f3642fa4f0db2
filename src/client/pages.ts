/**
 * The paging loop: when to ask for the next page, and which rows are new
 * (docs/design/contract-and-assumptions.md, section 3).
 */
import type { ListPage, PageFacts } from '../contract/operation.ts';
import { CliError } from '../core/errors.ts';

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
  /** `onArrival` is called when the page is there and not read yet. */
  readonly fetch: (page: number, onArrival: () => void) => Promise<ArrivedPage>;
  readonly warn: (text: string) => void;
  /** As in `ReadOptions`: told in place of a warning. */
  readonly onDoubt?: ((why: string) => void) | undefined;
  /** Named in warnings. */
  readonly operation: string;
  readonly maxPages?: number;
}

/**
 * Yields pages without the rows that were there before: new rows shift the ones behind them onto later pages.
 * Ends when the paging object says so; else at an empty page, one shorter than the first, or one without a new
 * row. Warns, or tells `onDoubt`, when the list may be incomplete. Errors of `fetch` pass through; 404 past the first page is the end.
 * From the second page on the next one is asked for while one is worked on.
 */
export async function* walkPages(paging: Paging): AsyncGenerator<ListPage<Row>> {
  const { from, warn, operation, maxPages = MAX_PAGES } = paging;
  const doubted = paging.onDoubt ?? ((why: string) => warn(`the list of ${operation} may be incomplete: ${why}`));
  const isNew = recentIds();
  const ahead = readAhead(paging);
  const counts: Counts = { first: undefined, last: undefined, rows: 0, moved: 0 };
  let firstLength = 0;
  const end = (why?: string) => {
    const reason = doubtOf(counts, from) ?? why;
    if (reason !== undefined) doubted(reason);
  };
  for (let number = from; number < from + maxPages; number += 1) {
    const page = await ahead.take(number);
    if (page === undefined) return end();
    const { length } = page.list.data;
    if (number === from) firstLength = length;
    const goesOn = mayContinue(page, number, { length, firstLength });
    const fresh = freshOf(page.list, isNew);
    const last = lastPage(page.list.page);
    if (goesOn && fresh.data.length > 0 && number > from && (page.next === true || last !== undefined))
      ahead.ask(number + 1);
    ahead.expect(last);
    if (length === 0 && number === from && goesOn && (page.next ?? last) !== undefined) throw emptyFirst(operation);
    note(counts, page.list.page, { length, fresh: fresh.data.length });
    if (number === from || fresh.data.length > 0) yield fresh;
    if (length === 0) return end(page.next && number > from ? 'a page was empty' : undefined);
    if (fresh.data.length === 0) return end(page.next ? 'a page was received twice' : undefined);
    if (!goesOn) return end();
  }
  end(`stopped after ${maxPages} pages`);
}

/** No page can be shown for the end of a list of which the service says that there is more. */
function emptyFirst(operation: string): CliError {
  const message = `the answer of ${operation} cannot be used: the first page is empty, and more is said to follow`;
  return new CliError('contract_mismatch', { message, operation, hint: 'cardwright contract check' });
}

/**
 * One page ahead, never more: as soon as the page that is waited for is there, where the service said that another
 * follows, so that it works on that one while this one is read and written.
 */
function readAhead({ from, fetch, maxPages = MAX_PAGES }: Paging) {
  let next: { readonly number: number; readonly page: Promise<ArrivedPage | undefined> } | undefined;
  let awaited = 0;
  let last = 0;
  const begin = (number: number) => {
    const onArrival = () => {
      if (number === awaited && number > from && number < last) ask(number + 1);
    };
    return fetchUnlessPast(fetch, number, { from, onArrival });
  };
  const ask = (number: number) => {
    if (next?.number === number || number >= from + maxPages) return;
    next = { number, page: begin(number) };
    // It fails where it is waited for, or not at all when nobody wants more.
    next.page.catch(() => undefined);
  };
  return {
    ask,
    /** What a page said the number of the last one is. */
    expect(number: number | undefined): void {
      last = number ?? 0;
    },
    take(number: number): Promise<ArrivedPage | undefined> {
      const asked = next?.number === number ? next.page : undefined;
      if (asked !== undefined) next = undefined;
      awaited = number;
      return asked ?? begin(number);
    },
  };
}

interface Asking {
  readonly from: number;
  readonly onArrival: () => void;
}

async function fetchUnlessPast(
  fetch: Paging['fetch'],
  number: number,
  { from, onArrival }: Asking,
): Promise<ArrivedPage | undefined> {
  try {
    return await fetch(number, onArrival);
  } catch (error) {
    if (number > from && error instanceof CliError && error.kind === 'not_found') return undefined;
    throw error;
  }
}

/** What tells that rows came or went while the list was read. */
interface Counts {
  /** Of all rows, by the first and by the last page that said it. */
  first: number | undefined;
  last: number | undefined;
  rows: number;
  /** Rows that came again on a later page. */
  moved: number;
}

function note(counts: Counts, { total }: PageFacts, { length, fresh }: { length: number; fresh: number }): void {
  counts.first ??= total;
  counts.last = total ?? counts.last;
  counts.rows += fresh;
  // A page of nothing but known rows is the last one once more.
  if (fresh > 0) counts.moved += length - fresh;
}

function doubtOf({ first, last, rows, moved }: Counts, from: number): string | undefined {
  if (from === 1 && last !== undefined && last !== rows) return `the service counts ${last}, but ${rows} were received`;
  // Rows that go pull others onto pages that were read already, and the count agrees all the same.
  if (first !== last) return `the service counted ${first} at first and ${last} at the end`;
  if (moved > 0)
    return `${moved} ${moved === 1 ? 'row' : 'rows'} appeared again on a later page, so rows moved in the meantime`;
  return undefined;
}

/** The page without rows that came before. Rows without an id cannot be told apart and are all kept. */
function freshOf(list: ListPage<Row>, isNew: (id: string) => boolean): ListPage<Row> {
  const data = list.data.filter(({ id }) => typeof id !== 'string' || isNew(id));
  return data.length === list.data.length ? list : { page: list.page, data };
}

/** How many ids are known at least: rows that move come again on the next page or the one after it. */
const KNOWN_IDS = 2_000;

/** Whether an id was not there before, among the last thousands: a list may have millions. */
function recentIds(): (id: string) => boolean {
  let [current, before] = [new Set<string>(), new Set<string>()];
  return id => {
    const isNew = !current.has(id) && !before.has(id);
    if (current.size >= KNOWN_IDS) [before, current] = [current, new Set()];
    current.add(id);
    return isNew;
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
