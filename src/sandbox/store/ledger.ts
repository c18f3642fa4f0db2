/** Statements on `entries` and `postings`, and the cached balances they move. Called by the ledger alone. */
import { type Cents, cents } from '../../core/money.ts';
import { CARDS } from './cards.ts';
import type { Rows, Sql } from './sql.ts';

export interface WalletMove {
  readonly wallet: Cents;
  readonly deposited: Cents;
  readonly spent: Cents;
}

interface BalancesRow {
  readonly entries: number;
  readonly balance: Cents;
  readonly deposited: Cents;
  readonly spent: Cents;
}

const BALANCES: Rows<BalancesRow> = {
  table: 'wallets',
  key: ['account_id'],
  columns: 'entries, balance, deposited, spent',
};

/**
 * Moves the wallet's cached balances and takes the next entry number; the wallet row comes first, always. Resolves
 * to undefined, and nothing moved, when it holds less than `least`.
 */
export async function moveWallet(sql: Sql, account: string, move: WalletMove & { readonly least: number }) {
  const before = await sql.row(BALANCES, account);
  if (before === undefined || before.balance < move.least) return undefined;
  const after: BalancesRow = {
    entries: before.entries + 1,
    balance: cents(before.balance + move.wallet),
    deposited: cents(before.deposited + move.deposited),
    spent: cents(before.spent + move.spent),
  };
  return sql.change(BALANCES, after, account);
}

/** Moves the cached balances of a card; resolves to undefined where there is none. A hold below 0 the store refuses. */
export async function moveCard(sql: Sql, account: string, move: { id: string; card: Cents; hold: Cents }) {
  const before = await sql.row(CARDS, account, move.id);
  if (before === undefined) return undefined;
  const after = { balance: cents(before.balance + move.card), hold: cents(before.hold + move.hold) };
  await sql.change(CARDS, after, account, move.id);
  return after;
}

export interface EntryRow {
  readonly id: number;
  readonly kind: string;
  readonly ref: string;
  readonly created_at: number;
}

const ENTRIES = { table: 'entries', columns: ['account_id', 'id', 'kind', 'ref', 'created_at'] };

export const insertEntry = (sql: Sql, account: string, row: EntryRow) =>
  sql.append(ENTRIES, account, row.id, row.kind, row.ref, row.created_at);

export interface PostingRow {
  readonly entry_id: number;
  readonly ledger: string;
  readonly amount: Cents;
}

const POSTINGS = { table: 'postings', columns: ['account_id', 'entry_id', 'ledger', 'amount'] };

export const insertPosting = (sql: Sql, account: string, row: PostingRow) =>
  sql.append(POSTINGS, account, row.entry_id, row.ledger, row.amount);

/** Writes the wallet's cached sums as a data set added them up, and the number of its last entry. */
export const keepWalletSums = (sql: Sql, account: string, sums: WalletMove & { readonly entries: number }) =>
  sql.run(
    'update wallets set balance = ?, deposited = ?, spent = ?, entries = ? where account_id = ?',
    sums.wallet,
    sums.deposited,
    sums.spent,
    sums.entries,
    account,
  );
