/** overview, spending, marks, and what the sandbox holds: cards, transactions, challenges, timers, subscriptions, events. */
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { TIMER } from '../../contract/sandbox/inspector.ts';
import { CARD_ENTRY, EVENT } from '../../contract/sandbox/state.ts';
import { type Cents, cents, sumCents, toUsd } from '../../core/money.ts';
import { cardOf } from '../account/ledger.ts';
import { wired, wireTransaction } from '../account/wire.ts';
import { Refused } from '../calls/handler.ts';
import { clockRate, readClock } from '../clock/clock.ts';
import { paged } from '../handlers/account.ts';
import { isoTime, monthOf } from '../rules/dates.ts';
import type { LookHandlers } from '../service/service.ts';
import {
  ABOUT_CARD,
  aboutCard,
  binById,
  type CardRow,
  type ChallengeRow,
  countAll,
  type EntryOfCard,
  type EventRow,
  entriesOfCard,
  type TransactionRow,
  transactionById,
  usedBetween,
  walletOf,
} from '../store/account.ts';
import { generationOf } from '../store/open.ts';
import type { WebhookRow } from '../store/records.ts';
import { escaped, listed, type Page, type Sql } from '../store/sql.ts';

const NOTHING = 0 as Cents;

export const HOLDINGS = {
  overview: ({ sql, now }) => {
    const wallet = walletOf(sql);
    const [held] = sql.known<Holdings>(HOLDINGS_NOW);
    const { transactions, webhooks, events } = countAll(sql);
    const { faults } = changeCount(sql, now);
    const { rows, total: timers } = timersInOrder(sql, { limit: 1, offset: 0 });
    const [next] = rows;
    if (held === undefined) throw new Error('the store says nothing of what it holds');
    return wired(ADMIN_OPERATIONS.overview.returns.shape, {
      ...{ ...held, now, transactions, webhooks, events, faults, timers },
      data_set: wallet?.data_set ?? 'none',
      deposited: wallet?.deposited ?? NOTHING,
      wallet: wallet?.balance ?? NOTHING,
      spent: wallet?.spent ?? NOTHING,
      next_timer: next === undefined ? null : { due_at: isoTime(next.due_at), kind: next.kind, ref: next.ref },
    });
  },

  cards: ({ sql, input }) => {
    const { q = '', status, bin } = input;
    const text = q.trim();
    const part = escaped(text);
    const found = [`%${part}%`, `${part}%`, text, metadataPart(text)];
    const query = {
      columns: 'id, label, substr(number, 13) as last4, network, status, balance, hold, bin_id, created_at',
      from: 'cards',
      wanted: { 'status = ?': status, 'bin_id = ?': bin, [FOUND]: text === '' ? undefined : found },
      order: 'created_at desc, id desc',
    };
    const { shape } = ADMIN_OPERATIONS.cards.returns;
    return paged(
      input,
      50,
      where => listed<FoundCard>(sql, query, where),
      row => wired(shape, row),
    );
  },

  /** Of a card with more entries than are looked at, the sums of those behind are what its cached balances leave. */
  'cards.show': ({ sql, now, input: { card_id: id } }) => {
    const card = cardOf({ sql }, id);
    const bin = binById(sql, card.bin_id);
    const used = usedBetween(sql, { card: id, ...monthOf(now) });
    const entries = withBalances(entriesOfCard(sql, id), id);
    const last = entries.at(-1);
    return wired(ADMIN_OPERATIONS['cards.show'].returns.shape, {
      ...card,
      used_this_month: used,
      max_transaction: bin?.max_transaction ?? NOTHING,
      max_monthly: bin?.max_monthly ?? NOTHING,
      agrees: (last?.card_after ?? 0) === card.balance && (last?.hold_after ?? 0) === card.hold,
      entries_total: entries.length,
      entries: entries.slice(-SHOWN_ENTRIES).toReversed().map(wireEntry),
    });
  },

  transactions: ({ sql, input }) =>
    paged(input, 50, where => ofCards<FoundTransaction>(sql, 'transactions', input, where), wireFound),

  /** Its chain holds the entries of its authorization, of what settles it and of what refunds it. */
  'transactions.show': ({ sql, input: { transaction_id: id } }) => {
    const found = transactionById(sql, id);
    if (found === undefined) throw new Refused('not_found', `no transaction ${id}`);
    const purchase = found.authorization_id ?? id;
    const records = sql.all<FoundTransaction>(RECORDS, found.card_id, purchase, purchase);
    const own = records.find(record => record.id === id);
    if (own === undefined) throw new Refused('not_found', `no transaction ${id}`);
    const { held, settled, released, refunded } = records.find(record => record.id === purchase) ?? own;
    const refs = new Set(records.map(record => record.id));
    const entries = withBalances(entriesOfCard(sql, found.card_id), found.card_id);
    const chain = entries.filter(({ ref }) => refs.has(ref)).map(wireEntry);
    const { shape } = ADMIN_OPERATIONS['transactions.show'].returns;
    return wired(shape, { ...own, currency: 'USD', held, settled, released, refunded, chain });
  },

  /** Their shape has no code. */
  challenges: ({ sql, input }) =>
    paged(
      input,
      50,
      where => ofCards<FoundChallenge>(sql, 'challenges', input, where),
      row => wired(ADMIN_OPERATIONS.challenges.returns.shape, row),
    ),

  /** A sum for each day: transactions stand in the order of their index, and none are sorted. */
  spending: ({ sql, now, input: { days = 14 } }) => {
    const first = Math.floor(now / MS_OF_DAY) - days + 1;
    const data = Array.from({ length: days }, (_, nth) => {
      const from = (first + nth) * MS_OF_DAY;
      const { spent = NOTHING, purchases = 0, declined = 0 } = sql.get<SpentDay>(SPENT, from, from + MS_OF_DAY) ?? {};
      return { day: isoTime(from).slice(0, 10), spent: toUsd(spent), purchases, declined };
    });
    return { data, page: {} };
  },

  /** What this process has not written yet counts too. */
  marks: ({ sql, now, parts }) => {
    const { own, others, faults, checked } = changeCount(sql, now);
    const { requestLog, rejectedLog, actLog, activeDialect, archives, version } = parts;
    const unwritten = `${requestLog.waiting.length}.${requestLog.waiting.at(-1)?.request_id ?? ''}`;
    const { mode, rate_milli } = readClock(sql);
    return {
      version,
      replaced: generationOf(sql),
      changes: [own, others, unwritten, rejectedLog.count, actLog.count, archives.changes, activeDialect.name].join(
        '-',
      ),
      now: isoTime(now),
      mode,
      rate: clockRate({ mode, rate_milli }),
      faults,
      ledger_ok: checked === null ? null : checked === '[]',
    };
  },

  /** Queued deliveries too: moving the clock makes their attempts due in the same way. */
  timers: ({ sql, now, input }) =>
    paged(
      input,
      50,
      where => timersInOrder(sql, where),
      row => wired(TIMER, { ...row, state: row.error !== null ? 'parked' : row.due_at <= now ? 'due' : 'waiting' }),
    ),

  /** Of an address where it leads to alone: its path or query may be a password. */
  webhooks: ({ sql }) => {
    const rows = sql.all<CountedSubscription>(SUBSCRIPTIONS);
    const { shape } = ADMIN_OPERATIONS.webhooks.returns;
    return { data: rows.map(row => wired(shape, { ...row, address: new URL(row.url).origin })), page: {} };
  },

  events: ({ sql, input }) => {
    const { order = 'asc', type, after, card_id } = input;
    const wanted = {
      'type = ?': type,
      'seq > ?': after,
      [ABOUT_CARD]: card_id === undefined ? undefined : aboutCard(card_id),
    };
    return paged(
      input,
      100,
      where => listed<EventRow>(sql, { from: 'events', wanted, order: `seq ${order}` }, where),
      row => wired(EVENT, row),
    );
  },
} satisfies Partial<LookHandlers>;

interface Holdings {
  readonly on_cards: Cents;
  readonly on_hold: Cents;
  readonly cards_active: number;
  readonly cards_frozen: number;
  readonly cards_terminated: number;
  readonly open_holds: number;
  readonly open_challenges: number;
  readonly pending_deposits: number;
  readonly failed_deliveries: number;
}

/** An open hold has its timer, which is found without looking through all records. */
const HOLDINGS_NOW = `select coalesce(sum(balance), 0) as on_cards, coalesce(sum(hold), 0) as on_hold,
    count(case when status = 'active' then 1 end) as cards_active,
    count(case when status = 'frozen' then 1 end) as cards_frozen,
    count(case when status = 'terminated' then 1 end) as cards_terminated,
    (select count(*) from timers where kind = 'authorization.expiry') as open_holds,
    (select count(*) from challenges where status = 'pending') as open_challenges,
    (select count(*) from deposits where status = 'pending') as pending_deposits,
    (select count(*) from deliveries where state = 'failed') as failed_deliveries
  from cards`;

type FoundCard = Pick<
  CardRow,
  'id' | 'label' | 'last4' | 'network' | 'status' | 'balance' | 'hold' | 'bin_id' | 'created_at'
>;

/** Only what the index of cards by their age has: a search reads no whole card that it does not find. */
const FOUND =
  "(label like ? escape '!' or id like ? escape '!' or substr(number, 13) = ? or metadata like ? escape '!')";

/** `key=value` as it stands in the JSON text; of anything else nothing is found there. */
function metadataPart(wanted: string): string {
  const [, key, value] = /^(?:metadata\.)?([^=]+)=(.*)$/.exec(wanted) ?? [];
  if (key === undefined || value === undefined) return '';
  return `%${escaped(`${JSON.stringify(key)}:${JSON.stringify(value)}`)}%`;
}

interface OfCardSearch {
  readonly q?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  readonly card_id?: string | undefined;
}

const FOUND_OF_CARD = `(merchant like ? escape '!' or id = ? or amount = ? or card_id in
  (select id from cards where substr(number, 13) = ? or label like ? escape '!'))`;

const LAST4 = '(select substr(number, 13) from cards where cards.id = card_id) as last4';

/** Of a table whose rows have an id, a card, a merchant and an amount; newest first. */
function ofCards<Row>(sql: Sql, table: string, { q = '', type, status, card_id }: OfCardSearch, page: Page) {
  const text = q.trim();
  const part = `%${escaped(text)}%`;
  const usd = /^\$?(\d{1,12})(?:\.(\d\d))?$/.exec(text.replaceAll(',', ''));
  const amount = usd === null ? null : Number(`${usd[1]}${usd[2] ?? '00'}`);
  const found = text === '' ? undefined : [part, text, amount, text, part];
  const wanted = { 'type = ?': type, 'status = ?': status, 'card_id = ?': card_id, [FOUND_OF_CARD]: found };
  return listed<Row>(sql, { columns: `*, ${LAST4}`, from: table, wanted, order: 'created_at desc, id desc' }, page);
}

type FoundTransaction = TransactionRow & { readonly last4: string };
type FoundChallenge = ChallengeRow & { readonly last4: string };

const wireFound = (row: FoundTransaction) => ({ ...wireTransaction(row), last4: row.last4 });

/** The authorization of a purchase and every record about it, oldest first. */
const RECORDS = `select *, ${LAST4} from transactions where card_id = ? and (id = ? or authorization_id = ?)
  order by created_at, id`;

const MS_OF_DAY = 86_400_000;

interface SpentDay {
  readonly spent: Cents;
  readonly purchases: number;
  readonly declined: number;
}

/** From a time on, until another. */
const SPENT = `select
    coalesce(sum(case type when 'settlement' then amount when 'refund' then -amount else 0 end), 0) as spent,
    count(case when type = 'authorization' then 1 end) as purchases,
    count(case when type = 'decline' then 1 end) as declined
  from transactions where created_at >= ? and created_at < ?`;

interface ChangeCount {
  /** Rows that this connection wrote so far. */
  readonly own: number;
  /** Another number after every commit of another connection. */
  readonly others: number;
  /** Fault rules that can still happen. */
  readonly faults: number;
  /** JSON list of what did not hold when the books were last looked through; null when nobody did. */
  readonly checked: string | null;
}

/** How often the store was written to, in one cheap statement. */
function changeCount(sql: Sql, now: number): ChangeCount {
  const row = sql.get<ChangeCount>(
    `select total_changes() as own, (select data_version from pragma_data_version) as others,
       (select count(*) from faults where (times is null or struck < times)
         and (expires_at is null or expires_at > ?)) as faults,
       (select faults from ledger_checks) as checked`,
    now,
  );
  if (row === undefined) throw new Error('the store says nothing about itself');
  return row;
}

interface TimerRow {
  /** ms UTC on the clock of the sandbox. */
  readonly due_at: number;
  readonly kind: string;
  readonly ref: string;
  /** Why it could not happen, of a parked one. */
  readonly error: string | null;
}

/** Earliest first; those that failed come first of all, because they wait for nobody. */
function timersInOrder(sql: Sql, page: Page) {
  const from = `(select due_at, kind, ref, error, 0 as later from parked_timers
    union all select due_at, kind, ref, null, 1 from timers
    union all select due_at, 'delivery', id, null, 1 from deliveries where state = 'queued')`;
  return listed<TimerRow>(sql, { columns: 'due_at, kind, ref, error', from, order: 'later, due_at, kind, ref' }, page);
}

type CountedSubscription = Pick<WebhookRow, 'id' | 'url' | 'events' | 'status' | 'created_at' | 'failing_since'> &
  Readonly<Record<'waiting' | 'delivered' | 'failed', number>>;

/** With the number of their deliveries by state, newest first. */
const SUBSCRIPTIONS = `select w.id, w.url, w.events, w.status, w.created_at, w.failing_since,
    count(case when d.state in ('queued', 'sending') then 1 end) as waiting,
    count(case when d.state = 'delivered' then 1 end) as delivered,
    count(case when d.state in ('failed', 'cancelled') then 1 end) as failed
  from webhooks w left join deliveries d on d.webhook_id = w.id
  group by w.id order by w.created_at desc, w.id desc`;

/** The newest of them are shown. */
const SHOWN_ENTRIES = 50;

const wireEntry = (entry: CardEntry) => wired(CARD_ENTRY, entry);

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
