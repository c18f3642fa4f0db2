/** Statements on `cards`. Balances are changed by the ledger alone. */
import type { CARD_STATUSES } from '../../contract/card.ts';
import type { Cents } from '../../core/money.ts';
import { conditions, type Page, type Sql } from './sql.ts';

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

/** A page, newest first, as they are sent. */
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
