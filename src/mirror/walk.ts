/**
 * Reads the list of a service that takes no notice of from and to: from its first page on, until two pages hold only
 * known, unchanged records that are old enough. Where its order is another, everything is read.
 */
import { HOUR } from '../core/durations.ts';
import { foldedRecords } from './fold.ts';
import { dueTimes } from './late-updates.ts';
import { isLastPage } from './paced-reader.ts';
import { timeOf } from './records.ts';
import type { SyncRun } from './run.ts';
import { missRecords, storeRecords } from './store-records.ts';

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
  const seen = new Set<string>();
  let [first, last]: (number | undefined)[] = [];
  for (let number = 1; ; number += 1) {
    const { rows, facts } = await run.ask.transactions({}, number);
    const before = seen.size;
    const times = rows.map(({ created_at }) => timeOf(created_at) ?? run.now);
    const isOrdered = times.every((at, index) => at <= (times[index - 1] ?? previous));
    previous = times.at(-1) ?? previous;
    for (const { id } of rows) seen.add(id);
    if (number === 1) first = facts.total;
    last = facts.total ?? last;
    if (!isOrdered && mayStop) {
      run.warn('the service takes no notice of from and to and lists transactions in no order of time: all are read');
      db.commit(() => db.setFact('order', 'other'));
      mayStop = false;
    }
    const moved = rows.length === 0 ? 0 : db.commit(() => storeRecords(run, rows));
    run.onRows(seen.size - before);
    // A settlement may name an authorization further behind.
    if (moved > 0) known = oldEnough(run);
    quiet = moved === 0 && times.every(at => at < known) ? quiet + 1 : 0;
    // Records that are gone, or dated back, are seen by the count alone.
    if (mayStop && quiet >= QUIET_PAGES && (facts.total ?? countOf(db)) === countOf(db)) return 0;
    const standing = { number, rows: rows.length, fresh: seen.size - before, distinct: seen.size };
    if (isLastPage(facts, standing)) break;
  }
  const isComplete = first === undefined || (first === last && first === seen.size);
  return db.commit(() => {
    db.setFact('walked', 'yes');
    if (!isComplete) return 0;
    run.tally.windows += 1;
    return missRecords(run, { from: 0, to: run.end, ids: seen });
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
