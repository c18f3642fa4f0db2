/**
 * Double entry (docs/design/sandbox.md, section 8). Every change of money is one entry of at least two postings that
 * sum to 0; entries are only ever added. The balances on wallet and card rows are caches that move with them, never
 * alone.
 */
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, plainAmount, sumCents, toUsd } from '../../core/money.ts';
import { type Call, found, Refused } from '../calls/handler.ts';
import { mustFreeze } from '../rules/money.ts';
import { type CardRow, cardById, walletOf } from '../store/rows.ts';
import { ACCOUNT } from '../store/schema.ts';
import type { Sql } from '../store/sql.ts';
import { documentOf, wireCard } from './wire.ts';

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

/** Accounts by the names of what moves in them: `card` and `hold` are the entry's card's, `ext:` is the world outside. */
const LEDGERS = {
  wallet: () => `wallet:${ACCOUNT}`,
  card: (card: string | undefined) => `card:${card}`,
  hold: (card: string | undefined) => `hold:${card}`,
  crypto: () => 'ext:crypto',
  network: () => 'ext:network',
  adjust: () => 'ext:adjust',
};
const MOVABLE = Object.keys(LEDGERS) as (keyof typeof LEDGERS)[];

interface Entry {
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
  /** What moves in which account, cents; those left out do not move. */
  readonly moves: { readonly [Name in keyof typeof LEDGERS]?: number };
}

/**
 * Writes an entry and moves the balances, the wallet's row first. Throws `internal` for an entry that does not sum
 * to 0 or moves fewer than two accounts, and the store's error when a hold would fall below 0: all bugs of a rule. Throws
 * `insufficient_funds`, with nothing written, when the wallet does not cover what must be covered. Gives the balances after it, those of a card when the entry moved one.
 */
export function post(sql: Sql, entry: Entry) {
  const { moves } = entry;
  const postings = postingsOf(entry);
  if (postings.length < 2 || sumCents(postings.map(({ amount }) => amount)) !== 0) {
    throw new CliError('internal', { message: `not a balanced entry: ${entry.kind} ${JSON.stringify(moves)}` });
  }
  // Takes the next number of an entry too. Nothing is moved where it holds less than must be covered.
  const wallet = sql.get<{ readonly entries: number; readonly balance: Cents }>(
    `update wallets set entries = entries + 1, balance = balance + ?, deposited = deposited + ?, spent = spent + ?
     where balance >= ? returning entries, balance`,
    moves.wallet ?? 0,
    -(moves.crypto ?? 0) - (moves.adjust ?? 0),
    moves.network ?? 0,
    entry.isCovered ? -(moves.wallet ?? 0) : Number.MIN_SAFE_INTEGER,
  );
  if (wallet === undefined) {
    const there = walletOf(sql).balance;
    const asked = plainAmount(cents(-(moves.wallet ?? 0)));
    throw new Refused('insufficient_funds', `the wallet holds ${plainAmount(there)} USD, ${asked} USD asked`);
  }
  const card = movedCard(sql, entry);
  const entry_id = wallet.entries;
  sql.insert('entries', { id: entry_id, kind: entry.kind, ref: entry.ref, created_at: entry.at });
  for (const { ledger, amount } of postings) sql.insert('postings', { entry_id, ledger, amount });
  return { wallet: wallet.balance, card };
}

function movedCard(sql: Sql, { card, isOpening, moves }: Entry) {
  if (moves.card === undefined && moves.hold === undefined) return undefined;
  if (isOpening) return { balance: cents(moves.card ?? 0), hold: cents(moves.hold ?? 0) };
  const statement = 'update cards set balance = balance + ?, hold = hold + ? where id = ? returning balance, hold';
  return sql.one<Pick<CardRow, 'balance' | 'hold'>>(statement, moves.card ?? 0, moves.hold ?? 0, card ?? '');
}

function postingsOf({ card, moves }: Entry) {
  const postings: { ledger: string; amount: Cents }[] = [];
  for (const name of MOVABLE) {
    if (moves[name]) postings.push({ ledger: LEDGERS[name](card), amount: cents(moves[name]) });
  }
  return postings;
}

// What handlers, timers and data sets share: the surroundings of one change, and the card it is about.

/** One change in its open transaction. A handler's call and a timer's call both are one. */
export type Act = Pick<Call, 'sql' | 'now' | 'idSource' | 'emit'>;

/** Throws `not_found` for a card that is not there. */
export const cardOf = ({ sql }: Pick<Act, 'sql'>, id: string): CardRow => found(cardById(sql, id), 'card', id);

/** The card; throws `card_terminated` when it has ended. */
export function livingCard(act: Pick<Act, 'sql'>, id: string): CardRow {
  const card = cardOf(act, id);
  if (card.status === 'terminated') throw new Refused('card_terminated', `card ${id} is terminated`);
  return card;
}

export type Moved = ReturnType<typeof moveOnCard>;

/** Posts an entry about a card; the card comes back with its new balances. */
export function moveOnCard(
  { sql, now }: Act,
  card: CardRow,
  entry: Pick<Entry, 'kind' | 'ref' | 'moves' | 'isCovered'>,
) {
  const after = post(sql, { ...entry, at: now, card: card.id });
  const moved: CardRow = { ...card, ...after.card };
  sql.update('cards', { id: card.id }, { document: documentOf(wireCard(moved)) });
  return { card: moved, wallet: after.wallet };
}

/**
 * Freezes an active card whose balance has just decreased below its line, after the event of what decreased it
 * . Call it after every decrease and after nothing else.
 */
export function afterDecrease(act: Act, card: CardRow): CardRow {
  return mustFreeze(card) ? changeStatus(act, card, 'frozen') : card;
}

/** Freezes or unfreezes, with its event. */
export function changeStatus(act: Act, card: CardRow, status: 'active' | 'frozen'): CardRow {
  const changed: CardRow = { ...card, status };
  const wire = wireCard(changed);
  act.sql.update('cards', { id: card.id }, { status, document: documentOf(wire) });
  act.emit(status === 'frozen' ? 'card.frozen' : 'card.unfrozen', wire);
  return changed;
}

/** What a card, where one is concerned, and the wallet hold now. */
export function balances(sql: Sql, cardId: string | undefined) {
  const card = cardId === undefined ? undefined : cardById(sql, cardId);
  return {
    ...(card && { card_status: card.status, card_balance: toUsd(card.balance) }),
    wallet_balance: toUsd(walletOf(sql).balance),
  };
}

/** Arithmetic on cents that stays cents. */
export const plus = (a: Cents, b: Cents): Cents => cents(a + b);
export const minus = (a: Cents, b: Cents): Cents => cents(a - b);
