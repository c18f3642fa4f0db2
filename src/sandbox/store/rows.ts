/** Rows of the store, and the statements that several ask. Balances are changed by the ledger alone. */
import type { Cents } from '../../core/money.ts';
import type { RowOf } from './schema.ts';
import { escaped, type Sql } from './sql.ts';

export const walletOf = (sql: Sql) => sql.one<RowOf<'wallets'>>('select * from wallets');

export type BinRow = Omit<RowOf<'bins'>, 'position'>;

export const binById = (sql: Sql, id: string) => sql.known<BinRow>('select * from bins where id = ?', id)[0];

/** All BINs in the order of the data set. */
export const allBins = (sql: Sql) => sql.all<BinRow>('select * from bins order by position');

export type DepositRow = RowOf<'deposits'>;
export type Currency = DepositRow['currency'];

export type ChallengeRow = RowOf<'challenges'>;

/** All but number, security code and what is sent. */
export type CardRow = Omit<RowOf<'cards'>, 'number' | 'cvv' | 'document'> & { readonly last4: string };
export type CardStatus = CardRow['status'];

const COLUMNS = `id, bin_id, network, substr(number, 13) as last4, status, balance, hold, spending_limit, label,
  allowed_categories, auto_freeze_at, metadata, created_at, expires_at`;

export const cardById = (sql: Sql, id: string) => sql.get<CardRow>(`select ${COLUMNS} from cards where id = ?`, id);

export type TransactionRow = RowOf<'transactions'>;
export type DeclineReason = NonNullable<TransactionRow['decline_reason']>;

/** What the card's authorizations of a span take of the monthly limit: held and settled (A-161). */
export function usedBetween(sql: Sql, { card, from, before }: { card: string; from: number; before: number }): Cents {
  const statement = `select coalesce(sum(held + settled), 0) as used from transactions
    where card_id = ? and created_at >= ? and created_at < ? and type = 'authorization'`;
  return sql.one<{ used: Cents }>(statement, card, from, before).used;
}

// Events, and entries of one card.

export type EventRow = RowOf<'events'>;

/** Begins the text of an event about a card: its object is the card, or names it. */
export const ABOUT_CARD = "(body like ? escape '!' or body like ? escape '!')";

/** The values of `ABOUT_CARD`. */
export function aboutCard(id: string): readonly string[] {
  const named = escaped(JSON.stringify(id));
  return [`%"data":{"id":${named}%`, `%"card_id":${named}%`];
}

/** Rows of a kind that are looked at; of what lies further back nobody asks card by card. */
export const MOST_OF_A_KIND = 10_000;

type Posting = Pick<RowOf<'postings'>, 'ledger' | 'amount'>;
export type EntryOfCard = RowOf<'entries'> & { readonly postings: readonly Posting[] };

/** Each entry that touches the card or its hold, with all of its postings, oldest first. */
export function entriesOfCard(sql: Sql, card: string): readonly EntryOfCard[] {
  const entries: (RowOf<'entries'> & { readonly postings: Posting[] })[] = [];
  const statement = `select e.id, e.kind, e.ref, e.created_at, p.ledger, p.amount
     from (select distinct entry_id from postings where ledger in (?, ?) order by entry_id desc limit ${MOST_OF_A_KIND}) t
     join entries e on e.id = t.entry_id join postings p on p.entry_id = e.id order by e.id, p.ledger`;
  const rows = sql.all<RowOf<'entries'> & Posting>(statement, `card:${card}`, `hold:${card}`);
  for (const { ledger, amount, ...entry } of rows) {
    if (entries.at(-1)?.id !== entry.id) entries.push({ ...entry, postings: [] });
    entries.at(-1)?.postings.push({ ledger, amount });
  }
  return entries;
}

// How much the sandbox holds, for its status.

const TABLES = ['bins', 'cards', 'transactions', 'webhooks', 'events'] as const;
const COUNTS = `select ${TABLES.map(table => `(select count(*) from ${table}) as ${table}`).join(', ')}`;

/** A statement of sums alone gives a row always. */
export const countAll = (sql: Sql) => sql.known(COUNTS)[0] as Readonly<Record<(typeof TABLES)[number], number>>;

// Statements on what the sandbox keeps beside the account: requests, keys, faults, deliveries, subscriptions.

export type RequestRow = Omit<RowOf<'requests'>, 'position'>;

/** Rows that are kept at least; at most `SLACK` more. */
export const KEPT_REQUESTS = 1_000;
const SLACK = 100;

export function insertRequest(sql: Sql, row: RequestRow): void {
  const position = sql.insert('requests', row);
  if (position % SLACK === 0) sql.run('delete from requests where position <= ?', position - KEPT_REQUESTS);
}

export type FaultRow = RowOf<'faults'>;

// Statements on `deliveries` and their `attempts`. Times are on the clock of the sandbox, leases in real time.

/** Without who sends it, and the body of an example. */
export type DeliveryRow = Omit<RowOf<'deliveries'>, 'body' | `lease_${string}`>;
export type DeliveryState = DeliveryRow['state'];

export type AttemptRow = RowOf<'attempts'>;

/** The exact text that is sent on every attempt. */
export function deliveryBody(sql: Sql, id: string): string {
  const row = sql.get<{ text: string }>(
    'select coalesce(d.body, e.body) as text from deliveries d left join events e on e.seq = d.event_seq where d.id = ?',
    id,
  );
  if (typeof row?.text !== 'string') throw new Error(`delivery ${id} has no event`);
  return row.text;
}

export const sendingNow = (sql: Sql) =>
  sql.all<{
    readonly id: string;
    readonly webhook_id: string;
    readonly lease_owner: string;
    readonly lease_until: number;
  }>("select id, webhook_id, lease_owner, lease_until from deliveries where state = 'sending' order by position");

/** Nothing more goes to a subscription that is disabled or deleted. */
export const cancelQueued = (sql: Sql, webhook_id: string) =>
  sql.update('deliveries', { webhook_id, state: 'queued' }, { state: 'cancelled' });

// Statements on `webhooks`, the subscriptions. Deliveries are the outbox's.

export type WebhookRow = RowOf<'webhooks'>;

/** Those that receive events now, oldest first; the reader matches `events`. */
export const activeWebhooks = (sql: Sql) =>
  sql.known<WebhookRow>("select * from webhooks where status = 'active' order by created_at, id");
