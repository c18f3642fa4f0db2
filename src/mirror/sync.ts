/** One sync: the copy is brought up to what the service shows. Each step is committed, so a killed one goes on there. */

import { createHash } from 'node:crypto';
import { HOUR, MINUTE, SECOND } from '../core/durations.ts';
import { isoTime } from '../core/iso-time.ts';
import type { Clock } from '../platform/host.ts';
import { readWhatChangedBehind } from './changed-behind.ts';
import { auditCounts } from './count-audit.ts';
import type { MirrorDatabase } from './database.ts';
import { readLateUpdates } from './late-updates.ts';
import { copyOwnRows, type OwnOperation } from './own-rows.ts';
import type { PacedReader } from './paced-reader.ts';
import { readCards } from './read-cards.ts';
import { type Challenge, challengeValues, recordValues, type Wallet, walletValues } from './records.ts';
import { FiltersIgnored, isWithin, type SyncRun } from './run.ts';
import { storeChallenges, storeWallet } from './store-cards.ts';
import { type Counts, storeRecords } from './store-records.ts';
import { walkAll } from './walk.ts';
import { readOn, readOpenWindows, readTail } from './windows.ts';

export interface SyncParts {
  readonly db: MirrorDatabase;
  readonly ask: PacedReader;
  readonly clock: Clock;
  /** Reads everything again. */
  readonly full: boolean;
  /** Reads cards although nothing seems to have moved: money may go from one to another. */
  readonly readsCards?: boolean;
  /** ms UTC by the service's answers; undefined where they do not tell. */
  readonly serviceNow: () => number | undefined;
  /** All operations in the journal of this machine. */
  readonly ownOperations: () => Promise<readonly OwnOperation[]>;
  readonly warn: (text: string) => void;
  readonly onRows: (rows: number) => void;
}

export interface SyncReport {
  /** ISO 8601 UTC; the copy is of this instant. */
  readonly as_of: string;
  readonly requests: number;
  readonly transactions: Counts;
  readonly cards: Counts;
  readonly windows: { readonly read: number; readonly open: number };
  /** The last checkpoint of a reconciliation, and whether it was exact. */
  readonly cut: string | null;
  readonly exact: boolean;
}

/** Cards are read at the latest after this. */
const CARDS_AFTER_MS = 15 * MINUTE;
const DAYS_AFTER_MS = 24 * HOUR;
/** Read again before the last end; more where the service counts nothing. */
const OVERLAP_MS = { told: 2 * HOUR, blind: 72 * HOUR } as const;
/** How far an end of a window stays behind the clock of the service, or of this machine. */
const BEHIND_MS = { service: 2 * SECOND, machine: 5 * MINUTE } as const;

/**
 * Brings the copy up to date. Rejects with what reading throws; what was committed stays. Whoever calls it holds the lock
 * of the mirror.
 */
export async function syncMirror(parts: SyncParts): Promise<SyncReport> {
  const { db, ask, full } = parts;
  const first = await lookFirst(ask);
  // A service tells its time to the second.
  const now = Math.floor((parts.serviceNow() ?? parts.clock.now()) / SECOND) * SECOND;
  const counts = { transactions: noCounts(), cards: noCounts() };
  const sync = db.commit(() => {
    const number = (db.number('sync') ?? 0) + 1;
    db.setFact('sync', number);
    return number;
  });
  const behind = parts.serviceNow() === undefined ? BEHIND_MS.machine : BEHIND_MS.service;
  // The last ms of a second: whatever a service thinks of an end, no record of whole seconds stands on it.
  const end = Math.floor((now - behind) / SECOND) * SECOND + SECOND - 1;
  const { clock, warn, onRows } = parts;
  const run: SyncRun = { db, ask, clock, now, sync, counts, end, warn, onRows, tally: { windows: 0 } };
  db.commit(() => {
    storeWallet(run, first.wallet);
    storeChallenges(run, first.challenges);
  });
  const isQuiet = !full && nothingMoved(db, first.digest, now);
  const cardsAt = db.number('cards_at');
  const isCardsTurn = parts.readsCards || !isWithin(CARDS_AFTER_MS, { since: cardsAt, now });
  if (!isQuiet || isCardsTurn) await readCards(run);
  if (!isQuiet) {
    const since = await readTransactions(run, { full, firstPage: first.page });
    await readWhatChangedBehind(run, { since, spent: walletValues(first.wallet).total_spent_cents });
  }
  await copyOwnRows(run, await parts.ownOperations());
  // Where nothing was read but what is as it was, so is this.
  const isKnown = isQuiet && !isCardsTurn && db.fact('moved') === '';
  const moved = isKnown ? undefined : movedSince(first.wallet, await ask.read('wallet.get', {}));
  finish(run, { digest: first.digest, moved });
  return reportOf(run);
}

interface First {
  readonly wallet: Wallet;
  readonly challenges: readonly Challenge[];
  readonly page: Awaited<ReturnType<PacedReader['transactions']>>;
  /** Of everything that the three answers show. */
  readonly digest: string;
}

/** The three requests of a sync that finds nothing moved. */
async function lookFirst(ask: PacedReader): Promise<First> {
  const wallet = await ask.read('wallet.get', {});
  const { data: challenges } = await ask.read('challenges.list', {});
  const page = await ask.transactions({}, 1);
  const shown = [
    walletValues(wallet),
    challenges.map(challengeValues),
    page.facts.total ?? null,
    page.rows.map(row => [row.id, recordValues(row)]),
  ];
  const digest = createHash('sha256').update(JSON.stringify(shown)).digest('hex');
  return { wallet, challenges, page, digest };
}

function nothingMoved(db: MirrorDatabase, digest: string, now: number): boolean {
  const isFinished = db.number('finished_sync') === (db.number('sync') ?? 0) - 1;
  const daysAt = db.number('days_at');
  const isAudited = db.fact('totals') !== 'told' || isWithin(DAYS_AFTER_MS, { since: daysAt, now });
  return isFinished && isAudited && openWindows(db) === 0 && db.fact('seen') === digest;
}

interface TransactionsWish {
  readonly full: boolean;
  readonly firstPage: First['page'];
}

/** Resolves to the time from which on everything was read, ms. */
async function readTransactions(run: SyncRun, { full, firstPage }: TransactionsWish): Promise<number> {
  const { db } = run;
  if (db.fact('filters') !== 'ignored') {
    try {
      await readOpenWindows(run);
      const since = beginningOf(run, full);
      await readOn(run, since);
      await readTail(run);
      await readLateUpdates(run, since);
      await auditCounts(run);
      db.commit(() => {
        db.setFact('filters', 'honoured');
        if (full) db.setFact('full_at', run.now);
      });
      return since;
    } catch (error) {
      if (!(error instanceof FiltersIgnored)) throw error;
      run.warn('the service takes no notice of from and to: the list is read from its first page');
      db.commit(() => {
        db.run('delete from open_window');
        storeRecords(run, firstPage.rows);
      });
    }
  }
  await walkAll(run, { full });
  return run.end;
}

/** Where the closed windows of this run begin, ms. */
function beginningOf({ db, end }: SyncRun, full: boolean): number {
  const last = db.number('windows_end');
  if (last !== undefined && !full) {
    const overlap = db.fact('totals') === 'told' ? OVERLAP_MS.told : OVERLAP_MS.blind;
    return Math.min(last, end) - overlap;
  }
  // All records of a card follow its creation; what does not, the count audit finds.
  const isWhole = db.number('kept_since') === undefined;
  const oldest = db.get<{ at: number | null }>(
    isWhole
      ? 'select min(at) as at from (select min(created_ms) as at from card union all select min(at_ms) from record)'
      : 'select min(at_ms) as at from record',
  )?.at;
  return Math.min(oldest ?? end, end) - SECOND;
}

/** Fields of the wallet that are other than they were at the beginning of this sync. */
function movedSince(before: Wallet, now: Wallet): string[] {
  const [old, values] = [walletValues(before), walletValues(now)];
  return Object.entries(values).flatMap(([name, value]) => (value === old[name as keyof typeof old] ? [] : [name]));
}

interface Finishing {
  readonly digest: string;
  /** Undefined where that was not looked at. */
  readonly moved: readonly string[] | undefined;
}

function finish({ db, now, sync, clock }: SyncRun, { digest, moved }: Finishing): void {
  db.commit(() => {
    if (moved !== undefined) db.setFact('moved', moved.join(' '));
    db.setFact('as_of', now);
    db.setFact('synced_at', Math.floor(clock.now()));
    db.setFact('seen', digest);
    db.setFact('finished_sync', sync);
  });
}

function reportOf({ db, now, ask, counts, tally }: SyncRun): SyncReport {
  const checkpoint = db.get<{ cut_id: string; exact: number }>(
    'select cut_id, exact from checkpoint order by sync desc, at_ms desc limit 1',
  );
  return {
    as_of: isoTime(now),
    requests: ask.requests,
    transactions: counts.transactions,
    cards: counts.cards,
    windows: { read: tally.windows, open: openWindows(db) },
    cut: checkpoint?.cut_id ?? null,
    exact: checkpoint?.exact === 1,
  };
}

export function openWindows(db: MirrorDatabase): number {
  return db.get<{ count: number }>('select count(*) as count from open_window')?.count ?? 0;
}

function noCounts(): Counts {
  return { new: 0, changed: 0, gone: 0 };
}
