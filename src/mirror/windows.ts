/**
 * Reads records complete, newest first: each request ends where the page before it ended, so that nothing shifts however
 * much comes meanwhile. Where a service ignores times or lists in no order of them, its list is read page by page.
 */

import type { Input } from '../contract/calls.ts';
import { instantOf, SECOND, wholeSeconds } from '../core/durations.ts';
import type { Clock } from '../platform/host.ts';
import type { PacedReader } from './paced-reader.ts';
import { IS_PENDING, LAST_BY_SYNC } from './schema.ts';
import { missRecords, type Span, storeRecord, type Transaction, type Writing } from './store.ts';

export interface SyncRun extends Writing {
  readonly ask: PacedReader;
  readonly clock: Clock;
  /** Nothing comes any more that is dated before it; ms of the service. */
  readonly end: number;
  readonly warn: (text: string) => void;
  /** Rows read so far, for the progress. */
  readonly onRows: (rows: number) => void;
}

/** A service that cannot be read by spans of time: it takes no notice of from and to, or lists in no order of time. */
export class NoSpans extends Error {
  override readonly name = 'NoSpans';
  readonly why: 'filters' | 'order';

  constructor(why: NoSpans['why']) {
    super(why);
    this.why = why;
  }
}

// Reads spans of time complete.

const PAGE_ROWS = 25;
/** Rows that a window has at least, but for the last one of its span: they are committed at once. */
const WINDOW_ROWS = 40 * PAGE_ROWS;
/** Of a span that ends with what is newest. */
const NO_END = Number.MAX_SAFE_INTEGER;

interface Part extends Span {
  readonly type?: 'authorization' | undefined;
}

/**
 * Reads a span and commits what it holds, window by window. `onWindow` is told in each commit to where the span is still to be
 * read. Throws `NoSpans`.
 */
async function readSpan(run: SyncRun, { type, ...span }: Part, onWindow?: (to: number) => void): Promise<void> {
  let { to } = span;
  for (let isAgain = false; ; ) {
    // Missing from two complete readings it is gone; the second one asks for every type, for a type may change.
    const asked: Part = { from: span.from, to, type: isAgain ? undefined : type };
    const { rows, from, isLast } = await readWindow(run, asked);
    const missing = run.db.commit(() => {
      for (const row of rows.values()) storeRecord(run, row);
      onWindow?.(from - 1);
      return missRecords(run, { from, to, ids: new Set(rows.keys()), type: asked.type });
    });
    isAgain = missing > 0 && !isAgain;
    if (isAgain) continue;
    run.counts.windows += 1;
    if (isLast) return;
    to = from - 1;
  }
}

/**
 * The newest rows of a span, complete down to `from`; `isLast` where nothing of the span is left. Read page after page, each up to
 * the oldest row of the one before.
 */
async function readWindow(run: SyncRun, { from, to, type }: Part) {
  const rows = new Map<string, Transaction>();
  for (let end = to; ; ) {
    let total: number | undefined;
    for await (const page of run.ask.pages('transactions.list', timesOf({ from, to: end, type }))) {
      const oldest = oldestOf(page.rows, { from, to: end });
      for (const row of page.rows) rows.set(row.id, row);
      run.onRows(page.fresh);
      if (page.number === 1) total = page.facts.total;
      const isOther = page.isLast && total !== undefined && total === page.facts.total && total !== page.seen.size;
      noteTotals(run, isOther ? 'wrong' : total === undefined ? 'absent' : 'counted');
      if (page.isLast) return { rows, from, isLast: true };
      // More of one second than stand on a page: they are read by the pages of this request.
      if (wholeSeconds(oldest) === wholeSeconds(end)) continue;
      if (rows.size >= WINDOW_ROWS) return { rows, from: oldest + 1, isLast: false };
      end = oldest;
      break;
    }
  }
}

/** Whether lists count their rows. A service that once counted others than it shows is not believed again. */
function noteTotals({ db }: SyncRun, found: 'counted' | 'absent' | 'wrong'): void {
  const known = db.fact('totals');
  if (known !== found && known !== 'wrong') db.commit(() => db.setFact('totals', found));
}

type Times = Pick<Input<'transactions.list'>, 'from' | 'to' | 'type'>;

/** Services may cut times to the second, and leave out what stands on an end. */
function timesOf({ from, to, type }: Part): Times {
  return {
    from: new Date(Math.max(0, wholeSeconds(from) - 1)).toISOString(),
    ...(to < NO_END && { to: new Date(wholeSeconds(to) + 2 * SECOND - 1).toISOString() }),
    ...(type !== undefined && { type }),
  };
}

/** The time of the last row. Throws `NoSpans` for rows that lie outside of what was asked for, or stand in no order. */
function oldestOf(rows: readonly Transaction[], { from, to }: Span): number {
  let before = to < NO_END ? to + 3 * SECOND : Number.POSITIVE_INFINITY;
  const [first] = rows;
  for (const row of rows) {
    const at = instantOf(row.created_at);
    if (at === undefined || at < from - 3 * SECOND) throw new NoSpans('filters');
    if (at > before) throw new NoSpans(row === first ? 'filters' : 'order');
    before = at;
  }
  return before;
}

/** Reads what came since `since`, and what a sync that was stopped has left: a span is written down until it is read. */
export async function readOn(run: SyncRun, since: number): Promise<void> {
  const { db } = run;
  db.commit(() => {
    const joined = db.get<{ from: number | null }>(
      'select min(from_ms) as "from" from open_window where to_ms >= ?',
      since,
    );
    db.run('delete from open_window where to_ms >= ?', since);
    db.insert('open_window', { from_ms: Math.min(since, joined?.from ?? since), to_ms: NO_END });
    db.setFact('windows_end', run.end);
  });
  const open = db.all<{ id: number; from_ms: number; to_ms: number }>(
    'select rowid as id, from_ms, to_ms from open_window order by to_ms desc',
  );
  for (const { id, from_ms, to_ms } of open) {
    await readSpan(run, { from: from_ms, to: to_ms }, to =>
      db.run('update open_window set to_ms = ? where rowid = ?', to, id),
    );
    db.commit(() => db.run('delete from open_window where rowid = ?', id));
  }
}

// Reads the list of a service that cannot be read by spans of time

/** Readings in which known records were missing, until they are gone. */
const ROUNDS = 2;

/** To the end of the list. */
export async function walkAll(run: SyncRun): Promise<void> {
  const { db } = run;
  for (let round = 1; round <= ROUNDS; round += 1) {
    let ids: ReadonlySet<string> = new Set();
    let [first, last]: (number | undefined)[] = [];
    for await (const { number, rows, facts, fresh, seen } of run.ask.pages('transactions.list', {})) {
      db.commit(() => {
        for (const row of rows) storeRecord(run, row);
      });
      run.onRows(fresh);
      ids = seen;
      if (number === 1) first = facts.total;
      last = facts.total ?? last;
    }
    // A list that moved while it was read tells of nothing that is missing.
    if (first !== undefined && (first !== last || first !== ids.size)) return;
    run.counts.windows += 1;
    if (db.commit(() => missRecords(run, { from: 0, to: run.end, ids })) === 0) return;
  }
}

// Reads authorizations again that may have changed since

/** Everything from `since` on has just been read. */
export async function readLateUpdates(run: SyncRun, since: number): Promise<void> {
  for (const span of spansOf(run, dueTimes(run, since))) await readSpan(run, { ...span, type: 'authorization' });
}

/** Times of the authorizations before `since` that may have changed, ms, oldest first. */
function dueTimes({ db, sync }: SyncRun, since: number): number[] {
  const finished = db.number('finished_sync') ?? 0;
  const rows = db.all<{ at_ms: number }>(
    `select at_ms from record
      where ${IS_PENDING} and gone_at is null and at_ms < ?
    union
    select a.at_ms from record s join record a on a.tx_id = s.authorization_id
      where s.id > ${LAST_BY_SYNC} and s.type in ('settlement', 'refund') and a.type = 'authorization'
        and a.gone_at is null and a.at_ms < ? and (s.first_sync = ? or a.status is not 'settled')
    order by 1`,
    ...[since, finished, since, sync],
  );
  return rows.map(({ at_ms }) => at_ms);
}

/** Spans that hold them all: neighbours share a page, so that there are no more spans than everything since the oldest has pages. */
function spansOf({ db }: SyncRun, times: readonly number[]): Span[] {
  const between = `record where type = 'authorization' and gone_at is null and at_ms between ? and ?`;
  const spans: { from: number; to: number }[] = [];
  for (const at of times) {
    const last = spans.at(-1);
    if (last !== undefined && db.count(between, last.from, at) <= PAGE_ROWS) last.to = at;
    else spans.push({ from: at, to: at });
  }
  return spans;
}

// Compares how many records the service counts with how many are here.

/** Audits everything up to the end of this run. */
export async function auditCounts(run: SyncRun): Promise<void> {
  const { db } = run;
  if (db.fact('totals') !== 'counted') return;
  // From the beginning of time: a record may be dated back behind every one that is known.
  const span = { from: 0, to: run.end };
  await auditSpan(run, span, await totalOf(run, span));
}

async function totalOf({ ask }: SyncRun, { from, to }: Span): Promise<number | undefined> {
  const since = from === 0 ? {} : { from: new Date(from).toISOString() };
  const { page } = await ask.read('transactions.list', { ...since, to: new Date(to).toISOString() });
  return page.total;
}

async function auditSpan(run: SyncRun, span: Span, total: number | undefined): Promise<void> {
  const here = run.db.count('record where at_ms between ? and ? and gone_at is null', span.from, span.to);
  if (total === undefined || total === here) return;
  const { from, to } = span;
  if (Math.max(total, here) <= WINDOW_ROWS || to - from <= 2 * SECOND) {
    await readSpan(run, span);
    return;
  }
  const middle = Math.floor((from + to) / 2);
  const older = { from, to: middle };
  const ofOlder = await totalOf(run, older);
  await auditSpan(run, older, ofOlder);
  await auditSpan(run, { from: middle + 1, to }, ofOlder === undefined ? undefined : total - ofOlder);
}
