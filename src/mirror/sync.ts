/** One sync: the copy is brought up to what the service shows. Each step is committed, so a killed one goes on there. */
import { createHash } from 'node:crypto';
import { LIMITS } from '../contract/limits.ts';
import type { PageFacts } from '../contract/operation.ts';
import { incompleteList } from '../contract/whole-list.ts';
import { HOUR, isoTime, MINUTE, SECOND } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import type { Clock } from '../platform/host.ts';
import type { MirrorDatabase } from './file.ts';
import { copyOwnRows, type OwnOperation } from './own-rows.ts';
import { isLastPage, type PacedReader } from './paced-reader.ts';
import {
  type Card,
  type Challenge,
  type Counts,
  challengeValues,
  recordValues,
  storeCards,
  storeChallenges,
  storeGoneCard,
  storeRecords,
  storeWallet,
  type Wallet,
  walletValues,
} from './store.ts';
import {
  auditCounts,
  FiltersIgnored,
  isWithin,
  readLateUpdates,
  readOn,
  readOpenWindows,
  readTail,
  readWhatChangedBehind,
  type SyncRun,
  walkAll,
} from './windows.ts';

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

// Reads cards

const PER_PAGE = LIMITS.pageSize.max;
/** Times a list that moved is read again. */
const TRIES = 3;

type Status = 'active' | 'frozen' | 'terminated';

/** Reads them and writes down when. Throws `guarded` where no card that was known is there any more. */
async function readCards(run: SyncRun): Promise<void> {
  const { db } = run;
  const known = db.all<{ card_id: string }>(
    `select card_id from card where gone_at is null and status <> 'terminated' order by card_id`,
  );
  const seen = new Set<string>();
  const isFiltered = await readState(run, 'active', seen);
  // A service that takes no notice of the state has shown all of them.
  if (isFiltered) {
    await readState(run, 'frozen', seen);
    await readTerminated(run, seen);
    await readOthers(run, seen);
  }
  const gone: string[] = [];
  for (const { card_id } of known) if (!seen.has(card_id) && !(await readAlone(run, card_id))) gone.push(card_id);
  if (gone.length > 1 && gone.length === known.length) {
    // Those of the other account stay out, so that the next sync says it again.
    db.commit(() => {
      for (const card of seen) db.run('delete from card where card_id = ? and first_seen = ?', card, run.now);
    });
    throw noKnownCard(gone.length);
  }
  db.commit(() => {
    for (const card of gone) storeGoneCard(run, card);
    db.setFact('cards_at', run.now);
  });
}

/**
 * Reads all pages, again where rows moved meanwhile. Resolves to false where cards of other states came. Throws
 * `contract_mismatch` where the service counts other cards than it shows, of this state and in all.
 */
async function readState(run: SyncRun, status: Status, seen: Set<string>): Promise<boolean> {
  const keep = (found: ReadonlyMap<string, Card>) => {
    run.db.commit(() => storeCards(run, [...found.values()]));
    for (const id of found.keys()) seen.add(id);
  };
  let before: ReadList | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const list = await readList(run, status);
    const { found, first, last } = list;
    keep(found);
    const isFiltered = [...found.values()].every(card => card.status === status);
    const isWhole = first === undefined || (first === last && first === found.size);
    if (isWhole) return isFiltered;
    const isSteady = first === last && before?.first === first && before?.found.size === found.size;
    before = list;
    if (attempt < TRIES) continue;
    // A list that moves is as good as it gets; one that stands still and lacks cards is not.
    if (!isSteady) return isFiltered;
    // A service may count the cards of every state.
    const all = await readList(run, undefined);
    keep(all.found);
    if (all.first !== all.last || all.first === all.found.size) return false;
    throw missingCards(all.first, all.found.size);
  }
}

function missingCards(total: number | undefined, rows: number): CliError {
  const why = `the service counts ${total}, but ${rows} were received`;
  return incompleteList('cards.list', `${why}. Nothing can be decided by a copy that lacks cards`);
}

interface ReadList {
  readonly found: ReadonlyMap<string, Card>;
  /** What the first and the last page count that tell it. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** All pages once; of every state without `status`. */
async function readList(run: SyncRun, status: Status | undefined): Promise<ReadList> {
  const found = new Map<string, Card>();
  let [first, last]: (number | undefined)[] = [];
  for (let number = 1; ; number += 1) {
    const { data, page } = await cardPage(run, status, number);
    const before = found.size;
    for (const card of data) found.set(card.id, card);
    if (number === 1) first = page.total;
    last = page.total ?? last;
    const standing = { number, rows: data.length, fresh: found.size - before, distinct: found.size };
    if (isLastPage(page, standing)) return { found, first, last };
  }
}

/** Terminated cards do not change any more: a page of known ones ends it, where their count agrees. */
async function readTerminated(run: SyncRun, seen: Set<string>): Promise<void> {
  const { db } = run;
  const isKnown = (id: string) =>
    db.get('select 1 as one from card where card_id = ? and status = ? and gone_at is null', id, 'terminated') !==
    undefined;
  let distinct = 0;
  const came = new Set<string>();
  for (let number = 1; ; number += 1) {
    const { data, page } = await cardPage(run, 'terminated', number);
    const fresh = data.filter(({ id }) => !isKnown(id));
    for (const { id } of data) {
      seen.add(id);
      came.add(id);
    }
    if (fresh.length > 0) db.commit(() => storeCards(run, fresh));
    const here = db.get<{ count: number }>(
      `select count(*) as count from card where status = 'terminated' and gone_at is null`,
    )?.count;
    if (fresh.length === 0 && (page.total === undefined || page.total === here)) return;
    const standing = { number, rows: data.length, fresh: came.size - distinct, distinct: came.size };
    distinct = came.size;
    if (!isLastPage(page, standing)) continue;
    if (page.total !== undefined && page.total !== came.size) await readState(run, 'terminated', seen);
    return;
  }
}

/** Cards in a state that the interface does not name are in no list of a state: the count of all tells of them. */
async function readOthers(run: SyncRun, seen: Set<string>): Promise<void> {
  const { db } = run;
  const { page } = await run.ask.read('cards.list', { per_page: 1 });
  const known = () => db.get<{ count: number }>('select count(*) as count from card where gone_at is null')?.count ?? 0;
  let distinct = 0;
  const came = new Set<string>();
  for (let number = 1; page.total !== undefined && known() < page.total; number += 1) {
    const { data, page: facts } = await cardPage(run, undefined, number);
    const isKnown = (id: string) => db.get('select 1 as one from card where card_id = ? and gone_at is null', id);
    const fresh = data.filter(({ id }) => isKnown(id) === undefined);
    if (fresh.length > 0) db.commit(() => storeCards(run, fresh));
    for (const { id } of fresh) seen.add(id);
    for (const { id } of data) came.add(id);
    const standing = { number, rows: data.length, fresh: came.size - distinct, distinct: came.size };
    distinct = came.size;
    if (isLastPage(facts, standing)) return;
  }
}

async function cardPage(
  { ask }: SyncRun,
  status: Status | undefined,
  number: number,
): Promise<{ data: readonly Card[]; page: PageFacts }> {
  try {
    return await ask.read('cards.list', {
      ...(status && { status }),
      per_page: PER_PAGE,
      ...(number > 1 && { page: number }),
    });
  } catch (error) {
    if (number > 1 && error instanceof CliError && error.kind === 'not_found') return { data: [], page: {} };
    throw error;
  }
}

async function readAlone(run: SyncRun, cardId: string): Promise<boolean> {
  try {
    const card = await run.ask.read('cards.get', { card_id: cardId });
    run.db.commit(() => storeCards(run, [card]));
    return true;
  } catch (error) {
    if (!(error instanceof CliError) || error.kind !== 'not_found') throw error;
    return false;
  }
}

/** A service keeps its cards: an account without any of those that were known is another one. */
function noKnownCard(count: number): CliError {
  return new CliError('guarded', {
    message: `none of the ${count} cards of this copy is at the service any more: another account, or a sandbox that was reset`,
    notes: ['The books go on in a new copy. The hint moves the old one aside; nothing is deleted.'],
    hint: 'cardwright books reset',
  });
}
