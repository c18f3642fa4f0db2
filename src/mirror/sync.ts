/** One sync: the copy is brought up to what the service shows. Each step is committed, so a killed one goes on there. */
import { createHash } from 'node:crypto';
import { CARD_STATUSES } from '../contract/card.ts';
import { LIMITS } from '../contract/limits.ts';
import { incompleteList } from '../contract/service.ts';
import { DAY, HOUR, isoTime, MINUTE, SECOND, wholeSeconds } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import type { MirrorDatabase } from './file.ts';
import { copyOwnRows, type OwnOperation } from './own-rows.ts';
import type { PacedReader } from './paced-reader.ts';
import {
  type Counts,
  recordValues,
  storeCards,
  storeGoneCard,
  storeWallet,
  type Wallet,
  walletValues,
} from './store.ts';
import { auditCounts, NoSpans, readLateUpdates, readOn, type SyncRun, walkAll } from './windows.ts';

export interface SyncParts extends Pick<SyncRun, 'db' | 'ask' | 'clock' | 'warn' | 'onRows'> {
  /** Reads everything again. */
  readonly full: boolean;
  /** Reads cards although nothing seems to have moved: money may go from one to another. */
  readonly readsCards?: boolean;
  /** ms UTC by the service's answers; undefined where they do not tell. */
  readonly serviceNow: () => number | undefined;
  /** All operations in the journal of this machine. */
  readonly ownOperations: () => Promise<readonly OwnOperation[]>;
}

/** Cards are read at the latest after this. */
const CARDS_AFTER_MS = 15 * MINUTE;
/**
 * Read again before the last end: more where the service counts nothing, and most where a purchase may be one changing
 * record, whose late settlement or refund no list shows as new.
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
  const begun = Math.floor(parts.clock.now());
  const first = await lookFirst(ask);
  // A service tells its time to the second.
  const now = wholeSeconds(parts.serviceNow() ?? parts.clock.now());
  const counts = { transactions: noCounts(), cards: noCounts(), windows: 0 };
  const sync = db.commit(() => {
    const number = (db.number('sync') ?? 0) + 1;
    db.setFact('sync', number);
    return number;
  });
  const behind = parts.serviceNow() === undefined ? BEHIND_MS.machine : BEHIND_MS.service;
  // The last ms of a second: whatever a service thinks of an end, no record of whole seconds stands on it.
  const end = wholeSeconds(now - behind) + SECOND - 1;
  const { clock, warn, onRows } = parts;
  const run: SyncRun = { db, ask, clock, now, sync, counts, end, warn, onRows };
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
    // What was done since the first answer may not be in it.
    db.setFact('synced_at', begun);
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
    // Until a settlement stands beside its authorization, nothing shows that records of a purchase do not change.
    const isApart = db.get('select 1 from record where authorization_id <> tx_id limit 1') !== undefined;
    const mayChange = !isApart || db.fact('single') !== undefined;
    return Math.min(last, end) - (mayChange ? OVERLAP_MS.changing : counted);
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
function reportOf({ db, now, ask, counts }: SyncRun) {
  const checkpoint = db.get<{ cut_id: string; exact: number }>(
    'select cut_id, exact from checkpoint order by sync desc, at_ms desc limit 1',
  );
  return {
    as_of: isoTime(now),
    requests: ask.requests,
    transactions: counts.transactions,
    cards: counts.cards,
    windows: { read: counts.windows, open: openWindows(db) },
    cut: checkpoint?.cut_id ?? null,
    exact: checkpoint?.exact === 1,
  };
}

export function openWindows(db: MirrorDatabase): number {
  return db.count('open_window');
}

const noCounts = (): Counts => ({ new: 0, changed: 0, gone: 0 });

// Reads cards

const PER_PAGE = LIMITS.pageSize.max;
/** Times a list that moved is read again. */
const TRIES = 3;

type Status = (typeof CARD_STATUSES)[number];

/** Reads them and writes down when. Throws `guarded` where no card that was known is there any more. */
async function readCards(run: SyncRun): Promise<void> {
  const { db } = run;
  const known = db.all<{ card_id: string }>(
    `select card_id from card where gone_at is null and status <> 'terminated' order by card_id`,
  );
  const seen = new Set<string>();
  let isByState = true;
  // A service that takes no notice of the state has shown all of them.
  for (const status of CARD_STATUSES) isByState &&= await readState(run, status, seen);
  if (isByState) {
    // Cards in a state that the interface does not name are in no list of a state: the count of all tells of them.
    const { page } = await run.ask.read('cards.list', { per_page: 1 });
    if (page.total !== undefined && db.count('card where gone_at is null') < page.total)
      await readList(run, undefined, seen);
  }
  const gone: string[] = [];
  for (const { card_id } of known) if (!seen.has(card_id) && !(await readAlone(run, card_id))) gone.push(card_id);
  if (gone.length > 1 && gone.length === known.length) {
    // Those of the other account stay out, so that the next sync says it again.
    db.commit(() => {
      for (const card of seen) db.run('delete from card where card_id = ? and first_seen = ?', card, run.now);
    });
    // A service keeps its cards: an account without any of those that were known is another one.
    throw new CliError('guarded', {
      message: `none of the ${gone.length} cards of this copy is at the service any more: another account, or a sandbox that was reset`,
      notes: ['The books go on in a new copy. The hint moves the old one aside; nothing is deleted.'],
      hint: 'cardwright books reset',
    });
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
  let before: string | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const { isWhole, isOfState, shown } = await readList(run, status, seen);
    if (isWhole) return isOfState;
    if (attempt < TRIES) {
      before = shown;
      continue;
    }
    // A list that moves is as good as it gets; one that stands still and lacks cards is not.
    if (shown === undefined || shown !== before) return isOfState;
    // A service may count the cards of every state.
    const all = await readList(run, undefined, seen);
    if (all.isWhole || all.shown === undefined) return false;
    throw incompleteList('cards.list', `${all.shown}. Nothing can be decided by a copy that lacks cards`);
  }
}

/** Stores all pages, or of terminated cards, which do not change any more, those up to a page of known ones. */
async function readList(run: SyncRun, status: Status | undefined, seen: Set<string>) {
  const { db, counts } = run;
  const found = new Set<string>();
  let isOfState = true;
  let [first, last]: (number | undefined)[] = [];
  for await (const page of run.ask.pages('cards.list', { ...(status && { status }), per_page: PER_PAGE })) {
    const known = counts.cards.new + counts.cards.changed;
    db.commit(() => storeCards(run, page.rows));
    for (const card of page.rows) {
      found.add(card.id);
      seen.add(card.id);
      isOfState &&= card.status === status;
    }
    last = page.facts.total ?? last;
    if (page.number === 1) first = last;
    const isKnown = status === 'terminated' && counts.cards.new + counts.cards.changed === known;
    if (isKnown && [undefined, db.count(`card where gone_at is null and status = 'terminated'`)].includes(last))
      return { isWhole: true, isOfState };
  }
  const isWhole = first === undefined || (first === last && first === found.size);
  // Undefined where rows moved while it was read.
  const shown = first === last ? `the service counts ${first}, but ${found.size} were received` : undefined;
  return { isWhole, isOfState, shown };
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
