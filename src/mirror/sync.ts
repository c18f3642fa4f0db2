/** One sync: the copy is brought up to what the service shows. Each step is committed, so a killed one goes on there. */
import { createHash } from 'node:crypto';
import type { MoveRow } from '../books/rows.ts';
import { CARD_STATUSES } from '../contract/card.ts';
import { LIMITS } from '../contract/limits.ts';
import { incompleteList } from '../contract/service.ts';
import { DAY, HOUR, isoTime, MINUTE, SECOND, wholeSeconds } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import type { MirrorDatabase } from './file.ts';
import type { PacedReader } from './paced-reader.ts';
import {
  type Counts,
  recordValues,
  storeCard,
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
 * record (A-40), whose late settlement or refund no list shows as new.
 */
const OVERLAP_MS = { counted: 2 * HOUR, blind: 72 * HOUR, changing: 90 * DAY } as const;
/** How far behind the clock of the service, or of this machine, nothing more is expected. */
const BEHIND_MS = { service: 2 * SECOND, machine: 5 * MINUTE } as const;

/** Indexes are written all over: a page that changes again and again stays in memory, and is written back once. */
const PAGES_KB = 16_000;

/**
 * Brings the copy up to date. Rejects with what reading throws; what was committed stays. Whoever calls it holds the lock
 * of the mirror.
 */
export async function syncMirror(parts: SyncParts) {
  const { db, ask, full } = parts;
  db.run(`pragma cache_size = -${PAGES_KB}`);
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
    db.commit(() => {
      for (const card of page.rows) {
        storeCard(run, card);
        found.add(card.id);
        seen.add(card.id);
        isOfState &&= card.status === status;
      }
    });
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
  const card = await run.ask.readIfThere('cards.get', { card_id: cardId });
  if (card !== undefined) run.db.commit(() => storeCard(run, card));
  return card !== undefined;
}

// Copies the rows of the journal that moved money of this account, so that nothing is lost when it is pruned. The journal is of a
// machine and the copy of an account: several profiles may speak to one account, each with a key of its own, and a profile may have
// spoken to another. A row is of the account that its card is of.

/** One operation of the journal of this machine. */
export interface OwnOperation {
  readonly op: string;
  readonly last_at: string;
  /** Reads its rows. */
  rows(): Promise<OwnRows>;
}

export interface OwnRows {
  /** Begun by this profile at this address: a row without a card is of this account, too. */
  readonly isMine: boolean;
  /** Begun at this address by whatever profile. */
  readonly isHere: boolean;
  readonly rows: readonly MoveRow[];
}

/** An operation tells its times in whole seconds: one that wrote just now may write again in the same second. */
const SETTLED_AFTER_MS = 2 * SECOND;
/** A card that was made a moment ago may not be in the copy yet: rows of unknown cards are looked at for so long. */
const FOREIGN_AFTER_MS = HOUR;

/** Of each row is kept by which sync it was first known, and by which to be done: what a checkpoint counted. */
async function copyOwnRows(run: SyncRun, operations: readonly OwnOperation[]): Promise<void> {
  const { db, sync, clock } = run;
  for (const operation of operations) {
    const copied = db.get<{ last_at: string }>('select last_at from copied_op where op = ?', operation.op);
    if (copied?.last_at === operation.last_at) continue;
    const read = await operation.rows();
    const ours = read.rows.filter(row => isOfCopy(db, row, read));
    const age = clock.now() - Date.parse(operation.last_at);
    const isSettled = age >= (ours.length < read.rows.length ? FOREIGN_AFTER_MS : SETTLED_AFTER_MS);
    db.commit(() => {
      for (const row of ours) copyRow(db, row, sync);
      if (!isSettled) return;
      const { op, last_at } = operation;
      db.insert('copied_op', { op, last_at }, 'on conflict (op) do update set last_at = excluded.last_at');
    });
  }
}

/** Whether an operation of this account wrote since, ms by the clock of this machine. */
export async function hasMovedSince(
  db: MirrorDatabase,
  operations: readonly OwnOperation[],
  since: number,
): Promise<boolean> {
  for (const { last_at, rows } of operations) {
    if (Date.parse(last_at) + SECOND <= since) continue;
    const read = await rows();
    if (read.isMine || read.rows.some(row => isOfCopy(db, row, read))) return true;
  }
  return false;
}

/** Sandboxes of one seed give the same ids: elsewhere a row that is older than the card is of another one. */
const OLDER_BY_MS = 5 * MINUTE;
/** A service tells the time of a card, and the journal that of a row, in whole seconds. */
const ROUNDED_MS = 2 * SECOND;

function isOfCopy(db: MirrorDatabase, move: MoveRow, { isMine, isHere }: OwnRows): boolean {
  const { card_id, at_ms } = move;
  if (isMine && (card_id === null || db.fact('origin') !== EMBEDDED)) return true;
  if (card_id === null) return isMarkedBy(db, move);
  const card = db.get<{ created_ms: number; isOfAnOp: number }>(
    `select coalesce(created_ms, 0) as created_ms, metadata like '%"cardwright":"op\\_%' escape '\\' as isOfAnOp
      from card where card_id = ?`,
    card_id,
  );
  if (card === undefined) return false;
  const isYoung = at_ms >= card.created_ms - OLDER_BY_MS;
  // The clock of a sandbox can be moved: of an answer that was lost the journal has no time of the service.
  if (!isMine) return isHere || isYoung || isMarkedBy(db, move);
  // The sandbox of this user starts over with a reset, and gives the same ids again: a row of before it is of no card here.
  if (at_ms >= card.created_ms - ROUNDED_MS) return true;
  // A slow answer: the card is younger than the sending of its own row.
  return move.operation === 'cards.create' && (card.isOfAnOp === 1 ? isMarkedBy(db, move) : isYoung);
}

const EMBEDDED = 'embedded';

/** Whether a card carries the marker of the row. */
function isMarkedBy(db: MirrorDatabase, { op, row }: MoveRow): boolean {
  const marker = `%"cardwright":${JSON.stringify(`${op}.${row}`).replace(/[%_\\]/g, '\\$&')}%`;
  return db.get(`select 1 from card where metadata like ? escape '\\'`, marker) !== undefined;
}

function copyRow(db: MirrorDatabase, move: MoveRow, sync: number): void {
  const { at_ms, purpose = null } = move;
  const done_sync = move.outcome === 'done' ? sync : null;
  db.insert(
    'move',
    { ...move, purpose, first_ms: at_ms, first_sync: sync, done_sync },
    `on conflict (op, row) do update set card_id = excluded.card_id, outcome = excluded.outcome,
      at_ms = excluded.at_ms, done_sync = coalesce(done_sync, excluded.done_sync)`,
  );
}
