/**
 * Reads: sent again where that may help, and lists page by page (docs/design/reliability.md, section 2;
 * docs/design/contract-and-assumptions.md, section 3).
 */
import type { ListPage, PageFacts } from '../contract/operation.ts';
import type { ReadOptions } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { between, rest } from '../platform/time.ts';
import type { Verdict, Wait } from './request.ts';

const ATTEMPTS = 3;
/** A service that asks to wait longer is not waited for. */
const LONGEST_WAIT_MS = 60_000;
const CEILING_MS = 20_000;
/** How long the first pause is at most. */
const FIRST_MS = { network: 100, throttled: 1_000 };

/** What all requests of a client share. */
export interface Traffic {
  /** How many the service has let through: a limit under which this number grows is worth waiting for. */
  passed: number;
  /** The service asked for a pause: no read begins before it is over. By the monotonic clock, ms. */
  pausedUntil: number;
}

interface Reading extends Pick<ReadOptions, 'readBack'> {
  readonly clock: Clock;
  readonly random: Randomness;
  readonly traffic: Traffic;
  /** No attempt begins and no pause goes on when it is aborted. */
  readonly stop: AbortSignal | undefined;
  /** Attempts that the service may answer 429, whatever else it lets through; without it 3 while it lets nothing through. */
  readonly throttledAttempts: number | undefined;
  readonly onWait: ((wait: Wait) => void) | undefined;
}

/** Attempts until one is answered, or none may help any more. */
export async function repeatRead(once: () => Promise<Verdict>, reading: Reading): Promise<Verdict> {
  const { clock, random, traffic, stop, readBack, throttledAttempts, onWait } = reading;
  let [failed, throttled, seen] = [0, 0, traffic.passed];
  for (let attempt = 2; ; attempt += 1) {
    // The pause that the service asked for may grow meanwhile.
    for (let until = Number.NEGATIVE_INFINITY; readBack === undefined && until < traffic.pausedUntil; ) {
      until = traffic.pausedUntil;
      const left = until - clock.monotonic();
      if (left <= 0 || !(await rest(left, clock, stop))) break;
    }
    const verdict = await once();
    if (verdict.class === 'done' || stop?.aborted || readBack === 'once') return verdict;
    const isThrottled = verdict.class === 'throttled';
    // Told to slow down, many share few places: one that is turned away while others are let through comes later.
    if (!isThrottled) failed += 1;
    else throttled = throttledAttempts === undefined && traffic.passed > seen ? 1 : throttled + 1;
    seen = traffic.passed;
    const [count, most] = isThrottled ? [throttled, throttledAttempts ?? ATTEMPTS] : [failed, ATTEMPTS];
    const named = verdict.retryAfterMs ?? 0;
    const mayHelp = isThrottled ? named <= LONGEST_WAIT_MS : verdict.again === true;
    if (!mayHelp || count >= most) return verdict;
    const because = isThrottled ? 'throttled' : 'network';
    // Full jitter: clients that failed together do not come back together.
    const pause = between(random, 0, Math.min(CEILING_MS, FIRST_MS[because] * 2 ** (count - 1)));
    const ms = Math.max(named <= LONGEST_WAIT_MS ? named : 0, pause);
    if (isThrottled && readBack === undefined) {
      traffic.pausedUntil = Math.max(traffic.pausedUntil, clock.monotonic() + ms);
    }
    onWait?.({ ms, because, attempt });
    if (!(await rest(ms, clock, stop))) return verdict;
  }
}

// Lists, page by page.

/** A million rows, 25 a page, and room. */
const MAX_PAGES = 50_000;

export type Row = Readonly<Record<string, unknown>>;

/** A page as it arrived, and what the service said about there being more. */
export interface ArrivedPage {
  readonly list: ListPage<Row>;
  readonly next?: boolean | undefined;
}

interface Paging extends Pick<ReadOptions, 'onIncomplete'> {
  /** Number of the first page asked for. */
  readonly from: number;
  /** `onArrival` is called when the page is there and not read yet. */
  readonly fetch: (page: number, onArrival: () => void) => Promise<ArrivedPage>;
  readonly warn: (text: string) => void;
  /** Named in warnings. */
  readonly operation: string;
  readonly maxPages?: number;
}

/**
 * Yields pages without the rows that were there before: new rows shift the ones behind them onto later pages.
 * Ends when the paging object says so; else at an empty page, one shorter than the first, or one without a new
 * row. Warns, or calls `onIncomplete`, when the list may be incomplete. Errors of `fetch` pass through; 404 past the first page
 * is the end. From the second page on one more, where the service says that it follows, is asked for while one is worked on.
 */
export async function* walkPages(paging: Paging): AsyncGenerator<ListPage<Row>> {
  const { from, fetch, warn, operation, maxPages = MAX_PAGES } = paging;
  const isNew = recentIds();
  const counts: Counts = { first: undefined, last: undefined, rows: 0, moved: 0 };
  let [awaited, lastNumber, firstLength] = [from, 0, 0];
  let ahead: { readonly number: number; readonly page: Promise<ArrivedPage | undefined> } | undefined;

  const fetchUnlessPast = (number: number): Promise<ArrivedPage | undefined> => {
    const onArrival = () => {
      if (number === awaited && number > from && number < lastNumber) askAhead(number + 1);
    };
    return fetch(number, onArrival).catch((error: unknown) => {
      if (number > from && error instanceof CliError && error.kind === 'not_found') return undefined;
      throw error;
    });
  };
  const askAhead = (number: number) => {
    if (ahead?.number === number || number >= from + maxPages) return;
    ahead = { number, page: fetchUnlessPast(number) };
    // It fails where it is waited for, or not at all when nobody wants more.
    ahead.page.catch(() => undefined);
  };
  const end = (why?: string) => {
    const reason = incompleteBecause(counts, from) ?? why;
    if (reason === undefined) return;
    if (paging.onIncomplete) paging.onIncomplete(reason);
    // What is only shown need not hold what came after it was begun; a decision must.
    else if (!hasOnlyGrown(counts, from)) warn(`the list of ${operation} may be incomplete: ${reason}`);
  };

  for (let number = from; number < from + maxPages; number += 1) {
    awaited = number;
    const page = await (ahead?.number === number ? ahead.page : fetchUnlessPast(number));
    if (page === undefined) return end();
    const { list, next } = page;
    const { length } = list.data;
    if (number === from) firstLength = length;
    const last = lastPage(list.page);
    lastNumber = last ?? 0;
    const goesOn = next ?? (last === undefined ? length >= firstLength : number < last);
    // Rows without an id cannot be told apart and are all kept.
    const data = list.data.filter(({ id }) => typeof id !== 'string' || isNew(id));
    const isNewPage = data.length > 0;
    if (goesOn && isNewPage && number > from && (next === true || last !== undefined)) askAhead(number + 1);
    if (length === 0 && number === from && goesOn && (next ?? last) !== undefined) {
      // No page can be shown for the end of a list of which the service says that there is more.
      const message = `the answer of ${operation} cannot be used: the first page is empty, and more is said to follow`;
      throw new CliError('contract_mismatch', { message, operation, hint: 'cardwright contract check' });
    }
    counts.first ??= list.page.total;
    counts.last = list.page.total ?? counts.last;
    counts.rows += data.length;
    // A page of nothing but known rows is the last one once more.
    if (isNewPage) counts.moved += length - data.length;
    if (number === from || isNewPage) yield data.length === length ? list : { page: list.page, data };
    if (length === 0) return end(next && number > from ? 'a page was empty' : undefined);
    if (!isNewPage) return end(next ? 'a page was received twice' : undefined);
    if (!goesOn) return end();
  }
  end(`stopped after ${maxPages} pages`);
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

function incompleteBecause({ first, last, rows, moved }: Counts, from: number): string | undefined {
  if (from === 1 && last !== undefined && last !== rows) return `the service counts ${last}, but ${rows} were received`;
  // Rows that go pull others onto pages that were read already, and the count agrees all the same.
  if (first !== last) return `the service counted ${first} at first and ${last} at the end`;
  if (moved === 0) return undefined;
  return `${moved} ${moved === 1 ? 'row' : 'rows'} appeared again on a later page, so rows moved in the meantime`;
}

/** New rows came in front and pushed those that were there onto later pages: each of these was received. */
function hasOnlyGrown({ first = 0, last = 0, rows, moved }: Counts, from: number): boolean {
  return from === 1 && rows === first && last > first && moved === last - first;
}

/** How many ids are known at least: rows that move come again on the next page or the one after it. */
const KNOWN_IDS = 2_000;

/** Whether an id was not there before, among the last thousands: a list may have millions. */
function recentIds(): (id: string) => boolean {
  let [current, before] = [new Set<string>(), new Set<string>()];
  return id => {
    const known = current.size;
    current.add(id);
    const isNew = current.size > known && !before.has(id);
    if (current.size > KNOWN_IDS) [before, current] = [current, new Set()];
    return isNew;
  };
}

function lastPage({ total_pages, total, per_page }: PageFacts): number | undefined {
  if (total_pages !== undefined) return total_pages;
  return total !== undefined && per_page !== undefined && per_page > 0 ? Math.ceil(total / per_page) : undefined;
}
