/**
 * Compares how many records the service counts with how many are here. A difference is bisected by time, and only the
 * window it lies in is read again: rows that were deleted, dated back or missed.
 */
import { DAY, SECOND } from '../core/durations.ts';
import { isWithin, type SyncRun } from './run.ts';
import type { Span } from './store-records.ts';
import { AIM_PAGES, PAGE_ROWS, readWindow } from './windows.ts';

const AUDITED_DAYS = 35;
const READ_AT_ONCE = AIM_PAGES * PAGE_ROWS;

/** Audits everything up to the end of this run, and once a day each of the last 35 days. */
export async function auditCounts(run: SyncRun): Promise<void> {
  const { db, now } = run;
  if (db.fact('totals') !== 'told') return;
  const beginning = db.get<{ at_ms: number | null }>('select min(at_ms) as at_ms from record')?.at_ms ?? run.end;
  const since = db.number('kept_since');
  // From the beginning of time: a record may be dated back behind every one that is known.
  if (since === undefined) await auditSpan(run, { from: 0, to: run.end }, await totalUpTo(run));
  else {
    const kept = { from: since, to: run.end };
    await auditSpan(run, kept, await totalOf(run, kept));
  }
  const last = db.number('days_at');
  if (!isWithin(DAY, { since: last, now })) {
    // The first sync has just read them.
    if (last !== undefined) await auditDays(run, beginning);
    db.commit(() => db.setFact('days_at', now));
  }
}

async function auditDays(run: SyncRun, beginning: number): Promise<void> {
  for (let day = 1; day <= AUDITED_DAYS; day += 1) {
    const span = { from: run.end - day * DAY, to: run.end - (day - 1) * DAY - 1 };
    if (span.to < beginning) return;
    await auditSpan(run, span, await totalOf(run, span));
  }
}

/** Everything up to the end, without a beginning: older rows than any known one are counted too. */
async function totalUpTo(run: SyncRun): Promise<number | undefined> {
  const { facts } = await run.ask.transactions({ to: run.end }, 1);
  return facts.total;
}

async function totalOf(run: SyncRun, span: Span): Promise<number | undefined> {
  const { facts } = await run.ask.transactions(span, 1);
  return facts.total;
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
