/**
 * Reads spans of time complete. A span ends in the past, so new rows cannot shift its pages; what still moves is seen by
 * the counts of the service, or by its first page read again, and is then read in halves.
 */
import type { PageFacts } from '../contract/operation.ts';
import { DAY, MINUTE, SECOND } from '../core/durations.ts';
import { type Filter, isLastPage } from './paced-reader.ts';
import { type Transaction, timeOf } from './records.ts';
import { FiltersIgnored, type SyncRun } from './run.ts';
import { missRecords, type Span, storeRecords } from './store-records.ts';

/** Pages that a window aims at, and rows of a page. */
export const AIM_PAGES = 40;
export const PAGE_ROWS = 25;
/** A span of more rows is read in halves at once. */
const LARGE_ROWS = 2.5 * AIM_PAGES * PAGE_ROWS;
/** Times a span that moved is read again. */
const TRIES = 3;
/** Services may checkpoint times to the second. */
const TOLERANCE_MS = SECOND;

interface Reading {
  readonly kind: 'complete' | 'moved' | 'large';
  readonly rows: ReadonlyMap<string, Transaction>;
  readonly pages: number;
}

interface Part extends Span {
  readonly tries: number;
  readonly type?: 'authorization' | undefined;
}

export interface WindowOptions {
  readonly type?: 'authorization' | undefined;
  /** Told in the commit of each part that is complete, with its end. */
  readonly onPart?: (to: number) => void;
}

/**
 * Reads a span and commits what it holds, in parts where it is large or moves. A part that moved each time stays open:
 * its rows are kept, and the next sync tries it again. Resolves to the number of pages. Throws `FiltersIgnored`.
 */
export async function readWindow(run: SyncRun, span: Span, { type, onPart }: WindowOptions = {}): Promise<number> {
  const parts: Part[] = [{ ...span, tries: 0, type }];
  let pages = 0;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const { from, to, tries } = part;
    const reading = await readSpan(run, part);
    pages += reading.pages;
    if (reading.kind === 'large') {
      parts.unshift(...halves(part, tries));
      continue;
    }
    const isOpen = reading.kind === 'moved';
    const goesOn = isOpen && tries < TRIES;
    const missing = commitPart(run, part, { reading, isOpen: isOpen && !goesOn, ...(onPart && { onPart }) });
    if (goesOn) parts.unshift(...halves(part, tries + 1));
    // Missing from two complete readings it is gone; the second one asks for every type, for a type may change.
    else if (missing > 0) parts.unshift({ from, to, tries });
  }
  return pages;
}

interface PartResult {
  readonly reading: Reading;
  readonly isOpen: boolean;
  readonly onPart?: (to: number) => void;
}

/** Returns how many known records were missing for the first time. */
function commitPart(run: SyncRun, { from, to, type }: Part, { reading, isOpen, onPart }: PartResult): number {
  const { db } = run;
  return db.commit(() => {
    storeRecords(run, [...reading.rows.values()]);
    if (isOpen) db.run('insert into open_window (from_ms, to_ms, tried_ms) values (?, ?, ?)', from, to, run.now);
    if (isOpen || reading.kind === 'complete') onPart?.(to);
    if (reading.kind !== 'complete') return 0;
    run.tally.windows += 1;
    return missRecords(run, { from: from + 1, to: to - 1, ids: new Set(reading.rows.keys()), type });
  });
}

function halves({ from, to, type }: Part, tries: number): Part[] {
  const middle = Math.floor((from + to) / 2);
  if (middle <= from || to - from < 2 * SECOND) return [{ from, to, tries, type }];
  return [
    { from, to: middle, tries, type },
    { from: middle, to, tries, type },
  ];
}

async function readSpan(run: SyncRun, part: Part): Promise<Reading> {
  const reading = await readPages(run, part);
  if (reading === 'large') return { kind: 'large', rows: new Map(), pages: 1 };
  const { rows, pages, first, last, firstIds } = reading;
  const isTold = first !== undefined && run.db.fact('totals') !== 'wrong';
  if (isTold && first === last && first === rows.size) return { kind: 'complete', rows, pages };
  // One page alone is read in one piece.
  if (!isTold && pages === 1) return { kind: 'complete', rows, pages };
  if (!isTold) {
    const again = await run.ask.transactions(part, 1);
    const isSame = again.rows.map(({ id }) => id).join('\n') === firstIds.join('\n');
    return { kind: isSame ? 'complete' : 'moved', rows, pages: pages + 1 };
  }
  if (first !== last) return { kind: 'moved', rows, pages };
  // The service may count something else than what it shows.
  const again = await readPages(run, part);
  if (again === 'large') return { kind: 'moved', rows, pages };
  const isSame =
    again.first === first && again.rows.size === rows.size && [...rows.keys()].every(id => again.rows.has(id));
  if (!isSame) return { kind: 'moved', rows: again.rows, pages: pages + again.pages };
  run.db.commit(() => run.db.setFact('totals', 'wrong'));
  return { kind: 'complete', rows: again.rows, pages: pages + again.pages };
}

interface ReadPages {
  readonly rows: ReadonlyMap<string, Transaction>;
  readonly firstIds: readonly string[];
  /** What the first and the last page that held rows count. */
  readonly first: number | undefined;
  readonly last: number | undefined;
  readonly pages: number;
}

async function readPages(run: SyncRun, part: Part): Promise<ReadPages | 'large'> {
  const filter: Filter = part;
  const rows = new Map<string, Transaction>();
  let firstIds: readonly string[] = [];
  let [first, last]: (number | undefined)[] = [];
  const mayBeHalved = part.to - part.from >= 2 * SECOND;
  for (let number = 1; ; number += 1) {
    const page = await run.ask.transactions(filter, number);
    refuseOutside(part, page.rows);
    const before = rows.size;
    for (const row of page.rows) rows.set(row.id, row);
    run.onRows(rows.size - before);
    if (number === 1) {
      noteTotals(run, page.facts);
      first = page.facts.total;
      firstIds = page.rows.map(({ id }) => id);
    }
    last = page.facts.total ?? last;
    if (mayBeHalved && Math.max(first ?? 0, rows.size) > LARGE_ROWS) return 'large';
    const standing = { number, rows: page.rows.length, fresh: rows.size - before, distinct: rows.size };
    if (isLastPage(page.facts, standing)) return { rows, firstIds, first, last, pages: number };
  }
}

function noteTotals({ db }: SyncRun, { total }: PageFacts): void {
  const known = db.fact('totals');
  const found = total === undefined ? 'absent' : 'told';
  if (known === found || known === 'wrong') return;
  db.commit(() => db.setFact('totals', found));
}

function refuseOutside({ from, to }: Span, rows: readonly Transaction[]): void {
  for (const { created_at } of rows) {
    const at = timeOf(created_at);
    const isInside = at !== null && at >= from - TOLERANCE_MS && at <= to + TOLERANCE_MS;
    if (!isInside) throw new FiltersIgnored('from and to are ignored');
  }
}

/** Longest step from one window to the next. */
const GROWTH = 8;
const SHORTEST_MS = MINUTE;

/** Reads from `from` to the end of this run, window after window, each aiming at 40 pages. */
export async function readOn(run: SyncRun, from: number): Promise<void> {
  const { db, end } = run;
  let length: number = DAY;
  for (let at = from; at < end; ) {
    const to = Math.min(at + length, end);
    const pages = await readWindow(run, { from: at, to }, { onPart: done => db.setFact('windows_end', done) });
    const factor = Math.min(GROWTH, Math.max(1 / GROWTH, AIM_PAGES / Math.max(1, pages)));
    length = Math.max(SHORTEST_MS, Math.round(length * factor));
    at = to;
  }
}

/** Reads once more what stayed open at former syncs. */
export async function readOpenWindows(run: SyncRun): Promise<void> {
  const { db } = run;
  const open = db.all<{ id: number; from_ms: number; to_ms: number }>(
    'select rowid as id, from_ms, to_ms from open_window',
  );
  for (const { id, from_ms, to_ms } of open) {
    await readWindow(run, { from: from_ms, to: to_ms });
    // What stayed open again was written down anew.
    db.commit(() => db.run('delete from open_window where rowid = ?', id));
  }
}

/**
 * Reads what came since the end of the closed windows. Rows of several pages may still shift, so nothing is concluded from
 * them; where all of them stand on one page, those that are missing from it twice are gone.
 */
export async function readTail(run: SyncRun): Promise<void> {
  if ((await tailOnce(run)) > 0) await tailOnce(run);
}

/** Resolves to how many known records were missing for the first time. */
async function tailOnce(run: SyncRun): Promise<number> {
  const seen = new Set<string>();
  for (let number = 1; number <= AIM_PAGES; number += 1) {
    const page = await run.ask.transactions({ from: run.end }, number);
    const before = seen.size;
    for (const { id } of page.rows) seen.add(id);
    run.onRows(seen.size - before);
    if (page.rows.length > 0) run.db.commit(() => storeRecords(run, page.rows));
    const standing = { number, rows: page.rows.length, fresh: seen.size - before, distinct: seen.size };
    if (!isLastPage(page.facts, standing)) continue;
    if (number > 1) return 0;
    // A service may cut times to the second.
    const since = { from: run.end + SECOND, to: Number.MAX_SAFE_INTEGER };
    return run.db.commit(() => missRecords(run, { ...since, ids: seen }));
  }
  return 0;
}
