/** What an account holds, and the statements that several ask: wallet, BINs, deposits, challenges, cards, records, entries, events. Balances are changed by the ledger alone. */

import type { CARD_STATUSES } from '../../contract/card.ts';
import type { CURRENCIES, DECLINE_REASONS, TRANSACTION_TYPES } from '../../contract/resources.ts';
import type { Cents } from '../../core/money.ts';
import { DOMAIN_TABLES } from './schema.ts';
import { escaped, listed, type Page, type Sql } from './sql.ts';

interface WalletRow {
  readonly data_set: string;
  /** May be below 0 by A-157. */
  readonly balance: Cents;
  /** What came from outside: deposits and adjustments of the sandbox (I10). */
  readonly deposited: Cents;
  /** Settled minus refunded (A-61). */
  readonly spent: Cents;
}

export const walletOf = (sql: Sql) => sql.get<WalletRow>('select data_set, balance, deposited, spent from wallets');

/** Removes all domain rows, the wallet included. */
export function emptyAccount(sql: Sql): void {
  for (const table of DOMAIN_TABLES) sql.run(`delete from ${table}`);
}

export interface BinRow {
  readonly id: string;
  readonly network: 'visa' | 'mastercard';
  readonly type: 'prepaid' | 'debit' | 'credit';
  readonly three_ds: number;
  readonly apple_pay: number;
  readonly google_pay: number;
  readonly max_transaction: Cents;
  readonly max_monthly: Cents;
  /** Tenths of a percent, because only whole numbers are stored. */
  readonly acceptance_tenths: number;
  /** JSON list of tags. */
  readonly best_for: string;
}

export const binById = (sql: Sql, id: string) => sql.known<BinRow>('select * from bins where id = ?', id)[0];

/** All BINs in the order of the data set. */
export const allBins = (sql: Sql) => sql.all<BinRow>('select * from bins order by position');

export type Currency = (typeof CURRENCIES)[number];

export interface DepositRow {
  readonly id: string;
  readonly currency: Currency;
  readonly network: string;
  readonly crypto_amount: string;
  /** Fixed when it was seen (A-67). */
  readonly amount: Cents;
  readonly status: 'pending' | 'confirmed' | 'failed';
  readonly tx_hash: string;
  readonly confirmations: number;
  readonly required_confirmations: number;
  readonly created_at: number;
  readonly confirmed_at: number | null;
}

export const depositById = (sql: Sql, id: string) => sql.get<DepositRow>('select * from deposits where id = ?', id);

export const updateDeposit = (sql: Sql, { id, status, confirmations, confirmed_at }: DepositRow) =>
  sql.update('deposits', { id }, { status, confirmations, confirmed_at });

export interface ChallengeRow {
  readonly id: string;
  readonly card_id: string;
  readonly merchant: string;
  readonly amount: Cents;
  readonly otp: string;
  readonly status: 'pending' | 'approved' | 'failed' | 'expired' | 'cancelled';
  /** Wrong codes so far (A-53). */
  readonly attempts: number;
  /** The attached authorization as JSON text, or null. */
  readonly purchase: string | null;
  readonly created_at: number;
  readonly expires_at: number;
}

export const challengeById = (sql: Sql, id: string) =>
  sql.get<ChallengeRow>('select * from challenges where id = ?', id);

export const updateChallenge = (sql: Sql, { id, status, attempts }: ChallengeRow) =>
  sql.update('challenges', { id }, { status, attempts });

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

/** All but number and security code. */
const COLUMNS = `id, bin_id, network, substr(number, 13) as last4, status, balance, hold, spending_limit, label,
  allowed_categories, auto_freeze_at, metadata, created_at, expires_at`;

export const cardById = (sql: Sql, id: string) => sql.get<CardRow>(`select ${COLUMNS} from cards where id = ?`, id);

export const isNumberTaken = (sql: Sql, number: string) =>
  sql.get('select 1 as one from cards where number = ?', number) !== undefined;

/** Inserts a card, with what its first entry puts on it, posted in the same transaction, and with the card as it is sent. */
export function insertCard(
  sql: Sql,
  { last4: _, ...card }: CardRow & { readonly number: string; readonly cvv: string; readonly document: string },
) {
  return sql.insert('cards', card);
}

type TransactionType = (typeof TRANSACTION_TYPES)[number];
export type DeclineReason = (typeof DECLINE_REASONS)[number];

export interface TransactionRow {
  readonly id: string;
  readonly card_id: string;
  readonly type: TransactionType;
  readonly status: 'pending' | 'settled' | 'reversed' | 'expired' | 'completed' | 'declined';
  readonly amount: Cents;
  readonly merchant: string;
  readonly mcc: string;
  readonly merchant_country: string;
  readonly authorization_id: string | null;
  readonly decline_reason: DeclineReason | null;
  readonly created_at: number;
  /** Sums of an authorization; 0 on every other record. */
  readonly held: Cents;
  readonly settled: Cents;
  readonly excess: Cents;
  readonly released: Cents;
  readonly refunded: Cents;
}

export const authorizationById = (sql: Sql, id: string) =>
  sql.get<TransactionRow>("select * from transactions where id = ? and type = 'authorization'", id);

/** A record of any kind. */
export const transactionById = (sql: Sql, id: string) =>
  sql.get<TransactionRow>('select * from transactions where id = ?', id);

/** Writes status and sums of an authorization, and what was authorized: an increment raises it (I7). */
export function updateAuthorization(sql: Sql, row: TransactionRow) {
  const { id, status, amount, held, settled, excess, released, refunded } = row;
  return sql.update('transactions', { id }, { status, amount, held, settled, excess, released, refunded });
}

/** What the card's authorizations of a span take of the monthly limit: held and settled (A-161). */
export function usedBetween(sql: Sql, { card, from, before }: { card: string; from: number; before: number }): Cents {
  const row = sql.get<{ used: Cents }>(
    `select coalesce(sum(held + settled), 0) as used from transactions
     where card_id = ? and created_at >= ? and created_at < ? and type = 'authorization'`,
    card,
    from,
    before,
  );
  return row?.used ?? (0 as Cents);
}

interface TransactionFilter {
  readonly card_id?: string | undefined;
  readonly type?: TransactionType | undefined;
  /** ms, both inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A page, newest first (A-22). */
export function pageOfTransactions(sql: Sql, { card_id, type, from, to }: TransactionFilter, page: Page) {
  const wanted = { 'card_id = ?': card_id, 'type = ?': type, 'created_at >= ?': from, 'created_at <= ?': to };
  return listed<TransactionRow>(sql, { from: 'transactions', wanted, order: 'created_at desc, id desc' }, page);
}

// When the books were last looked through, and what was found.

export interface LastCheck {
  /** ms, on the clock of the sandbox. */
  readonly at: number;
  /** What did not hold, a line each; empty when all was well. */
  readonly faults: readonly string[];
}

/** Undefined when nobody looked since the sandbox was made, started over or put back. */
export function lastCheck(sql: Sql): LastCheck | undefined {
  const row = sql.get<{ at: number; faults: string }>('select at, faults from ledger_checks');
  return row && { at: row.at, faults: JSON.parse(row.faults) as string[] };
}

export function keepCheck(sql: Sql, { at, faults }: LastCheck): void {
  forgetCheck(sql);
  sql.insert('ledger_checks', { at, faults: JSON.stringify(faults) });
}

/** What was found is no longer true of what the store holds. */
export const forgetCheck = (sql: Sql) => sql.run('delete from ledger_checks');

// Events, and entries of one card.

export interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly created_at: number;
  readonly body: string;
}

/** Begins the text of an event about a card: its object is the card, or names it. */
export const ABOUT_CARD = "(body like ? escape '!' or body like ? escape '!')";

/** The values of `ABOUT_CARD`. */
export function aboutCard(id: string): readonly string[] {
  const named = escaped(JSON.stringify(id));
  return [`%"data":{"id":${named}%`, `%"card_id":${named}%`];
}

/** Rows of a kind that are looked at; of what lies further back nobody asks card by card. */
export const MOST_OF_A_KIND = 10_000;

export interface EntryOfCard {
  readonly id: number;
  readonly kind: string;
  readonly ref: string;
  readonly created_at: number;
  readonly ledger: string;
  readonly amount: Cents;
}

/** A row a posting, all postings of each entry that touches the card or its hold, oldest first. */
export function entriesOfCard(sql: Sql, card: string): readonly EntryOfCard[] {
  const rows = sql.all<EntryOfCard>(
    `select e.id, e.kind, e.ref, e.created_at, p.ledger, p.amount
     from (select distinct entry_id from postings where ledger in (?, ?) order by entry_id desc limit ${MOST_OF_A_KIND}) t
     join entries e on e.id = t.entry_id join postings p on p.entry_id = e.id
     order by e.id desc, p.ledger desc`,
    `card:${card}`,
    `hold:${card}`,
  );
  return rows.toReversed();
}

// How much the sandbox holds, for its status.

const TABLES = ['bins', 'cards', 'transactions', 'webhooks', 'events'] as const;
const COUNTS = `select ${TABLES.map(table => `(select count(*) from ${table}) as ${table}`).join(', ')}`;

/** A statement of sums alone gives a row always. */
export const countAll = (sql: Sql) => sql.get(COUNTS) as Readonly<Record<(typeof TABLES)[number], number>>;
