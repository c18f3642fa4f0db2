/** overview, spending, marks, and what the sandbox holds: cards, transactions, challenges, timers, subscriptions, events. */
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { CARD_ENTRY } from '../../contract/sandbox/state.ts';
import { DAY } from '../../core/durations.ts';
import { type Cents, cents, sumCents, toUsd } from '../../core/money.ts';
import { cardOf } from '../account/ledger.ts';
import { wired } from '../account/wire.ts';
import { found } from '../calls/handler.ts';
import { clockRate, readClock } from '../clock/clock.ts';
import { NEWEST_FIRST } from '../handlers/service.ts';
import { createdWithin, isoTime, monthOf } from '../rules/dates.ts';
import type { StoreHandlers } from '../service/service.ts';
import { generationOf } from '../store/open.ts';
import {
  ABOUT_CARD,
  aboutCard,
  binById,
  countAll,
  type EntryOfCard,
  entriesOfCard,
  type TransactionRow,
  usedBetween,
  type WebhookRow,
} from '../store/rows.ts';
import { escaped, type Query, type Sql } from '../store/sql.ts';
import { pageOfList } from './state.ts';

const NOTHING = 0 as Cents;

export const HOLDINGS = {
  overview: ({ sql, now }) => {
    const { shape } = ADMIN_OPERATIONS.overview.returns;
    const held = sql.known(HOLDINGS_NOW)[0] as Readonly<Record<keyof typeof shape, unknown>>;
    const { faults } = changeCount(sql, now);
    const { data, page } = pageOfList('timers', { sql, input: { per_page: 1 } }, TIMERS, () => ({ state: 'waiting' }));
    const [next] = data;
    return wired(shape, {
      ...{ ...countAll(sql), ...held, now, faults, timers: page.total },
      next_timer: next === undefined ? null : { due_at: next.due_at, kind: next.kind, ref: next.ref },
    });
  },

  cards: look => {
    const { q = '', status, bin } = look.input;
    const text = q.trim();
    const part = escaped(text);
    const sought = [`%${part}%`, `${part}%`, text, metadataPart(text)];
    return pageOfList('cards', look, {
      columns: 'id, label, substr(number, 13) as last4, network, status, balance, hold, bin_id, created_at',
      from: 'cards',
      wanted: { 'status = ?': status, 'bin_id = ?': bin, [FOUND]: text === '' ? undefined : sought },
      order: NEWEST_FIRST,
    });
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

  transactions: look => pageOfList('transactions', look, ofCards('transactions', look.input), () => USD),

  /** Its chain holds the entries of its authorization, of what settles it and of what refunds it. */
  'transactions.show': ({ sql, input: { transaction_id: id } }) => {
    const { card_id, authorization_id } = found(sql.row('transactions', { id }), 'transaction', id);
    const purchase = authorization_id ?? id;
    const records = sql.all<FoundTransaction>(RECORDS, card_id, purchase, purchase);
    const recordOf = (wanted: string) => records.find(record => record.id === wanted);
    const own = found(recordOf(id), 'transaction', id);
    const { held, settled, released, refunded } = recordOf(purchase) ?? own;
    const refs = new Set(records.map(record => record.id));
    const entries = withBalances(entriesOfCard(sql, card_id), card_id);
    const chain = entries.filter(({ ref }) => refs.has(ref)).map(wireEntry);
    const { shape } = ADMIN_OPERATIONS['transactions.show'].returns;
    return wired(shape, { ...own, ...USD, held, settled, released, refunded, chain });
  },

  /** Their shape has no code. */
  challenges: look => pageOfList('challenges', look, ofCards('challenges', look.input)),

  /** A sum for each day: transactions stand in the order of their index, and none are sorted. */
  spending: ({ sql, now, input: { days = 14 } }) => {
    const first = Math.floor(now / DAY) - days + 1;
    const data = Array.from({ length: days }, (_, nth) => {
      const from = (first + nth) * DAY;
      const [day] = sql.known<{ spent: Cents; purchases: number; declined: number }>(SPENT, from, from + DAY);
      const { spent = NOTHING, purchases = 0, declined = 0 } = day ?? {};
      return { day: isoTime(from).slice(0, 10), spent: toUsd(spent), purchases, declined };
    });
    return { data, page: {} };
  },

  /** What this process has not written yet counts too. */
  marks: ({ sql, now, parts }) => {
    const { own, others, faults } = changeCount(sql, now);
    const { requestLog, activeDialect, archives, version } = parts;
    const unwritten = `${requestLog.waiting.length}.${requestLog.waiting.at(-1)?.request_id ?? ''}`;
    const { mode, rate_milli } = readClock(sql);
    return {
      version,
      replaced: generationOf(sql),
      changes: [own, others, unwritten, archives.changes, activeDialect.name].join('-'),
      now: isoTime(now),
      mode,
      rate: clockRate({ mode, rate_milli }),
      faults,
    };
  },

  /** Queued deliveries too: moving the clock makes their attempts due in the same way. */
  timers: look =>
    pageOfList('timers', look, TIMERS, ({ error, due_at }) => ({
      state: error !== null ? 'parked' : Number(due_at) <= look.now ? 'due' : 'waiting',
    })),

  /** Of an address where it leads to alone: its path or query may be a password. */
  webhooks: ({ sql }) => {
    const rows = sql.all<CountedSubscription>(SUBSCRIPTIONS);
    const { shape } = ADMIN_OPERATIONS.webhooks.returns;
    return { data: rows.map(row => wired(shape, { ...row, address: new URL(row.url).origin })), page: {} };
  },

  events: look => {
    const { order = 'asc', type, after, card_id, since: from, until: to } = look.input;
    const wanted = {
      'type = ?': type,
      'seq > ?': after,
      ...createdWithin({ from, to }),
      [ABOUT_CARD]: card_id === undefined ? undefined : aboutCard(card_id),
    };
    return pageOfList('events', look, { from: 'events', wanted, order: `seq ${order}` });
  },
} satisfies Partial<StoreHandlers>;

/** An open hold has its timer, which is found without looking through all records. */
const HOLDINGS_NOW = `select w.data_set, w.deposited, w.balance as wallet, w.spent, c.*,
    (select count(*) from timers where kind = 'authorization.expiry') as open_holds,
    (select count(*) from challenges where status = 'pending') as open_challenges,
    (select count(*) from deposits where status = 'pending') as pending_deposits,
    (select count(*) from deliveries where state = 'failed') as failed_deliveries,
    (select count(*) from deliveries where state = 'queued' and attempt > 0) as retried_deliveries
  from wallets w, (select coalesce(sum(balance), 0) as on_cards, coalesce(sum(hold), 0) as on_hold,
    count(case when status = 'active' then 1 end) as cards_active,
    count(case when status = 'frozen' then 1 end) as cards_frozen,
    count(case when status = 'terminated' then 1 end) as cards_terminated from cards) c`;

/** Only what the index of cards by their age has: a search reads no whole card that it does not find. */
const FOUND =
  "(label like ? escape '!' or id like ? escape '!' or substr(number, 13) = ? or metadata like ? escape '!')";

/** `key=value` as it stands in the JSON text; of anything else nothing is found there. */
function metadataPart(wanted: string): string {
  const [, key, value] = /^(?:metadata\.)?([^=]+)=(.*)$/.exec(wanted) ?? [];
  if (key === undefined || value === undefined) return '';
  return `%${escaped(`${JSON.stringify(key)}:${JSON.stringify(value)}`)}%`;
}

type OfCardSearch = Readonly<
  Partial<Record<'q' | 'status' | 'type' | 'card_id' | 'since' | 'until', string | undefined>>
>;

const FOUND_OF_CARD = `(merchant like ? escape '!' or id = ? or amount = ? or card_id in
  (select id from cards where substr(number, 13) = ? or label like ? escape '!'))`;

const LAST4 = '(select substr(number, 13) from cards where cards.id = card_id) as last4';

/** Of a table whose rows have an id, a card, a merchant and an amount; newest first. */
function ofCards(from: string, { q = '', type, status, card_id, since, until }: OfCardSearch): Query {
  const text = q.trim();
  const part = `%${escaped(text)}%`;
  const usd = /^\$?(\d{1,12})(?:\.(\d\d))?$/.exec(text.replaceAll(',', ''));
  const amount = usd === null ? null : Number(`${usd[1]}${usd[2] ?? '00'}`);
  const sought = text === '' ? undefined : [part, text, amount, text, part];
  const wanted = {
    'type = ?': type,
    'status = ?': status,
    'card_id = ?': card_id,
    [FOUND_OF_CARD]: sought,
    ...createdWithin({ from: since, to: until }),
  };
  return { columns: `*, ${LAST4}`, from, wanted, order: NEWEST_FIRST };
}

type FoundTransaction = TransactionRow & { readonly last4: string };
const USD = { currency: 'USD' } as const;

/** The authorization of a purchase and every record about it, oldest first. */
const RECORDS = `select *, ${LAST4} from transactions where card_id = ? and (id = ? or authorization_id = ?)
  order by created_at, id`;

/** From a time on, until another. */
const SPENT = `select
    coalesce(sum(case type when 'settlement' then amount when 'refund' then -amount else 0 end), 0) as spent,
    count(case when type = 'authorization' then 1 end) as purchases,
    count(case when type = 'decline' then 1 end) as declined
  from transactions where created_at >= ? and created_at < ?`;

/**
 * How often the store was written to, in one cheap statement: rows that this connection wrote so far, another number after every
 * commit of another one; and the fault rules that can still happen.
 */
function changeCount(sql: Sql, now: number) {
  const statement = `select total_changes() as own, (select data_version from pragma_data_version) as others,
    (select count(*) from faults where (times is null or struck < times)
      and (expires_at is null or expires_at > ?)) as faults`;
  return sql.one<Readonly<Record<'own' | 'others' | 'faults', number>>>(statement, now);
}

/** Earliest first; those that failed come first of all, because they wait for nobody. */
const TIMERS: Query = {
  columns: 'due_at, kind, ref, error',
  from: `(select due_at, kind, ref, error, 0 as later from parked_timers
    union all select due_at, kind, ref, null, 1 from timers
    union all select due_at, 'delivery', id, null, 1 from deliveries where state = 'queued')`,
  order: 'later, due_at, kind, ref',
};

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

const wireEntry = (entry: ReturnType<typeof withBalances>[number]) => wired(CARD_ENTRY, entry);

/** Entries as they moved the two accounts of a card. */
function withBalances(entries: readonly EntryOfCard[], card: string) {
  let [card_after, hold_after] = [NOTHING, NOTHING];
  return entries.map(({ id, kind, ref, created_at: at, postings }) => {
    const came = (ledger: string) => sumCents(postings.filter(each => each.ledger === ledger).map(each => each.amount));
    const moved = { card: came(`card:${card}`), hold: came(`hold:${card}`) };
    card_after = cents(card_after + moved.card);
    hold_after = cents(hold_after + moved.hold);
    return { id, at, kind, ref, ...moved, card_after, hold_after };
  });
}
