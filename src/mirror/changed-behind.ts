/**
 * Where a service keeps a purchase in one changing record, a late refund changes a record of long ago, and no list says
 * so. The wallet does: what it counts as spent and what the records here add up to drift apart.
 */
import { type EffectColumns, spentBy } from '../books/effect.ts';
import { DAY } from '../core/durations.ts';
import type { MirrorDatabase } from './database.ts';
import { foldedSums } from './record-sums.ts';
import { walletValues } from './records.ts';
import type { SyncRun } from './run.ts';
import { walkAll } from './walk.ts';
import { readWindow } from './windows.ts';

/** First stretch that is read again; each one before it is twice as long, for most refunds come soon. */
const FIRST_STRETCH_MS = 7 * DAY;

/**
 * Reads older and older records again until the sum is as far from `total_spent` as it was at the last sync. `since`:
 * everything from there on has just been read. A difference that no record explains is looked for once.
 */
export async function readWhatChangedBehind(run: SyncRun, { since, spent }: { since: number; spent: number | null }) {
  const { db } = run;
  if (spent === null || !mayBeSingle(db)) return;
  const known = db.number('spent_gap') ?? 0;
  const isFound = () => gapOf(db, spent) === known;
  if (isFound() || (await isMoving(run, spent))) return;
  const oldest = db.get<{ at: number | null }>('select min(at_ms) as at from record')?.at ?? since;
  if (db.fact('filters') === 'ignored') await walkAll(run, { full: true });
  else {
    let [to, stretch] = [since, FIRST_STRETCH_MS];
    while (to > oldest && !isFound()) {
      const from = Math.max(to - stretch, oldest - 1);
      await readWindow(run, { from, to });
      [to, stretch] = [from, 2 * stretch];
    }
  }
  db.commit(() => db.setFact('spent_gap', gapOf(db, spent)));
}

/** A purchase is one changing record, or nothing says yet that its settlement is one of its own. */
function mayBeSingle(db: MirrorDatabase): boolean {
  if (db.fact('single') !== undefined) return true;
  const settled = `select 1 from record where type = 'settlement' and authorization_id <> tx_id limit 1`;
  return db.get(settled) === undefined;
}

/** What the wallet counts as spent less what the records do, cents. Services that count gross differ by their refunds. */
function gapOf(db: MirrorDatabase, spent: number): number {
  let gap = spent;
  const rows = db.each<EffectColumns>(
    `select tx_id, type, status, cents, currency, authorization_id from record
      where type in ('settlement', 'refund') and gone_at is null`,
  );
  for (const row of rows) gap -= spentBy(row);
  for (const { settled, refunded } of foldedSums(db).values()) gap -= settled - refunded;
  return gap;
}

/** Something was settled while this sync read: the next one compares. */
async function isMoving({ ask }: SyncRun, spent: number): Promise<boolean> {
  return walletValues(await ask.read('wallet.get', {})).total_spent_cents !== spent;
}
