/** overview, cards, cards.show: where the money is, cards that are looked for, and one card with its entries. */
import type { CHALLENGE_STATUSES } from '../../contract/sandbox/state.ts';
import { type Cents, cents, sumCents, toUsd } from '../../core/money.ts';
import { cardOf, wireCard, wireTransaction } from '../account/ledger.ts';
import { Refused } from '../calls/handler.ts';
import { clockRate, readClock } from '../clock/clock.ts';
import { pageFacts } from '../handlers/account.ts';
import { isoTime, monthOf } from '../rules/dates.ts';
import type { MomentHandler } from '../service/service.ts';
import { binById, walletOf } from '../store/account.ts';
import {
  type EntryOfCard,
  entriesOfCard,
  type FoundTransaction,
  holdingsOf,
  openCounts,
  recordsOfPurchase,
  searchCards,
  searchChallenges,
  searchTransactions,
  spentByDay,
} from '../store/cards.ts';
import { timersInOrder } from '../store/counters.ts';
import { subscriptionsWithCounts } from '../store/deliveries.ts';
import { changeCount, countAll, eventsInOrder } from '../store/ledger.ts';
import { generationOf } from '../store/open.ts';
import { transactionById, usedBetween } from '../store/transactions.ts';

const NOTHING = 0 as Cents;

export const showOverview: MomentHandler<'overview'> = async ({ sql, now }) => {
  const wallet = await walletOf(sql);
  const held = await holdingsOf(sql);
  const open = await openCounts(sql);
  const { transactions, webhooks, events } = await countAll(sql);
  const { faults } = await changeCount(sql, now);
  const { rows, total: timers } = await timersInOrder(sql, { limit: 1, offset: 0 });
  const [next] = rows;
  return {
    now: isoTime(now),
    data_set: wallet?.data_set ?? 'none',
    deposited: toUsd(wallet?.deposited ?? NOTHING),
    wallet: toUsd(wallet?.balance ?? NOTHING),
    on_cards: toUsd(held?.on_cards ?? NOTHING),
    on_hold: toUsd(held?.on_hold ?? NOTHING),
    spent: toUsd(wallet?.spent ?? NOTHING),
    cards_active: held?.cards_active ?? 0,
    cards_frozen: held?.cards_frozen ?? 0,
    cards_terminated: held?.cards_terminated ?? 0,
    transactions,
    open_holds: open?.open_holds ?? 0,
    open_challenges: open?.open_challenges ?? 0,
    pending_deposits: open?.pending_deposits ?? 0,
    webhooks,
    failed_deliveries: open?.failed_deliveries ?? 0,
    events,
    faults,
    timers,
    next_timer: next === undefined ? null : { due_at: isoTime(next.due_at), kind: next.kind, ref: next.ref },
  };
};

export const searchedCards: MomentHandler<'cards'> = async ({ sql }, input) => {
  const { page = 1, per_page: limit = 50, ...search } = input;
  const { rows, total } = await searchCards(sql, search, { limit, offset: (page - 1) * limit });
  const data = rows.map(row => ({
    ...row,
    balance: toUsd(row.balance),
    hold: toUsd(row.hold),
    created_at: isoTime(row.created_at),
  }));
  return { data, page: pageFacts(page, limit, total) };
};

/** The newest of them are shown. */
const SHOWN_ENTRIES = 50;

/** Of a card with more entries than are looked at, the sums of those behind are what its cached balances leave. */
export const showWholeCard: MomentHandler<'cards.show'> = async ({ sql, now }, { card_id: id }) => {
  const card = await cardOf({ sql }, id);
  const bin = await binById(sql, card.bin_id);
  const used = await usedBetween(sql, { card: id, ...monthOf(now) });
  const entries = withBalances(await entriesOfCard(sql, id), id);
  const last = entries.at(-1);
  return {
    ...wireCard(card),
    hold: toUsd(card.hold),
    used_this_month: toUsd(used),
    max_transaction: toUsd(bin?.max_transaction ?? NOTHING),
    max_monthly: toUsd(bin?.max_monthly ?? NOTHING),
    agrees: (last?.card_after ?? 0) === card.balance && (last?.hold_after ?? 0) === card.hold,
    entries_total: entries.length,
    entries: entries.slice(-SHOWN_ENTRIES).toReversed().map(wireEntry),
  };
};

const wireEntry = ({ id, at, kind, ref, card, hold, card_after, hold_after }: CardEntry) => ({
  id,
  at: isoTime(at),
  kind,
  ref,
  card: toUsd(card),
  hold: toUsd(hold),
  card_after: toUsd(card_after),
  hold_after: toUsd(hold_after),
});

interface CardEntry {
  readonly id: number;
  readonly at: number;
  readonly kind: string;
  readonly ref: string;
  readonly card: Cents;
  readonly hold: Cents;
  readonly card_after: Cents;
  readonly hold_after: Cents;
}

/** Rows of one entry stand together, oldest first. */
function withBalances(rows: readonly EntryOfCard[], card: string): readonly CardEntry[] {
  const byEntry = new Map<number, EntryOfCard[]>();
  for (const row of rows) byEntry.set(row.id, [...(byEntry.get(row.id) ?? []), row]);
  let [onCard, onHold] = [NOTHING, NOTHING];
  return [...byEntry.values()].map(postings => {
    const [{ id, kind, ref, created_at: at }] = postings as [EntryOfCard];
    const came = (ledger: string) => sumCents(postings.filter(row => row.ledger === ledger).map(row => row.amount));
    const moved = { card: came(`card:${card}`), hold: came(`hold:${card}`) };
    onCard = cents(onCard + moved.card);
    onHold = cents(onHold + moved.hold);
    return { id, at, kind, ref, ...moved, card_after: onCard, hold_after: onHold };
  });
}

// transactions, transactions.show, challenges, spending

const wireFound = (row: FoundTransaction) => ({ ...wireTransaction(row), last4: row.last4 });

export const searchedTransactions: MomentHandler<'transactions'> = async ({ sql }, input) => {
  const { page = 1, per_page: limit = 50, ...search } = input;
  const { rows, total } = await searchTransactions(sql, search, { limit, offset: (page - 1) * limit });
  return { data: rows.map(wireFound), page: pageFacts(page, limit, total) };
};

/** Its chain holds the entries of its authorization, of what settles it and of what refunds it. */
export const showWholeTransaction: MomentHandler<'transactions.show'> = async (moment, { transaction_id: id }) => {
  const { sql } = moment;
  const found = await transactionById(sql, id);
  if (found === undefined) throw new Refused('not_found', `no transaction ${id}`);
  const purchase = { card: found.card_id, id: found.authorization_id ?? id };
  const records = await recordsOfPurchase(sql, purchase);
  const own = records.find(record => record.id === id);
  if (own === undefined) throw new Refused('not_found', `no transaction ${id}`);
  const { held, settled, released, refunded } = records.find(record => record.id === purchase.id) ?? own;
  const refs = new Set(records.map(record => record.id));
  const entries = withBalances(await entriesOfCard(sql, found.card_id), found.card_id);
  return {
    ...wireFound(own),
    held: toUsd(held),
    settled: toUsd(settled),
    released: toUsd(released),
    refunded: toUsd(refunded),
    chain: entries.filter(({ ref }) => refs.has(ref)).map(wireEntry),
  };
};

export const searchedChallenges: MomentHandler<'challenges'> = async ({ sql }, input) => {
  const { page = 1, per_page: limit = 50, ...search } = input;
  const { rows, total } = await searchChallenges(sql, search, { limit, offset: (page - 1) * limit });
  // One by one: the code stands beside them.
  const data = rows.map(row => ({
    id: row.id,
    card_id: row.card_id,
    last4: row.last4,
    merchant: row.merchant,
    attempts: row.attempts,
    amount: toUsd(row.amount),
    status: row.status as (typeof CHALLENGE_STATUSES)[number],
    created_at: isoTime(row.created_at),
    expires_at: isoTime(row.expires_at),
  }));
  return { data, page: pageFacts(page, limit, total) };
};

const MS_OF_DAY = 86_400_000;

export const showSpending: MomentHandler<'spending'> = async ({ sql, now }, { days = 14 }) => {
  const last = Math.floor(now / MS_OF_DAY);
  const rows = await spentByDay(sql, last - days + 1);
  const data = Array.from({ length: days }, (_, nth) => {
    const day = last - days + 1 + nth;
    const { spent, purchases, declined } = rows.find(row => row.day === day) ?? {
      spent: NOTHING,
      purchases: 0,
      declined: 0,
    };
    return { day: isoTime(day * MS_OF_DAY).slice(0, 10), spent: toUsd(spent), purchases, declined };
  });
  return { data, page: {} };
};

// marks: whether anything changed since somebody last asked, in one cheap statement.

/** What this process has not written yet counts too. */
export const showMarks: MomentHandler<'marks'> = async ({ sql, now, parts }) => {
  const { own, others, faults, checked } = await changeCount(sql, now);
  const { requestLog, turnedLog, actLog, activeDialect, archives, version } = parts;
  const unwritten = `${requestLog.waiting.length}.${requestLog.waiting.at(-1)?.request_id ?? ''}`;
  const { mode, rate_milli } = await readClock(sql);
  return {
    version,
    replaced: await generationOf(sql),
    changes: [own, others, unwritten, turnedLog.count, actLog.last, archives.changes, activeDialect.name].join('-'),
    now: isoTime(now),
    mode,
    rate: clockRate({ mode, rate_milli }),
    faults,
    ledger_ok: checked === null ? null : checked === '[]',
  };
};

// timers: what happens by itself, and what could not.

/** Queued deliveries too: moving the clock makes their attempts due in the same way. */
export const listTimers: MomentHandler<'timers'> = async ({ sql, now }, { page = 1, per_page: limit = 50 }) => {
  const { rows, total } = await timersInOrder(sql, { limit, offset: (page - 1) * limit });
  const data = rows.map(({ due_at, kind, ref, error }) => ({
    due_at: isoTime(due_at),
    kind,
    ref,
    state: error !== null ? ('parked' as const) : due_at <= now ? ('due' as const) : ('waiting' as const),
    error,
  }));
  return { data, page: pageFacts(page, limit, total) };
};

// webhooks: subscriptions, and how their deliveries went.

/** Of an address where it leads to alone: its path or query may be a password. */
export const listSubscriptions: MomentHandler<'webhooks'> = async ({ sql }) => {
  const rows = await subscriptionsWithCounts(sql);
  const data = rows.map(({ url, events, created_at, failing_since, ...row }) => ({
    ...row,
    address: new URL(url).origin,
    events: JSON.parse(events) as readonly string[],
    created_at: isoTime(created_at),
    failing_since: failing_since === null ? null : isoTime(failing_since),
  }));
  return { data, page: {} };
};

// events: what was told, in the order of its numbers.

export const listEvents: MomentHandler<'events'> = async ({ sql }, input) => {
  const { page = 1, per_page: limit = 100, ...wanted } = input;
  const { rows, total } = await eventsInOrder(sql, { ...wanted, limit, offset: (page - 1) * limit });
  const data = rows.map(row => ({ ...row, created_at: isoTime(row.created_at) }));
  return { data, page: pageFacts(page, limit, total) };
};
