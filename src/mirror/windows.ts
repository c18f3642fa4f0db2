/**
 * Reads records complete, in spans of time that end in the past, or page by page where a service ignores times. Counts
 * tell what moved.
 */

import type { Input } from '../contract/calls.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../core/durations.ts';
import type { Clock } from '../platform/host.ts';
import type { MirrorDatabase } from './file.ts';
import { foldedRecords } from './fold.ts';
import type { PacedReader } from './paced-reader.ts';
import { IS_PENDING } from './schema.ts';
import { missRecords, type Span, storeRecords, type Transaction, timeOf, type Writing } from './store.ts';

export interface SyncRun extends Writing {
  readonly db: MirrorDatabase;
  readonly ask: PacedReader;
  readonly clock: Clock;
  /** Everything before it was read in this sync from closed windows; ms of the service. */
  readonly end: number;
  readonly tally: {
    /** Windows read complete. */
    windows: number;
  };
  readonly warn: (text: string) => void;
  /** Rows read so far, for the progress. */
  readonly onRows: (rows: number) => void;
}

/** The service takes no notice of from and to. */
export class FiltersIgnored extends Error {
  override readonly name = 'FiltersIgnored';
}

// Reads spans of time complete.

/** Pages that a window aims at, and rows of a page. */
const AIM_PAGES = 40;
const PAGE_ROWS = 25;
/** A span of more rows is read in halves at once. */
const LARGE_ROWS = 2.5 * AIM_PAGES * PAGE_ROWS;
/** Times a span that moved is read again. */
const TRIES = 3;
/** Services may cut times to the second. */
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

interface WindowOptions {
  readonly type?: 'authorization' | undefined;
  /** Told in the commit of each part that is complete, with its end. */
  readonly onPart?: (to: number) => void;
}

/**
 * Reads a span and commits what it holds, in parts where it is large or moves. A part that moved each time stays open:
 * its rows are kept, and the next sync tries it again. Resolves to the number of pages. Throws `FiltersIgnored`.
 */
async function readWindow(run: SyncRun, span: Span, { type, onPart }: WindowOptions = {}): Promise<number> {
  const { db } = run;
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
    const isComplete = reading.kind === 'complete';
    const goesOn = !isComplete && tries < TRIES;
    // How many known records were missing for the first time.
    const missing = db.commit(() => {
      storeRecords(run, [...reading.rows.values()]);
      if (goesOn) return 0;
      onPart?.(to);
      if (!isComplete) {
        db.insert('open_window', { from_ms: from, to_ms: to, tried_ms: run.now });
        return 0;
      }
      run.tally.windows += 1;
      const ids = new Set(reading.rows.keys());
      return missRecords(run, { from: from + 1, to: to - 1, ids, type: part.type });
    });
    if (goesOn) parts.unshift(...halves(part, tries + 1));
    // Missing from two complete readings it is gone; the second one asks for every type, for a type may change.
    else if (missing > 0) parts.unshift({ from, to, tries });
  }
  return pages;
}

function halves({ from, to, type }: Part, tries: number): Part[] {
  const middle = Math.floor((from + to) / 2);
  if (middle <= from || to - from < 2 * SECOND) return [{ from, to, tries, type }];
  return [
    { from, to: middle, tries, type },
    { from: middle, to, tries, type },
  ];
}

type Times = Pick<Input<'transactions.list'>, 'from' | 'to' | 'type'>;

function timesOf({ from, to, type }: Pick<Part, 'from' | 'to' | 'type'>): Times {
  const times = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  return type === undefined ? times : { ...times, type };
}

async function readSpan(run: SyncRun, part: Part): Promise<Reading> {
  const reading = await readPages(run, part);
  if (reading === 'large') return { kind: 'large', rows: new Map(), pages: 1 };
  const { rows, pages, first, last, firstIds } = reading;
  const isTold = first !== undefined && run.db.fact('totals') !== 'wrong';
  if (isTold && first === last && first === rows.size) return { kind: 'complete', rows, pages };
  if (!isTold) {
    // One page alone is read in one piece.
    if (pages === 1) return { kind: 'complete', rows, pages };
    const { data } = await run.ask.read('transactions.list', timesOf(part));
    return { kind: data.map(({ id }) => id).join('\n') === firstIds ? 'complete' : 'moved', rows, pages: pages + 1 };
  }
  if (first !== last) return { kind: 'moved', rows, pages };
  // The service may count something else than what it shows.
  const again = await readPages(run, part);
  if (again === 'large') return { kind: 'moved', rows, pages };
  const isSame =
    again.first === first && again.rows.size === rows.size && [...rows.keys()].every(id => again.rows.has(id));
  if (isSame) run.db.commit(() => run.db.setFact('totals', 'wrong'));
  return { kind: isSame ? 'complete' : 'moved', rows: again.rows, pages: pages + again.pages };
}

interface ReadPages {
  readonly rows: ReadonlyMap<string, Transaction>;
  /** Of the first page, a line each. */
  readonly firstIds: string;
  /** What the first and the last page that held rows count. */
  readonly first: number | undefined;
  readonly last: number | undefined;
  readonly pages: number;
}

async function readPages(run: SyncRun, part: Part): Promise<ReadPages | 'large'> {
  const { db } = run;
  const rows = new Map<string, Transaction>();
  let [firstIds, pages] = ['', 0];
  let [first, last]: (number | undefined)[] = [];
  const mayBeHalved = part.to - part.from >= 2 * SECOND;
  for await (const page of run.ask.pages('transactions.list', timesOf(part))) {
    refuseOutside(part, page.rows);
    for (const row of page.rows) rows.set(row.id, row);
    run.onRows(page.fresh);
    pages = page.number;
    const { total } = page.facts;
    last = total ?? last;
    if (pages === 1) {
      first = total;
      firstIds = page.rows.map(({ id }) => id).join('\n');
      const found = total === undefined ? 'absent' : 'told';
      if (db.fact('totals') !== found && db.fact('totals') !== 'wrong') db.commit(() => db.setFact('totals', found));
    }
    if (mayBeHalved && Math.max(first ?? 0, rows.size) > LARGE_ROWS) return 'large';
  }
  return { rows, firstIds, first, last, pages };
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
  let pages = 0;
  let ids: ReadonlySet<string> = new Set();
  for await (const { number, rows, fresh, seen } of run.ask.pages('transactions.list', {
    from: new Date(run.end).toISOString(),
  })) {
    run.onRows(fresh);
    if (rows.length > 0) run.db.commit(() => storeRecords(run, rows));
    [pages, ids] = [number, seen];
    if (number === AIM_PAGES) break;
  }
  if (pages > 1) return 0;
  // A service may cut times to the second.
  const since = { from: run.end + SECOND, to: Number.MAX_SAFE_INTEGER };
  return run.db.commit(() => missRecords(run, { ...since, ids }));
}

// Reads the list of a service that takes no notice of from and to

/** Pages of nothing new that end a walk. */
const QUIET_PAGES = 2;
const OVERLAP_MS = 72 * HOUR;
/** Readings in which known records were missing, until they are gone. */
const ROUNDS = 2;

/** `full`: to the end of the list, whatever is known. */
export async function walkAll(run: SyncRun, { full }: { readonly full: boolean }): Promise<void> {
  const { db } = run;
  db.commit(() => db.setFact('filters', 'ignored'));
  for (let round = 1; round <= ROUNDS; round += 1) if ((await walkOnce(run, full)) === 0) return;
}

/** Resolves to how many known records were missing for the first time, which only a complete walk can tell. */
async function walkOnce(run: SyncRun, full: boolean): Promise<number> {
  const { db } = run;
  let known = oldEnough(run);
  let mayStop = !full && db.fact('walked') === 'yes' && db.fact('order') !== 'other';
  let [quiet, previous] = [0, Number.POSITIVE_INFINITY];
  let ids: ReadonlySet<string> = new Set();
  let [first, last]: (number | undefined)[] = [];
  for await (const { number, rows, facts, fresh, seen } of run.ask.pages('transactions.list', {})) {
    const times = rows.map(({ created_at }) => timeOf(created_at) ?? run.now);
    const isOrdered = times.every((at, index) => at <= (times[index - 1] ?? previous));
    previous = times.at(-1) ?? previous;
    ids = seen;
    if (number === 1) first = facts.total;
    last = facts.total ?? last;
    if (!isOrdered && mayStop) {
      run.warn('the service takes no notice of from and to and lists transactions in no order of time: all are read');
      db.commit(() => db.setFact('order', 'other'));
      mayStop = false;
    }
    const moved = rows.length === 0 ? 0 : db.commit(() => storeRecords(run, rows));
    run.onRows(fresh);
    // A settlement may name an authorization further behind.
    if (moved > 0) known = oldEnough(run);
    quiet = moved === 0 && times.every(at => at < known) ? quiet + 1 : 0;
    // Records that are gone, or dated back, are seen by the count alone.
    if (mayStop && quiet >= QUIET_PAGES && (facts.total ?? countOf(db)) === countOf(db)) return 0;
  }
  const isComplete = first === undefined || (first === last && first === ids.size);
  return db.commit(() => {
    db.setFact('walked', 'yes');
    if (!isComplete) return 0;
    run.tally.windows += 1;
    return missRecords(run, { from: 0, to: run.end, ids });
  });
}

/** Records that are listed, also those that are counted in sums alone. */
function countOf(db: SyncRun['db']): number {
  const here = db.get<{ count: number }>('select count(*) as count from record where gone_at is null');
  return (here?.count ?? 0) + foldedRecords(db);
}

/** Records before this are not expected to change: older than the overlap and than every authorization that may. */
function oldEnough(run: SyncRun): number {
  const asOf = run.db.number('as_of') ?? run.end;
  const [oldest = Number.POSITIVE_INFINITY] = dueTimes(run, Number.MAX_SAFE_INTEGER);
  return Math.min(asOf - OVERLAP_MS, oldest);
}

// Reads authorizations again that may have changed since

/** `since`: the closed windows of this run began there; everything from there on has just been read. */
export async function readLateUpdates(run: SyncRun, since: number): Promise<void> {
  for (const span of spansOf(run, dueTimes(run, since))) await readWindow(run, span, { type: 'authorization' });
}

/** Times of the authorizations before `since` that may have changed, ms, oldest first. */
function dueTimes({ db, end, sync }: SyncRun, since: number): number[] {
  const finished = db.number('finished_sync') ?? 0;
  const rows = db.all<{ at_ms: number }>(
    `select at_ms from record
      where ${IS_PENDING} and gone_at is null and at_ms < ?
    union
    select a.at_ms from record s join record a on a.tx_id = s.authorization_id
      where s.first_sync > ? and s.type in ('settlement', 'refund') and a.type = 'authorization'
        and a.gone_at is null and (a.at_ms < ? or s.at_ms >= ?) and (s.first_sync = ? or a.status is not 'settled')
    order by 1`,
    since,
    finished,
    since,
    end,
    sync,
  );
  return rows.map(({ at_ms }) => at_ms);
}

/** Spans that hold them all: neighbours share a page, so that there are no more spans than everything since the oldest has pages. */
function spansOf({ db }: SyncRun, times: readonly number[]): Span[] {
  const between = `select count(*) as count from record
    where type = 'authorization' and gone_at is null and at_ms between ? and ?`;
  const spans: { from: number; to: number }[] = [];
  for (const at of times) {
    const last = spans.at(-1);
    if (last !== undefined && (db.get<{ count: number }>(between, last.from, at)?.count ?? 0) <= PAGE_ROWS)
      last.to = at;
    else spans.push({ from: at, to: at });
  }
  // Services may keep parts of a ms, or cut times to the second.
  const floor = (ms: number) => Math.floor(ms / SECOND) * SECOND;
  return spans.map(({ from, to }) => ({ from: floor(from) - 1, to: floor(to) + 2 * SECOND - 1 }));
}

// Compares how many records the service counts with how many are here.

const READ_AT_ONCE = AIM_PAGES * PAGE_ROWS;

/** Audits everything up to the end of this run. */
export async function auditCounts(run: SyncRun): Promise<void> {
  const { db } = run;
  if (db.fact('totals') !== 'told') return;
  // From the beginning of time: a record may be dated back behind every one that is known.
  const span = { from: db.number('kept_since') ?? 0, to: run.end };
  await auditSpan(run, span, await totalOf(run, span));
}

async function totalOf({ ask }: SyncRun, { from, to }: Span): Promise<number | undefined> {
  const until = { to: new Date(to).toISOString() };
  const { page } = await ask.read('transactions.list', from === 0 ? until : timesOf({ from, to }));
  return page.total;
}

async function auditSpan(run: SyncRun, span: Span, total: number | undefined): Promise<void> {
  const here = countHere(run, span);
  if (total === undefined || total === here) return;
  const { from, to } = span;
  if (Math.max(total, here) <= READ_AT_ONCE || to - from <= 2 * SECOND) {
    await readWindow(run, span);
    return;
  }
  const middle = Math.floor((from + to) / 2);
  const older = { from, to: middle };
  const ofOlder = await totalOf(run, older);
  await auditSpan(run, older, ofOlder);
  await auditSpan(run, { from: middle + 1, to }, ofOlder === undefined ? undefined : total - ofOlder);
}

function countHere({ db }: SyncRun, { from, to }: Span): number {
  return (
    db.get<{ count: number }>(
      'select count(*) as count from record where at_ms between ? and ? and gone_at is null',
      from,
      to,
    )?.count ?? 0
  );
}
