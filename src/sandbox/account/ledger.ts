/**
 * Double entry (docs/design/sandbox.md, section 8). Every change of money is one entry of at least two postings that
 * sum to 0; entries are only ever added. The balances on wallet and card rows are caches that move with them, never
 * alone.
 */
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, plainAmount, sumCents } from '../../core/money.ts';
import { Refused } from '../calls/handler.ts';
import { insertEntry, insertPosting, moveCard, moveWallet } from '../store/ledger.ts';
import type { Sql } from '../store/sql.ts';
import { walletOf } from '../store/wallet.ts';

export type EntryKind =
  | 'deposit'
  | 'adjustment'
  | 'create'
  | 'fund'
  | 'withdraw'
  | 'authorize'
  | 'increment'
  | 'release'
  | 'settle'
  | 'refund'
  | 'terminate';

/** What moves in which account, cents; those left out do not move. `card` and `hold` are the entry's card's. */
export interface Movement {
  readonly wallet?: number;
  readonly card?: number;
  readonly hold?: number;
  /** `ext:crypto`, `ext:network` and `ext:adjust`: the world outside. */
  readonly crypto?: number;
  readonly network?: number;
  readonly adjust?: number;
}

export interface Entry {
  readonly account: string;
  readonly kind: EntryKind;
  /** Transaction, deposit or card it is about. */
  readonly ref: string;
  readonly at: number;
  /** Needed when `card` or `hold` moves. */
  readonly card?: string;
  /** The first entry of a card, whose row was inserted with what it moves. */
  readonly isOpening?: boolean;
  /** What it takes from the wallet must be there. */
  readonly isCovered?: boolean;
  readonly moves: Movement;
}

/** Balances after an entry; those of a card when the entry moved one. */
export interface Balances {
  readonly wallet: Cents;
  readonly card: { readonly balance: Cents; readonly hold: Cents } | undefined;
}

/**
 * Writes an entry and moves the balances, the wallet's row first. Throws `internal` for an entry that does not sum
 * to 0 or moves fewer than two accounts, and the store's error when a hold would fall below 0: all bugs of a rule. Throws
 * `insufficient_funds`, with nothing written, when the wallet does not cover what must be covered.
 */
export async function post(sql: Sql, entry: Entry): Promise<Balances> {
  const { account, moves } = entry;
  const postings = postingsOf(entry);
  if (postings.length < 2 || sumCents(postings.map(({ amount }) => amount)) !== 0) {
    throw new CliError('internal', { message: `not a balanced entry: ${entry.kind} ${JSON.stringify(moves)}` });
  }
  const wallet = await moveWallet(sql, account, {
    wallet: cents(moves.wallet ?? 0),
    deposited: cents(-(moves.crypto ?? 0) - (moves.adjust ?? 0)),
    spent: cents(moves.network ?? 0),
    least: entry.isCovered ? -(moves.wallet ?? 0) : Number.MIN_SAFE_INTEGER,
  });
  if (wallet === undefined) throw await shortWallet(sql, entry);
  const card = await movedCard(sql, entry);
  const entry_id = wallet.entries;
  await insertEntry(sql, account, { id: entry_id, kind: entry.kind, ref: entry.ref, created_at: entry.at });
  for (const { ledger, amount } of postings) await insertPosting(sql, account, { entry_id, ledger, amount });
  return { wallet: wallet.balance, card };
}

async function shortWallet(sql: Sql, { account, moves }: Entry): Promise<Error> {
  const there = (await walletOf(sql, account))?.balance;
  if (there === undefined) return new CliError('internal', { message: `no wallet for account ${account}` });
  const asked = plainAmount(cents(-(moves.wallet ?? 0)));
  return new Refused('insufficient_funds', `the wallet holds ${plainAmount(there)} USD, ${asked} USD asked`);
}

async function movedCard(sql: Sql, { account, card, isOpening, moves }: Entry): Promise<Balances['card']> {
  if (moves.card === undefined && moves.hold === undefined) return undefined;
  if (isOpening) return { balance: cents(moves.card ?? 0), hold: cents(moves.hold ?? 0) };
  const row =
    card === undefined
      ? undefined
      : await moveCard(sql, account, { id: card, card: cents(moves.card ?? 0), hold: cents(moves.hold ?? 0) });
  if (row === undefined) throw new CliError('internal', { message: `no card ${card} for account ${account}` });
  return row;
}

function postingsOf({ account, card, moves }: Entry): readonly { ledger: string; amount: Cents }[] {
  const postings: { ledger: string; amount: Cents }[] = [];
  const add = (ledger: string, amount: number) => void postings.push({ ledger, amount: cents(amount) });
  if (moves.wallet) add(`wallet:${account}`, moves.wallet);
  if (moves.card) add(`card:${card}`, moves.card);
  if (moves.hold) add(`hold:${card}`, moves.hold);
  if (moves.crypto) add('ext:crypto', moves.crypto);
  if (moves.network) add('ext:network', moves.network);
  if (moves.adjust) add('ext:adjust', moves.adjust);
  return postings;
}
