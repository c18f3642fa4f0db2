/** Statements on `cards`. Balances are changed by the ledger alone. */
import type { CARD_STATUSES } from '../../contract/card.ts';
import type { Cents } from '../../core/money.ts';
import type { DeliveryRow } from './deliveries.ts';
import { ABOUT_CARD, aboutCard, type EventRow } from './ledger.ts';
import type { RequestRow } from './requests.ts';
import { conditions, escaped, type Listed, listed, type Page, type Sql } from './sql.ts';
import type { TransactionRow } from './transactions.ts';

export type CardStatus = (typeof CARD_STATUSES)[number];

export interface CardRow {
  readonly id: string;
  readonly bin_id: string;
  readonly network: 'visa' | 'mastercard';
  readonly last4: string;
  readonly status: CardStatus;
  /** Available, open holds taken off (A-150). */
  readonly balance: Cents;
  readonly hold: Cents;
  readonly spending_limit: Cents;
  readonly label: string;
  /** JSON list. */
  readonly allowed_categories: string;
  readonly auto_freeze_at: Cents | null;
  /** JSON object. */
  readonly metadata: string;
  readonly created_at: number;
  readonly expires_at: number;
}

interface CardSecrets {
  readonly number: string;
  /** Null once the card is terminated. */
  readonly cvv: string | null;
}

// The number itself leaves the store through `cardSecrets` only.
const COLUMNS = `id, bin_id, network, substr(number, 13) as last4, status, balance, hold, spending_limit, label,
  allowed_categories, auto_freeze_at, metadata, created_at, expires_at`;

export const cardById = (sql: Sql, id: string) => sql.get<CardRow>(`select ${COLUMNS} from cards where id = ?`, id);

export const cardSecrets = (sql: Sql, id: string) =>
  sql.get<CardSecrets>('select number, cvv from cards where id = ?', id);

export const isNumberTaken = async (sql: Sql, number: string) =>
  (await sql.get('select 1 as one from cards where number = ?', number)) !== undefined;

/** Inserts a card, with what its first entry puts on it, posted in the same transaction, and with the card as it is sent. */
export function insertCard(
  sql: Sql,
  { last4: _, ...card }: CardRow & { readonly number: string; readonly cvv: string; readonly document: string },
) {
  return sql.insert('cards', card);
}

/** The card as it is sent, exact text; every change of a card writes it anew, so that reading a page encodes nothing. */
export const keepDocument = (sql: Sql, { id, document }: { id: string; document: string }) =>
  sql.update('cards', { id }, { document });

/** Writes what a data set added up for a card; one that ended loses its security code. */
export const keepSums = (sql: Sql, { id, status, balance, hold, document }: CardRow & { readonly document: string }) =>
  sql.update('cards', { id }, { status, balance, hold, document, ...(status === 'terminated' && { cvv: null }) });

export const setCardStatus = (
  sql: Sql,
  { id, status, document }: { id: string; status: 'active' | 'frozen'; document: string },
) => sql.update('cards', { id }, { status, document });

/** Ends the card and erases its security code (docs/design/sandbox.md, section 10). */
export const terminateCard = (sql: Sql, { id, document }: { id: string; document: string }) =>
  sql.update('cards', { id }, { status: 'terminated', cvv: null, document });

interface CardFilter {
  readonly status?: CardStatus | undefined;
  readonly bin_id?: string | undefined;
}

/** A page, newest first (A-22), as they are sent. */
export async function pageOfCards(
  sql: Sql,
  { filter, limit, offset }: { filter: CardFilter } & Page,
): Promise<{ readonly documents: readonly string[]; readonly total: number }> {
  const { where, values } = conditions({ 'status = ?': filter.status, 'bin_id = ?': filter.bin_id });
  const [count] = await sql.known<{ total: number }>(`select count(*) as total from cards${where}`, ...values);
  const statement = `select document from cards${where} order by created_at desc, id desc limit ? offset ?`;
  const rows = await sql.known<{ document: string }>(statement, ...values, limit, offset);
  return { documents: rows.map(({ document }) => document), total: count?.total ?? 0 };
}

// Statements on what happened to one card: the newest of each kind, told oldest first.

/** Rows of a kind that are looked at; of what lies further back nobody asks card by card. */
export const MOST_OF_A_KIND = 10_000;

export type RequestOfCard = Pick<
  RequestRow,
  'request_id' | 'at' | 'operation' | 'method' | 'path' | 'status' | 'error' | 'fault' | 'replayed' | 'idempotency_key'
> & {
  /** Its number in the log; null of one that is in no store yet. */
  readonly position: number | null;
};

/** Of the log, which keeps the newest alone. */
export const requestsOfCard = (sql: Sql, card: string) =>
  sql.all<RequestOfCard>('select * from requests where card_id = ? order by position', card);

export interface EntryOfCard {
  readonly id: number;
  readonly kind: string;
  readonly ref: string;
  readonly created_at: number;
  readonly ledger: string;
  readonly amount: Cents;
}

/** A row a posting, all postings of each entry that touches the card or its hold. */
export async function entriesOfCard(sql: Sql, card: string): Promise<readonly EntryOfCard[]> {
  const rows = await sql.all<EntryOfCard>(
    `select e.id, e.kind, e.ref, e.created_at, p.ledger, p.amount
     from (select distinct entry_id from postings where ledger in (?, ?) order by entry_id desc limit ${MOST_OF_A_KIND}) t
     join entries e on e.id = t.entry_id join postings p on p.entry_id = e.id
     order by e.id desc, p.ledger desc`,
    `card:${card}`,
    `hold:${card}`,
  );
  return rows.toReversed();
}

const newest = `desc limit ${MOST_OF_A_KIND}`;

export async function eventsOfCard(sql: Sql, card: string): Promise<readonly EventRow[]> {
  const statement = `select * from events where ${ABOUT_CARD} order by seq ${newest}`;
  return (await sql.all<EventRow>(statement, ...aboutCard(card))).toReversed();
}

export type DeliveryOfCard = Pick<
  DeliveryRow,
  'id' | 'position' | 'webhook_id' | 'event_id' | 'event_type' | 'state' | 'attempt' | 'created_at'
>;

/** Those of the events about the card. */
export async function deliveriesOfCard(sql: Sql, card: string): Promise<readonly DeliveryOfCard[]> {
  const statement = `select * from deliveries where event_seq in (select seq from events where ${ABOUT_CARD})
    order by position ${newest}`;
  return (await sql.all<DeliveryOfCard>(statement, ...aboutCard(card))).toReversed();
}

export interface ChallengeOfCard {
  readonly id: string;
  readonly merchant: string;
  readonly amount: Cents;
  readonly status: string;
  readonly attempts: number;
  readonly created_at: number;
}

/** Without the code. */
export async function challengesOfCard(sql: Sql, card: string): Promise<readonly ChallengeOfCard[]> {
  const rows = await sql.all<ChallengeOfCard>(
    `select id, merchant, amount, status, attempts, created_at from challenges where card_id = ?
     order by created_at desc, id ${newest}`,
    card,
  );
  return rows.toReversed();
}

// Statements on what the sandbox holds in all, and on cards that are looked for.

interface Holdings {
  readonly on_cards: Cents;
  readonly on_hold: Cents;
  readonly cards_active: number;
  readonly cards_frozen: number;
  readonly cards_terminated: number;
}

/** Sums over all cards. */
export const holdingsOf = async (sql: Sql) =>
  (
    await sql.known<Holdings>(`select coalesce(sum(balance), 0) as on_cards, coalesce(sum(hold), 0) as on_hold,
      count(case when status = 'active' then 1 end) as cards_active,
      count(case when status = 'frozen' then 1 end) as cards_frozen,
      count(case when status = 'terminated' then 1 end) as cards_terminated from cards`)
  )[0];

interface OpenCounts {
  readonly open_holds: number;
  readonly open_challenges: number;
  readonly pending_deposits: number;
  readonly failed_deliveries: number;
}

/** An open hold has its timer, which is found without looking through all records. */
export const openCounts = (sql: Sql) =>
  sql.get<OpenCounts>(`select
    (select count(*) from timers where kind = 'authorization.expiry') as open_holds,
    (select count(*) from challenges where status = 'pending') as open_challenges,
    (select count(*) from deposits where status = 'pending') as pending_deposits,
    (select count(*) from deliveries where state = 'failed') as failed_deliveries`);

type FoundCard = Pick<
  CardRow,
  'id' | 'label' | 'last4' | 'network' | 'status' | 'balance' | 'hold' | 'bin_id' | 'created_at'
>;

interface CardSearch {
  readonly q?: string | undefined;
  readonly status?: CardStatus | undefined;
  readonly bin?: string | undefined;
}

const FOUND =
  "(lower(label) like ? escape '!' or lower(id) like ? escape '!' or substr(number, 13) = ? or lower(metadata) like ? escape '!')";

/** Newest first. */
export function searchCards(sql: Sql, { q, status, bin }: CardSearch, page: Page): Promise<Listed<FoundCard>> {
  const asked = q?.trim() ?? '';
  const part = escaped(asked);
  const found = [lowerAscii(`%${part}%`), lowerAscii(`${part}%`), asked, lowerAscii(metadataPart(asked))];
  const query = {
    columns: 'id, label, substr(number, 13) as last4, network, status, balance, hold, bin_id, created_at',
    from: 'cards',
    wanted: { 'status = ?': status, 'bin_id = ?': bin, [FOUND]: asked === '' ? undefined : found },
    order: 'created_at desc, id desc',
  };
  return listed<FoundCard>(sql, query, page);
}

interface OfCardSearch {
  readonly q?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  readonly card_id?: string | undefined;
}

const FOUND_OF_CARD = `(merchant like ? escape '!' or id = ? or amount = ? or card_id in
  (select id from cards where substr(number, 13) = ? or label like ? escape '!'))`;

/** Of a table whose rows have an id, a card, a merchant and an amount; newest first. */
function searchOfCards<Row>(sql: Sql, table: string, { q = '', type, status, card_id }: OfCardSearch, page: Page) {
  const asked = q.trim();
  const part = `%${escaped(asked)}%`;
  const usd = /^\$?(\d{1,12})(?:\.(\d\d))?$/.exec(asked.replaceAll(',', ''));
  const amount = usd === null ? null : Number(`${usd[1]}${usd[2] ?? '00'}`);
  const found = asked === '' ? undefined : [part, asked, amount, asked, part];
  const wanted = { 'type = ?': type, 'status = ?': status, 'card_id = ?': card_id, [FOUND_OF_CARD]: found };
  return listed<Row>(sql, { columns: `*, ${LAST4}`, from: table, wanted, order: 'created_at desc, id desc' }, page);
}

const LAST4 = '(select substr(number, 13) from cards where cards.id = card_id) as last4';

export type FoundTransaction = TransactionRow & { readonly last4: string };

export const searchTransactions = (sql: Sql, search: OfCardSearch, page: Page) =>
  searchOfCards<FoundTransaction>(sql, 'transactions', search, page);

/** The authorization of a purchase and every record about it, oldest first. */
export const recordsOfPurchase = (sql: Sql, { card, id }: { card: string; id: string }) =>
  sql.all<FoundTransaction>(
    `select *, ${LAST4} from transactions where card_id = ? and (id = ? or authorization_id = ?)
     order by created_at, id`,
    card,
    id,
    id,
  );

interface FoundChallenge extends ChallengeOfCard {
  readonly card_id: string;
  readonly last4: string;
  readonly expires_at: number;
}

export const searchChallenges = (sql: Sql, search: OfCardSearch, page: Page) =>
  searchOfCards<FoundChallenge>(sql, 'challenges', search, page);

const MS_OF_DAY = 86_400_000;

interface SpentDay {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly spent: Cents;
  readonly purchases: number;
  readonly declined: number;
}

/** Days with a record from the first of these days on, oldest first. */
export const spentByDay = (sql: Sql, firstDay: number) =>
  sql.all<SpentDay>(
    `select created_at / ${MS_OF_DAY} as day,
       sum(case type when 'settlement' then amount when 'refund' then -amount else 0 end) as spent,
       count(case when type = 'authorization' then 1 end) as purchases,
       count(case when type = 'decline' then 1 end) as declined
     from transactions where created_at >= ? group by 1 order by 1`,
    firstDay * MS_OF_DAY,
  );

/** In lower case as `lower` has columns. A database takes values by its own language, which knows more letters. */
const lowerAscii = (text: string) => text.replace(/[A-Z]+/g, letters => letters.toLowerCase());

/** `key=value` as it stands in the JSON text; of anything else nothing is found there. */
function metadataPart(wanted: string): string {
  const [, key, value] = /^(?:metadata\.)?([^=]+)=(.*)$/.exec(wanted) ?? [];
  if (key === undefined || value === undefined) return '';
  return `%${escaped(`${JSON.stringify(key)}:${JSON.stringify(value)}`)}%`;
}

// What is reserved on cards, for the dialect `ledger-balance`.

/** 0 for a terminated card, whose balance is 0 whatever still settles. */
export async function holdOf(sql: Sql, card: string): Promise<Cents> {
  const row = await sql.get<{ hold: Cents }>(`select hold from cards where id = ? and status <> 'terminated'`, card);
  return row?.hold ?? (0 as Cents);
}

export async function allHolds(sql: Sql): Promise<Cents> {
  const statement = `select coalesce(sum(hold), 0) as held from cards where status <> 'terminated'`;
  return (await sql.get<{ held: Cents }>(statement))?.held ?? (0 as Cents);
}
