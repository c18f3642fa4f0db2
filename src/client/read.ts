/**
 * Reads: sent again where that may help, and lists page by page (docs/design/reliability.md, section 2;
 * docs/design/contract-and-assumptions.md, section 3).
 */
import type { ListPage, PageFacts } from '../contract/operation.ts';
import type { ReadOptions } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { between } from '../platform/time.ts';
import type { Interpretation } from './request.ts';

const ATTEMPTS = 3;
/** A service that asks to wait longer is not waited for. */
export const LONGEST_WAIT_MS = 60_000;
const CEILING_MS = 20_000;
/** How long the first pause is at most. */
const FIRST_MS = { network: 100, throttled: 1_000 };

export interface Wait {
  readonly ms: number;
  readonly because: 'network' | 'throttled';
  /** Number of the attempt that follows; the first is 1. */
  readonly attempt: number;
}

/** What all requests of a client share. */
export interface Traffic {
  /** How many the service has let through: a limit under which this number grows is worth waiting for. */
  passed: number;
  /** The service asked for a pause: no read begins before it is over. By the monotonic clock, ms. */
  pausedUntil: number;
}

export interface Reading {
  readonly clock: Clock;
  readonly random: Randomness;
  readonly traffic: Traffic;
  /** No attempt begins and no pause goes on when it is aborted. */
  readonly stop: AbortSignal | undefined;
  /** It looks what came of a write: it waits for no pause that others were asked for, and `once` is not tried again. */
  readonly aside: ReadOptions['aside'];
  /** Attempts that the service may answer 429, whatever else it lets through; without it 3 while it lets nothing through. */
  readonly throttledAttempts: number | undefined;
  readonly onWait: ((wait: Wait) => void) | undefined;
}

/** Attempts until one is answered, or none may help any more. */
export async function repeatRead(once: () => Promise<Interpretation>, reading: Reading): Promise<Interpretation> {
  const { clock, traffic, stop, aside, throttledAttempts, onWait } = reading;
  let [failed, throttled, seen] = [0, 0, traffic.passed];
  for (let attempt = 2; ; attempt += 1) {
    if (aside === undefined) await untilAllowed(reading);
    const verdict = await once();
    const isThrottled = verdict.class === 'throttled';
    if (!isThrottled && verdict.class !== 'not_sent') traffic.passed += 1;
    if (verdict.class === 'done' || verdict.class === 'unverified' || stop?.aborted || aside === 'once') return verdict;
    // Told to slow down, many share few places: one that is turned away while others are let through comes later.
    if (!isThrottled) failed += 1;
    else throttled = throttledAttempts === undefined && traffic.passed > seen ? 1 : throttled + 1;
    seen = traffic.passed;
    const count = isThrottled ? throttled : failed;
    const asked = verdict.error.facts.retryAfterMs ?? 0;
    const mayHelp = isThrottled ? asked <= LONGEST_WAIT_MS : verdict.again;
    if (!mayHelp || count >= ((isThrottled ? throttledAttempts : undefined) ?? ATTEMPTS)) return verdict;
    const because = isThrottled ? 'throttled' : 'network';
    const hinted = asked <= LONGEST_WAIT_MS ? asked : 0;
    const ms = Math.max(hinted, backoff(FIRST_MS[because], count - 1, reading.random));
    if (isThrottled && aside === undefined) traffic.pausedUntil = Math.max(traffic.pausedUntil, clock.monotonic() + ms);
    onWait?.({ ms, because, attempt });
    if (!(await rest(ms, clock, stop))) return verdict;
  }
}

/** Waits for the pause that the service asked for, which may grow meanwhile. */
async function untilAllowed({ clock, traffic, stop }: Reading): Promise<void> {
  for (let until = Number.NEGATIVE_INFINITY; until < traffic.pausedUntil; ) {
    until = traffic.pausedUntil;
    const left = until - clock.monotonic();
    if (left <= 0 || !(await rest(left, clock, stop))) return;
  }
}

/** Full jitter: clients that failed together do not come back together. */
export function backoff(baseMs: number, failures: number, random: Randomness): number {
  return between(random, 0, Math.min(CEILING_MS, baseMs * 2 ** failures));
}

/** False when it was cut short. */
export async function rest(ms: number, clock: Clock, stop: AbortSignal | undefined): Promise<boolean> {
  if (stop?.aborted) return false;
  try {
    await clock.sleep(ms, stop);
    return true;
  } catch (reason) {
    if (stop?.aborted) return false;
    throw reason;
  }
}

// Lists, page by page.

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
