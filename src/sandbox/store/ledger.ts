/** Statements on `entries` and `postings`, and the cached balances they move. Called by the ledger alone. */
import { type Cents, cents } from '../../core/money.ts';
import type { Sql } from './sql.ts';

export interface WalletMove {
  readonly wallet: Cents;
  readonly deposited: Cents;
  readonly spent: Cents;
}

const BALANCES = { table: 'wallets', columns: ['entries', 'balance', 'deposited', 'spent'] } as const;

/**
 * Moves the wallet's cached balances and takes the next entry number; the wallet row comes first, always. Resolves
 * to undefined, and nothing moved, when it holds less than `least`.
 */
export async function moveWallet(sql: Sql, account: string, move: WalletMove & { readonly least: number }) {
  const before = await sql.single(BALANCES, account);
  if (before === undefined || before.balance < move.least) return undefined;
  const after = {
    entries: before.entries + 1,
    balance: cents(before.balance + move.wallet),
    deposited: before.deposited + move.deposited,
    spent: before.spent + move.spent,
  };
  await sql.keepSingle(BALANCES, account, after);
  return after;
}

export const moveCard = (sql: Sql, account: string, move: { id: string; card: Cents; hold: Cents }) =>
  sql.get<{ readonly balance: Cents; readonly hold: Cents }>(
    'update cards set balance = balance + ?, hold = hold + ? where account_id = ? and id = ? returning balance, hold',
    move.card,
    move.hold,
    account,
    move.id,
  );

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
