/** Statements on `cards`. Balances are changed by the ledger alone. */
import type { CARD_STATUSES } from '../../contract/card.ts';
import type { Cents } from '../../core/money.ts';
import type { Rows, Sql, SqlValue } from './sql.ts';

export type CardStatus = (typeof CARD_STATUSES)[number];

export interface CardRow {
  readonly id: string;
  readonly bin_id: string;
  readonly network: 'visa' | 'mastercard';
  readonly last4: string;
  readonly status: CardStatus;
  /** Available, open holds taken off. */
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

export interface NewCard {
  readonly card: Omit<CardRow, 'last4' | 'status' | 'hold'>;
  readonly document: string;
  readonly number: string;
  readonly cvv: string;
}

export interface CardSecrets {
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

export interface CardFilter {
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

/** Newest first, as they are sent. */
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
