/** One sync: the copy is brought up to what the service shows. Each step is committed, so a killed one goes on there. */
import { createHash } from 'node:crypto';
import { LIMITS } from '../contract/limits.ts';
import { incompleteList } from '../contract/whole-list.ts';
import { DAY, HOUR, isoTime, MINUTE, SECOND, wholeSeconds } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import type { Clock } from '../platform/host.ts';
import type { MirrorDatabase } from './file.ts';
import { copyOwnRows, type OwnOperation } from './own-rows.ts';
import type { PacedReader } from './paced-reader.ts';
import {
  type Card,
  type Counts,
  recordValues,
  storeCards,
  storeGoneCard,
  storeWallet,
  type Wallet,
  walletValues,
} from './store.ts';
import { auditCounts, NoSpans, readLateUpdates, readOn, type SyncRun, walkAll } from './windows.ts';

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

/** Cards are read at the latest after this. */
const CARDS_AFTER_MS = 15 * MINUTE;
/**
 * Read again before the last end: more where the service counts nothing, and most where a purchase is one changing record
 * whose late refund no list shows as new.
 */
const OVERLAP_MS = { counted: 2 * HOUR, blind: 72 * HOUR, changing: 90 * DAY } as const;
/** How far behind the clock of the service, or of this machine, nothing more is expected. */
const BEHIND_MS = { service: 2 * SECOND, machine: 5 * MINUTE } as const;

/**
 * Brings the copy up to date. Rejects with what reading throws; what was committed stays. Whoever calls it holds the lock
 * of the mirror.
 */
export async function syncMirror(parts: SyncParts) {
  const { db, ask, full } = parts;
  const first = await lookFirst(ask);
  // A service tells its time to the second.
  const now = wholeSeconds(parts.serviceNow() ?? parts.clock.now());
  const counts = { transactions: noCounts(), cards: noCounts() };
  const sync = db.commit(() => {
    const number = (db.number('sync') ?? 0) + 1;
    db.setFact('sync', number);
    return number;
  });
  const behind = parts.serviceNow() === undefined ? BEHIND_MS.machine : BEHIND_MS.service;
  // The last ms of a second: whatever a service thinks of an end, no record of whole seconds stands on it.
  const end = wholeSeconds(now - behind) + SECOND - 1;
  const { clock, warn, onRows } = parts;
  const run: SyncRun = { db, ask, clock, now, sync, counts, end, warn, onRows, tally: { windows: 0 } };
  db.commit(() => storeWallet(run, first.wallet));
  const isQuiet = !full && nothingMoved(db, first.digest);
  const cardsAt = db.number('cards_at');
  // A clock that went back says nothing of how long ago that was.
  const isCardsTurn = parts.readsCards || cardsAt === undefined || now < cardsAt || now - cardsAt >= CARDS_AFTER_MS;
  if (!isQuiet || isCardsTurn) await readCards(run);
  if (!isQuiet) await readTransactions(run, full);
  await copyOwnRows(run, await parts.ownOperations());
  // Where nothing was read but what is as it was, so is this.
  const isKnown = isQuiet && !isCardsTurn && db.fact('moved') === '';
  const moved = isKnown ? undefined : movedSince(first.wallet, await ask.read('wallet.get', {}));
  db.commit(() => {
    if (moved !== undefined) db.setFact('moved', moved.join(' '));
    db.setFact('as_of', now);
    db.setFact('synced_at', Math.floor(clock.now()));
    db.setFact('seen', first.digest);
    db.setFact('finished_sync', sync);
  });
  return reportOf(run);
}

/** The two requests of a sync that finds nothing moved, and a digest of everything that the answers show. */
async function lookFirst(ask: PacedReader) {
  const wallet = await ask.read('wallet.get', {});
  const { data: transactions, page } = await ask.read('transactions.list', {});
  const shown = [walletValues(wallet), page.total ?? null, transactions.map(row => [row.id, recordValues(row)])];
  const digest = createHash('sha256').update(JSON.stringify(shown)).digest('hex');
  return { wallet, digest };
}

function nothingMoved(db: MirrorDatabase, digest: string): boolean {
  const isFinished = db.number('finished_sync') === (db.number('sync') ?? 0) - 1;
  return isFinished && openWindows(db) === 0 && db.fact('seen') === digest;
}

async function readTransactions(run: SyncRun, full: boolean): Promise<void> {
  const { db } = run;
  if (db.fact('filters') !== 'ignored' && db.fact('order') !== 'other') {
    try {
      const since = beginningOf(run, full);
      await readOn(run, since);
      await readLateUpdates(run, since);
      await auditCounts(run);
      return db.commit(() => db.setFact('filters', 'honoured'));
    } catch (error) {
      if (!(error instanceof NoSpans)) throw error;
      const isFiltered = error.why === 'order';
      const why = isFiltered ? 'lists transactions in no order of time' : 'takes no notice of from and to';
      run.warn(`the service ${why}: the whole list is read each time`);
      db.commit(() => {
        db.run('delete from open_window');
        db.setFact('filters', isFiltered ? 'honoured' : 'ignored');
        if (isFiltered) db.setFact('order', 'other');
      });
    }
  }
  await walkAll(run);
}

/** From where on this run reads everything, ms. */
function beginningOf({ db, end }: SyncRun, full: boolean): number {
  const last = db.number('windows_end');
  if (last !== undefined && !full) {
    const counted = db.fact('totals') === 'counted' ? OVERLAP_MS.counted : OVERLAP_MS.blind;
    return Math.min(last, end) - (db.fact('single') === undefined ? counted : OVERLAP_MS.changing);
  }
  // All records of a card follow its creation; what does not, the count audit finds.
  const oldest = db.get<{ at: number | null }>(
    'select min(at) as at from (select min(created_ms) as at from card union all select min(at_ms) from record)',
  )?.at;
  return Math.min(oldest ?? end, end) - SECOND;
}

/** Fields of the wallet that are other than they were at the beginning of this sync. */
function movedSince(before: Wallet, now: Wallet): string[] {
  const [old, values] = [walletValues(before), walletValues(now)];
  return Object.entries(values).flatMap(([name, value]) => (value === old[name as keyof typeof old] ? [] : [name]));
}

/** What `books sync` tells. */
function reportOf({ db, now, ask, counts, tally }: SyncRun) {
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

const noCounts = (): Counts => ({ new: 0, changed: 0, gone: 0 });

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
  for await (const { number, rows, facts } of cardPages(run, status)) {
    for (const card of rows) found.set(card.id, card);
    if (number === 1) first = facts.total;
    last = facts.total ?? last;
  }
  return { found, first, last };
}

/** Terminated cards do not change any more: a page of known ones ends it, where their count agrees. */
async function readTerminated(run: SyncRun, seen: Set<string>): Promise<void> {
  let total: number | undefined;
  let came = 0;
  for await (const { rows, facts, seen: ids } of cardPages(run, 'terminated')) {
    const fresh = storeUnknown(run, rows, `and status = 'terminated'`);
    for (const { id } of rows) seen.add(id);
    [total, came] = [facts.total, ids.size];
    if (fresh.length === 0 && (total === undefined || total === knownCards(run, `and status = 'terminated'`))) return;
  }
  if (total !== undefined && total !== came) await readState(run, 'terminated', seen);
}

/** Cards in a state that the interface does not name are in no list of a state: the count of all tells of them. */
async function readOthers(run: SyncRun, seen: Set<string>): Promise<void> {
  const { page } = await run.ask.read('cards.list', { per_page: 1 });
  const lacks = () => page.total !== undefined && knownCards(run) < page.total;
  if (!lacks()) return;
  for await (const { rows } of cardPages(run, undefined)) {
    for (const { id } of storeUnknown(run, rows)) seen.add(id);
    if (!lacks()) return;
  }
}

const cardPages = ({ ask }: SyncRun, status: Status | undefined) =>
  ask.pages('cards.list', { ...(status && { status }), per_page: PER_PAGE });

function knownCards({ db }: SyncRun, and = ''): number {
  return db.get<{ count: number }>(`select count(*) as count from card where gone_at is null ${and}`)?.count ?? 0;
}

/** Stores those of the cards that are not known, and returns them. */
function storeUnknown(run: SyncRun, cards: readonly Card[], and = ''): readonly Card[] {
  const { db } = run;
  const known = `select 1 from card where card_id = ? and gone_at is null ${and}`;
  const fresh = cards.filter(({ id }) => db.get(known, id) === undefined);
  if (fresh.length > 0) db.commit(() => storeCards(run, fresh));
  return fresh;
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
