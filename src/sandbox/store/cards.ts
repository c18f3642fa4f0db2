/** Statements on `cards`. Balances are changed by the ledger alone. */
import type { CARD_STATUSES } from '../../contract/card.ts';
import type { Cents } from '../../core/money.ts';
import type { DeliveryRow } from './deliveries.ts';
import { ABOUT_CARD, aboutCard, type EventRow, type Listed, listed, type Page } from './ledger.ts';
import type { RequestRow } from './requests.ts';
import type { Rows, Sql, SqlValue } from './sql.ts';

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

interface NewCard {
  readonly card: Omit<CardRow, 'last4' | 'status' | 'hold'>;
  readonly document: string;
  readonly number: string;
  readonly cvv: string;
}

interface CardSecrets {
  readonly number: string;
  /** Null once the card is terminated. */
  readonly cvv: string | null;
}

/** With the card as it is sent, which is written and never read here. */
type KeptCard = CardRow & { readonly document?: string };

// The number itself leaves the store through `cardSecrets` only.
export const CARDS: Rows<KeptCard> = {
  table: 'cards',
  key: ['account_id', 'id'],
  columns: `id, bin_id, network, substr(number, 13) as last4, status, balance, hold, spending_limit, label,
  allowed_categories, auto_freeze_at, metadata, created_at, expires_at`,
};

export const cardById = (sql: Sql, account: string, id: string): Promise<CardRow | undefined> =>
  sql.row(CARDS, account, id);

export const cardSecrets = (sql: Sql, account: string, id: string) =>
  sql.get<CardSecrets>('select number, cvv from cards where account_id = ? and id = ?', account, id);

/**
 * Inserts an active card with what its first entry puts on it, posted in the same transaction, and the card as it is
 * sent. Resolves to the number of rows: none when another card has the number.
 */
export const insertCard = (sql: Sql, account: string, { card, number, cvv, document }: NewCard) =>
  sql.run(
    `insert into cards (account_id, id, bin_id, network, number, cvv, status, balance, hold, spending_limit, label,
      allowed_categories, auto_freeze_at, metadata, created_at, expires_at, document)
     values (?, ?, ?, ?, ?, ?, 'active', ?, 0, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (account_id, number) do nothing`,
    account,
    card.id,
    card.bin_id,
    card.network,
    number,
    cvv,
    card.balance,
    card.spending_limit,
    card.label,
    card.allowed_categories,
    card.auto_freeze_at,
    card.metadata,
    card.created_at,
    card.expires_at,
    document,
  );

/** The card as it is sent, exact text; every change of a card writes it anew, so that reading a page encodes nothing. */
export const keepDocument = (sql: Sql, account: string, card: { id: string; document: string }) =>
  sql.change(CARDS, { document: card.document }, account, card.id);

/** Writes what a data set added up for a card; one that ended loses its security code. */
export const keepSums = (sql: Sql, account: string, card: CardRow & { readonly document: string }) =>
  sql.run(
    `update cards set status = ?, balance = ?, hold = ?, document = ?,
      cvv = case when ? = 'terminated' then null else cvv end where account_id = ? and id = ?`,
    card.status,
    card.balance,
    card.hold,
    card.document,
    card.status,
    account,
    card.id,
  );

export const setCardStatus = (
  sql: Sql,
  account: string,
  { id, status, document }: { id: string; status: 'active' | 'frozen'; document: string },
) => sql.change(CARDS, { status, document }, account, id);

/** Ends the card and erases its security code (docs/design/sandbox.md, section 10). */
export const terminateCard = (sql: Sql, account: string, card: { id: string; document: string }) =>
  sql.run(
    "update cards set status = 'terminated', cvv = null, document = ? where account_id = ? and id = ?",
    card.document,
    account,
    card.id,
  );

interface CardFilter {
  readonly status?: CardStatus | undefined;
  readonly bin_id?: string | undefined;
}

function filtered(account: string, filter: CardFilter): { where: string; values: SqlValue[] } {
  const wanted = Object.entries({ status: filter.status, bin_id: filter.bin_id }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const where = ['account_id = ?', ...wanted.map(([column]) => `${column} = ?`)].join(' and ');
  return { where, values: [account, ...wanted.map(([, value]) => value)] };
}

export async function countCards(sql: Sql, account: string, filter: CardFilter = {}): Promise<number> {
  const { where, values } = filtered(account, filter);
  const [row] = await sql.known<{ total: number }>(`select count(*) as total from cards where ${where}`, ...values);
  return row?.total ?? 0;
}

/** Newest first (A-22), as they are sent. */
export async function pageOfCards(
  sql: Sql,
  account: string,
  { filter, limit, offset }: { filter: CardFilter; limit: number; offset: number },
): Promise<readonly string[]> {
  const { where, values } = filtered(account, filter);
  const statement = `select document from cards where ${where} order by created_at desc, id desc limit ? offset ?`;
  const rows = await sql.known<{ document: string }>(statement, ...values, limit, offset);
  return rows.map(({ document }) => document);
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
export async function requestsOfCard(sql: Sql, account: string, card: string): Promise<readonly RequestOfCard[]> {
  return sql.all<RequestOfCard>(
    `select position, request_id, at, operation, method, path, status, error, fault, replayed, idempotency_key
     from requests where account_id = ? and card_id = ? order by position`,
    account,
    card,
  );
}

export interface EntryOfCard {
  readonly id: number;
  readonly kind: string;
  readonly ref: string;
  readonly created_at: number;
  readonly ledger: string;
  readonly amount: Cents;
}

/** A row a posting, all postings of each entry that touches the card or its hold. */
export async function entriesOfCard(sql: Sql, account: string, card: string): Promise<readonly EntryOfCard[]> {
  const rows = await sql.all<EntryOfCard>(
    `select e.id, e.kind, e.ref, e.created_at, p.ledger, p.amount
     from (select distinct entry_id from postings where account_id = ? and ledger in (?, ?)
       order by entry_id desc limit ${MOST_OF_A_KIND}) t
     join entries e on e.account_id = ? and e.id = t.entry_id
     join postings p on p.account_id = e.account_id and p.entry_id = e.id
     order by e.id desc, p.ledger desc`,
    account,
    `card:${card}`,
    `hold:${card}`,
    account,
  );
  return rows.toReversed();
}

export async function eventsOfCard(sql: Sql, account: string, card: string): Promise<readonly EventRow[]> {
  const rows = await sql.all<EventRow>(
    `select seq, id, type, created_at, body from events where account_id = ? and ${ABOUT_CARD}
     order by seq desc limit ${MOST_OF_A_KIND}`,
    account,
    ...aboutCard(card),
  );
  return rows.toReversed();
}

export type DeliveryOfCard = Pick<
  DeliveryRow,
  'id' | 'position' | 'webhook_id' | 'event_id' | 'event_type' | 'state' | 'attempt' | 'created_at'
>;

/** Those of the events about the card. */
export async function deliveriesOfCard(sql: Sql, account: string, card: string): Promise<readonly DeliveryOfCard[]> {
  const rows = await sql.all<DeliveryOfCard>(
    `select id, position, webhook_id, event_id, event_type, state, attempt, created_at from deliveries
     where account_id = ? and event_seq in (select seq from events where account_id = ? and ${ABOUT_CARD})
     order by position desc limit ${MOST_OF_A_KIND}`,
    account,
    account,
    ...aboutCard(card),
  );
  return rows.toReversed();
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
export async function challengesOfCard(sql: Sql, account: string, card: string): Promise<readonly ChallengeOfCard[]> {
  const rows = await sql.all<ChallengeOfCard>(
    `select id, merchant, amount, status, attempts, created_at from challenges where account_id = ? and card_id = ?
     order by created_at desc, id desc limit ${MOST_OF_A_KIND}`,
    account,
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

const OF_CARDS = `select cast(coalesce(sum(balance), 0) as bigint) as on_cards,
    cast(coalesce(sum(hold), 0) as bigint) as on_hold,
    count(case when status = 'active' then 1 end) as cards_active,
    count(case when status = 'frozen' then 1 end) as cards_frozen,
    count(case when status = 'terminated' then 1 end) as cards_terminated
  from cards where account_id = ?`;

/** Sums over all cards. */
export const holdingsOf = async (sql: Sql, account: string) => (await sql.known<Holdings>(OF_CARDS, account))[0];

interface OpenCounts {
  readonly open_holds: number;
  readonly open_challenges: number;
  readonly pending_deposits: number;
  readonly failed_deliveries: number;
}

/** An open hold has its timer, which is found without looking through all records. */
const OPEN = `select
  (select count(*) from timers where account_id = ? and kind = 'authorization.expiry') as open_holds,
  (select count(*) from challenges where account_id = ? and status = 'pending') as open_challenges,
  (select count(*) from deposits where account_id = ? and status = 'pending') as pending_deposits,
  (select count(*) from deliveries where account_id = ? and state = 'failed') as failed_deliveries`;

export const openCounts = (sql: Sql, account: string) => sql.get<OpenCounts>(OPEN, account, account, account, account);

type FoundCard = Pick<
  CardRow,
  'id' | 'label' | 'last4' | 'network' | 'status' | 'balance' | 'hold' | 'bin_id' | 'created_at'
>;

interface CardSearch {
  readonly q?: string | undefined;
  readonly status?: CardStatus | undefined;
  readonly bin?: string | undefined;
}

/** Newest first. */
export function searchCards(sql: Sql, account: string, search: CardSearch, page: Page): Promise<Listed<FoundCard>> {
  const { where, values } = conditions(account, search);
  const query = {
    columns: 'id, label, substr(number, 13) as last4, network, status, balance, hold, bin_id, created_at',
    from: `cards where ${where}`,
    order: 'created_at desc, id desc',
    values,
  };
  return listed<FoundCard>(sql, query, page);
}

function conditions(account: string, { q, status, bin }: CardSearch): { where: string; values: SqlValue[] } {
  const where = ['account_id = ?'];
  const values: SqlValue[] = [account];
  const add = (condition: string, ...more: readonly SqlValue[]) => {
    where.push(condition);
    values.push(...more);
  };
  if (status !== undefined) add('status = ?', status);
  if (bin !== undefined) add('bin_id = ?', bin);
  const wanted = q?.trim() ?? '';
  if (wanted !== '') {
    const part = `%${escaped(wanted)}%`;
    add(
      "(lower(label) like ? escape '!' or lower(id) like ? escape '!' or substr(number, 13) = ? or lower(metadata) like ? escape '!')",
      lowerAscii(part),
      lowerAscii(`${escaped(wanted)}%`),
      wanted,
      lowerAscii(metadataPart(wanted)),
    );
  }
  return { where: where.join(' and '), values };
}

/** In lower case as `lower` has columns. A database takes values by its own language, which knows more letters. */
const lowerAscii = (text: string) => text.replace(/[A-Z]+/g, letters => letters.toLowerCase());

/** `key=value` as it stands in the JSON text; of anything else nothing is found there. */
function metadataPart(wanted: string): string {
  const [, key, value] = /^(?:metadata\.)?([^=]+)=(.*)$/.exec(wanted) ?? [];
  if (key === undefined || value === undefined) return '';
  return `%${escaped(`${JSON.stringify(key)}:${JSON.stringify(value)}`)}%`;
}

const escaped = (text: string) => text.replace(/[!%_]/g, '!$&');

// What is reserved on cards, for the dialect `ledger-balance`.

/** 0 for a terminated card, whose balance is 0 whatever still settles. */
export async function holdOf(sql: Sql, account: string, card: string): Promise<Cents> {
  const row = await sql.get<{ hold: Cents }>(
    `select hold from cards where account_id = ? and id = ? and status <> 'terminated'`,
    account,
    card,
  );
  return row?.hold ?? (0 as Cents);
}

export async function allHolds(sql: Sql, account: string): Promise<Cents> {
  const row = await sql.get<{ held: Cents }>(
    `select cast(coalesce(sum(hold), 0) as bigint) as held from cards
     where account_id = ? and status <> 'terminated'`,
    account,
  );
  return row?.held ?? (0 as Cents);
}
