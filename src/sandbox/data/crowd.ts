/** Pseudorandom numbers, millions of them, fixed by a seed: xorshift, 32 bits. Nothing secret is drawn from it. */
import { createHash } from 'node:crypto';
import { DAY } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents } from '../../core/money.ts';
import { AUTHORIZATION_EXPIRY } from '../account/authorizations.ts';
import { cardDocument, type EntryKind } from '../account/ledger.ts';
import { manyDigits, manyIds } from '../calls/deterministic-ids.ts';
import { cardExpiry, monthOf } from '../rules/dates.ts';
import { authorizationDue, declineReason } from '../rules/declines.ts';
import { COINS, cardNumber, cryptoAmount, FREE_DIGITS, splitSettlement } from '../rules/money.ts';
import { allBins, type BinRow, insertDeposit } from '../store/account.ts';
import { BulkInsert, inBulk } from '../store/bulk.ts';
import { type CardRow, type CardStatus, insertCard, keepSums } from '../store/cards.ts';
import { keepWalletSums } from '../store/ledger.ts';
import { LATE_INDEXES } from '../store/schema.ts';
import type { Sql } from '../store/sql.ts';
import {
  type DeclineReason,
  TRANSACTION_COLUMNS,
  type TransactionRow,
  transactionValues,
} from '../store/transactions.ts';
import type { Teller } from './demo.ts';

class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = createHash('sha256').update(`${seed} draws`).digest().readUInt32BE() | 1;
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state;
    return (state >>> 0) % limit;
  }
}

// The cards of a large data set: made at one moment, written with what is on them when everything has happened.

interface CrowdCard extends Omit<CardRow, 'status' | 'balance' | 'hold'> {
  readonly bin: BinRow;
}

type Where = Pick<Teller, 'sql' | 'account'>;

interface Issued {
  readonly bins: readonly BinRow[];
  readonly ids: readonly string[];
  readonly last4: Uint16Array;
  /** Cents. */
  readonly first: Int32Array;
  readonly at: number;
}

/** A hundred thousand of them as little more than their ids: the rest of a card follows from its place. */
class CrowdCards {
  readonly ids: readonly string[];
  /** What they are made with, cents. */
  readonly first: Int32Array;
  readonly #bins: readonly BinRow[];
  readonly #last4: Uint16Array;
  readonly #dates: Pick<CardRow, 'created_at' | 'expires_at'>;

  constructor({ bins, ids, last4, first, at }: Issued) {
    this.ids = ids;
    this.first = first;
    this.#bins = bins;
    this.#last4 = last4;
    this.#dates = { created_at: at, expires_at: cardExpiry(at) };
  }

  get count(): number {
    return this.ids.length;
  }

  /** The one at a place, from 0. */
  at(nth: number): CrowdCard {
    const bin = this.#bins[nth % this.#bins.length] as BinRow;
    return {
      id: this.ids[nth] as string,
      bin,
      bin_id: bin.id,
      network: bin.network,
      last4: String(this.#last4[nth]).padStart(4, '0'),
      spending_limit: bin.max_monthly,
      label: `load ${nth + 1}`,
      allowed_categories: '[]',
      auto_freeze_at: null,
      metadata: '{}',
      created_at: this.#dates.created_at,
      expires_at: this.#dates.expires_at,
    };
  }
}

/** Inserts `count` cards, spread over all BINs; nothing is on them yet. */
async function issueCrowd(
  where: Where,
  { count, at, draws }: { readonly count: number; readonly at: number; readonly draws: Draws },
): Promise<CrowdCards> {
  const { sql, account } = where;
  const bins = await allBins(sql, account);
  const idOf = await manyIds(where, 'card', count);
  const ids = Array.from({ length: count }, (_, nth) => idOf(nth));
  const digits = await manyDigits(where, 'number', count);
  const cvv = await manyDigits(where, 'cvv', count);
  const last4 = new Uint16Array(count);
  const first = new Int32Array(count);
  const cards = new CrowdCards({ bins, ids, last4, first, at });
  for (let nth = 0; nth < count; nth += 1) {
    const { bin, ...card } = cards.at(nth);
    // Its sums and the card as it is sent follow, see `keepSums`.
    const fresh = { card: { ...card, balance: 0 as Cents }, cvv: cvv(nth, 3), document: '' };
    let number = cardNumber(bin.network, digits(nth, FREE_DIGITS));
    // Two of a hundred thousand meet by chance: one that is taken is drawn again.
    while ((await insertCard(sql, account, { ...fresh, number })) === 0) {
      const again = await manyDigits(where, 'number', 1);
      number = cardNumber(bin.network, again(0, FREE_DIGITS));
    }
    last4[nth] = Number(number.slice(-4));
    first[nth] = 5_000 + draws.below(45_000);
  }
  return cards;
}

/** One card in so many has ended, or is frozen. */
const ENDED_EVERY = 50;
const FROZEN_EVERY = 40;

function statusOf(nth: number): CardStatus {
  if (nth % ENDED_EVERY === ENDED_EVERY - 1) return 'terminated';
  return nth % FROZEN_EVERY === FROZEN_EVERY - 1 ? 'frozen' : 'active';
}

/** Ends and freezes some of them, and writes what is on each of them. */
async function keepCrowd(
  { sql, account }: Where,
  { cards, books, at }: { readonly cards: CrowdCards; readonly books: CrowdLedger; readonly at: number },
): Promise<void> {
  for (let nth = 0; nth < cards.count; nth += 1) {
    const { bin: _bin, ...card } = cards.at(nth);
    const status = statusOf(nth);
    const left = books.balanceOf(nth);
    if (status === 'terminated' && left !== 0) {
      books.post({ kind: 'terminate', ref: card.id, at, card: nth, moves: { card: -left, wallet: left } });
    }
    const row: CardRow = { ...card, status, balance: books.balanceOf(nth), hold: cents(books.hold[nth] ?? 0) };
    if (books.isFull) await books.flush();
    await keepSums(sql, account, { ...row, ...cardDocument(row) });
  }
}

// Books of a data set that is too large for one statement a posting: balances in memory, entries in bulk.

/** What an entry moves, cents; its sides sum to 0, as in `ledger.ts`. */
interface BulkEntry {
  readonly kind: EntryKind;
  readonly ref: string;
  readonly at: number;
  /** Place of the card it is about, in the order of the cards. */
  readonly card?: number;
  readonly moves: {
    readonly wallet?: number;
    readonly card?: number;
    readonly hold?: number;
    readonly crypto?: number;
    readonly network?: number;
  };
}

class CrowdLedger {
  /** Balances and holds of the cards, cents; whole numbers far below 2^53. */
  readonly balance: Float64Array;
  readonly hold: Float64Array;
  wallet = 0;
  #deposited = 0;
  #spent = 0;
  #entries = 0;
  readonly #sql: Sql;
  readonly #account: string;
  readonly #ids: readonly string[];
  readonly #entryRows: BulkInsert;
  readonly #postingRows: BulkInsert;

  constructor(sql: Sql, account: string, ids: readonly string[]) {
    this.#sql = sql;
    this.#account = account;
    this.#ids = ids;
    this.balance = new Float64Array(ids.length);
    this.hold = new Float64Array(ids.length);
    this.#entryRows = new BulkInsert(sql, 'entries', ['account_id', 'id', 'kind', 'ref', 'created_at']);
    this.#postingRows = new BulkInsert(sql, 'postings', ['account_id', 'entry_id', 'ledger', 'amount']);
  }

  balanceOf(card: number): Cents {
    return cents(this.balance[card] ?? 0);
  }

  /** Throws `internal` for an entry that does not sum to 0: a bug of the data set. */
  post({ kind, ref, at, card, moves }: BulkEntry): void {
    const { wallet = 0, card: onCard = 0, hold = 0, crypto = 0, network = 0 } = moves;
    if (wallet + onCard + hold + crypto + network !== 0) {
      throw new CliError('internal', { message: `not a balanced entry: ${kind} ${JSON.stringify(moves)}` });
    }
    this.#entries += 1;
    this.wallet += wallet;
    this.#deposited -= crypto;
    this.#spent += network;
    this.#entryRows.add([this.#account, this.#entries, kind, ref, at]);
    const id = card === undefined ? '' : (this.#ids[card] ?? '');
    if (card !== undefined) {
      this.balance[card] = (this.balance[card] ?? 0) + onCard;
      this.hold[card] = (this.hold[card] ?? 0) + hold;
    }
    this.#side(`wallet:${this.#account}`, wallet);
    this.#side(`card:${id}`, onCard);
    this.#side(`hold:${id}`, hold);
    this.#side('ext:crypto', crypto);
    this.#side('ext:network', network);
  }

  #side(ledger: string, amount: number): void {
    if (amount !== 0) this.#postingRows.add([this.#account, this.#entries, ledger, amount]);
  }

  get isFull(): boolean {
    return this.#postingRows.isFull;
  }

  /** Writes what was posted; entries first, for postings refer to them. */
  async flush(): Promise<void> {
    await this.#entryRows.flush();
    await this.#postingRows.flush();
  }

  /** Writes what is left, and the sums of the wallet. */
  async close(): Promise<void> {
    await this.flush();
    await keepWalletSums(this.#sql, this.#account, {
      wallet: cents(this.wallet),
      deposited: cents(this.#deposited),
      spent: cents(this.#spent),
      entries: this.#entries,
    });
  }
}

// Where the money of a large data set comes from: confirmed deposits of a size nobody has to count.

const AMOUNT: Cents = cents(1_000_000_00);

/** Seen and confirmed at `at`. */
async function confirmLargeDeposit(
  { sql, account, idSource }: Pick<Teller, 'sql' | 'account' | 'idSource'>,
  books: CrowdLedger,
  at: number,
): Promise<void> {
  const [{ name, confirmations }] = COINS.usdt.networks;
  const id = await idSource.id('dep');
  await insertDeposit(sql, account, {
    id,
    currency: 'usdt',
    network: name,
    crypto_amount: cryptoAmount('usdt', AMOUNT),
    amount: AMOUNT,
    status: 'confirmed',
    tx_hash: await idSource.digits('tx', 64),
    confirmations,
    required_confirmations: confirmations,
    created_at: at,
    confirmed_at: at,
  });
  books.post({ kind: 'deposit', ref: id, at, moves: { crypto: -AMOUNT, wallet: AMOUNT } });
}

// The data set `load`: many cards and many records, for load tests. It goes by the rules that serve requests, but adds up in memory and writes in bulk. A record for each card in turn: what is bought in one round settles, or is reversed, in the next, and some of it is refunded in the one after. Then the ledger check must find nothing.

export interface CrowdSize {
  readonly cards: number;
  readonly transactions: number;
}

interface CrowdTeller extends Omit<Teller, 'bins'> {
  readonly seed: number;
}

/** A round takes at most so long: what is bought in the last one has not expired when the data set is done. */
const LONGEST_ROUND = 6 * DAY;
const WHOLE_SPAN = 90 * DAY;

const SHOPS = [
  { merchant: 'SEARCH ADS 4411', mcc: '7311', merchant_country: 'US' },
  { merchant: 'VIDEO ADS IE', mcc: '7311', merchant_country: 'IE' },
  { merchant: 'CLOUDHOST GMBH', mcc: '7372', merchant_country: 'DE' },
  { merchant: 'COFFEE SHOP', mcc: '5814', merchant_country: 'US' },
  { merchant: 'PAPER & PENS', mcc: '5943', merchant_country: 'US' },
  { merchant: 'MAILTOOL', mcc: '5817', merchant_country: 'GB' },
  { merchant: 'GADGET STORE', mcc: '5732', merchant_country: 'US' },
] as const;
type Shop = Pick<TransactionRow, 'merchant' | 'mcc' | 'merchant_country'>;

const NOTHING = 0 as Cents;

/** Below it a card is funded before it buys. */
const LOW = 60_00;
const TOP_UP = 150_00;

/** What is still to come of a card's last purchase. One of each card is in memory, so it is no more than this. */
interface Open {
  readonly id: string;
  readonly shop: Shop;
  readonly amount: Cents;
  readonly ending: 'settled' | 'reversed' | 'refunded';
  readonly settled: Cents;
  readonly refund: Cents;
}

/** Which record it is, of which card (by its place), and when. */
interface Place {
  readonly nth: number;
  readonly card: number;
  readonly at: number;
}

type Draft = { -readonly [Column in keyof TransactionRow]: TransactionRow[Column] };

/** Makes the cards and the records, in the open transaction. */
export async function tellCrowd(teller: CrowdTeller, size: CrowdSize): Promise<void> {
  const { sql, account, now } = teller;
  const rounds = Math.max(1, Math.ceil(size.transactions / size.cards));
  const span = Math.min(WHOLE_SPAN, rounds * LONGEST_ROUND);
  const draws = new Draws(teller.seed);
  const cards = await issueCrowd(teller, { count: size.cards, at: now - span - DAY, draws });
  const books = new CrowdLedger(sql, account, cards.ids);
  const crowd = new Crowd({ teller, cards, books, draws, size, ids: await manyIds(teller, 'txn', size.transactions) });
  await crowd.fund(now - span - DAY);
  await inBulk(sql, LATE_INDEXES, async () => {
    for (let nth = 0; nth < size.transactions; nth += 1) {
      await crowd.record(nth, now - span + Math.floor((span * nth) / size.transactions));
    }
    await keepCrowd(teller, { cards, books, at: now });
    await crowd.close();
  });
}

interface CrowdParts {
  readonly teller: CrowdTeller;
  readonly cards: CrowdCards;
  readonly books: CrowdLedger;
  readonly draws: Draws;
  readonly size: CrowdSize;
  readonly ids: (nth: number) => string;
}

class Crowd {
  readonly #parts: CrowdParts;
  readonly #rows: BulkInsert;
  readonly #timers: BulkInsert;
  readonly #open: (Open | undefined)[];
  /** Held and settled this month, cents, by card. */
  readonly #used: Float64Array;
  #month = Number.NaN;

  constructor(parts: CrowdParts) {
    this.#parts = parts;
    const { sql } = parts.teller;
    this.#rows = new BulkInsert(sql, 'transactions', TRANSACTION_COLUMNS);
    this.#timers = new BulkInsert(sql, 'timers', ['account_id', 'kind', 'ref', 'due_at']);
    this.#open = new Array(parts.cards.count).fill(undefined);
    this.#used = new Float64Array(parts.cards.count);
  }

  /** Puts the first money on every card. */
  async fund(at: number): Promise<void> {
    const { cards, books } = this.#parts;
    for (const [card, first] of cards.first.entries()) {
      const ref = cards.ids[card] ?? '';
      if (books.wallet < first) await confirmLargeDeposit(this.#parts.teller, books, at);
      books.post({ kind: 'create', ref, at, card, moves: { wallet: -first, card: first } });
      if (books.isFull) await books.flush();
    }
  }

  /** The `nth` record: cards take turns. */
  async record(nth: number, at: number): Promise<void> {
    const { teller, books } = this.#parts;
    // A deposit whenever the wallet could not pay.
    if (books.wallet < TOP_UP) await confirmLargeDeposit(teller, books, at);
    this.#rows.add(transactionValues(teller.account, this.#happen(nth, at)));
    if (books.isFull) await books.flush();
    if (this.#rows.isFull) await this.#rows.flush();
  }

  #happen(nth: number, at: number): Draft {
    const { size } = this.#parts;
    const card = nth % size.cards;
    const { from } = monthOf(at);
    if (from !== this.#month) this.#used.fill(0);
    this.#month = from;
    const open = this.#open[card];
    this.#open[card] = undefined;
    const place = { nth, card, at };
    if (open === undefined) return this.#buy(place);
    if (open.ending === 'settled') return this.#settle(place, open);
    return open.ending === 'reversed' ? this.#reverse(place, open) : this.#refund(place, open);
  }

  async close(): Promise<void> {
    await this.#rows.flush();
    await this.#timers.flush();
    await this.#parts.books.close();
  }

  #buy(place: Place): Draft {
    const { nth, card, at } = place;
    const { draws, books, cards, size } = this.#parts;
    const { bin, spending_limit, expires_at, id } = cards.at(card);
    if (books.balanceOf(card) < LOW) {
      books.post({ kind: 'fund', ref: id, at, card, moves: { wallet: -TOP_UP, card: TOP_UP } });
    }
    const amount = cents(100 + draws.below(3_900));
    const shop = SHOPS[draws.below(SHOPS.length)] ?? SHOPS[0];
    const fate = draws.below(100);
    const reason = declineReason(
      { amount, mcc: shop.mcc, mismatch: fate < 2 ? 'cvv' : fate < 4 ? 'expiry' : undefined },
      {
        now: at,
        card: { status: 'active', balance: books.balanceOf(card), spending_limit, expires_at },
        categories: [],
        maxTransaction: bin.max_transaction,
        usedThisMonth: cents(this.#used[card] ?? 0),
      },
    );
    if (reason !== undefined) return this.#decline(place, shop, amount, reason);
    const row = this.#recordOf(place, shop, { type: 'authorization', status: 'pending', amount });
    books.post({ kind: 'authorize', ref: row.id, at, card, moves: { card: -amount, hold: amount } });
    const goesOn = nth + size.cards < size.transactions;
    if (!goesOn) return this.#leavePending(card, row);
    if (fate < 8) {
      this.#open[card] = { id: row.id, shop, amount, ending: 'reversed', settled: NOTHING, refund: NOTHING };
      row.status = 'reversed';
      row.released = amount;
      return row;
    }
    const settled = fate < 20 ? cents(Math.max(1, amount - draws.below(90))) : amount;
    const isRefunded = fate > 91 && nth + 2 * size.cards < size.transactions;
    const refund = isRefunded ? cents(1 + draws.below(settled)) : NOTHING;
    this.#used[card] = (this.#used[card] ?? 0) + settled;
    this.#open[card] = { id: row.id, shop, amount, ending: 'settled', settled, refund };
    row.status = 'settled';
    row.settled = settled;
    row.released = cents(amount - settled);
    row.refunded = refund;
    return row;
  }

  #leavePending(card: number, row: Draft): Draft {
    const { account } = this.#parts.teller;
    row.held = row.amount;
    this.#used[card] = (this.#used[card] ?? 0) + row.held;
    this.#timers.add([account, AUTHORIZATION_EXPIRY, row.id, authorizationDue(row.created_at, row.mcc)]);
    return row;
  }

  #settle(place: Place, open: Open): Draft {
    const { books } = this.#parts;
    const { card, at } = place;
    const { id, shop, amount, settled, refund } = open;
    const { fromHold, rest } = splitSettlement(settled, amount, true);
    const row = this.#recordOf(place, shop, { type: 'settlement', status: 'completed', amount: settled });
    row.authorization_id = id;
    books.post({ kind: 'settle', ref: row.id, at, card, moves: { hold: -fromHold, network: fromHold } });
    if (rest > 0) books.post({ kind: 'release', ref: id, at, card, moves: { hold: -rest, card: rest } });
    if (refund > 0) {
      this.#open[card] = { id, shop, amount, ending: 'refunded', settled, refund };
    }
    return row;
  }

  /** A reversal leaves no record; the merchant tries once more with the wrong code. */
  #reverse(place: Place, { id, amount, shop }: Open): Draft {
    const { card, at } = place;
    const moves = { hold: -amount, card: amount };
    this.#parts.books.post({ kind: 'release', ref: id, at, card, moves });
    return this.#decline(place, shop, amount, 'invalid_cvv');
  }

  #refund(place: Place, { id, shop, refund }: Open): Draft {
    const { card, at } = place;
    const row = this.#recordOf(place, shop, { type: 'refund', status: 'completed', amount: refund });
    row.authorization_id = id;
    const moves = { network: -refund, card: refund };
    this.#parts.books.post({ kind: 'refund', ref: row.id, at, card, moves });
    return row;
  }

  #decline(place: Place, shop: Shop, amount: Cents, reason: DeclineReason): Draft {
    const row = this.#recordOf(place, shop, { type: 'decline', status: 'declined', amount });
    row.decline_reason = reason;
    return row;
  }

  /** One literal, and what differs is set: to spread parts into a new object was a fifth of all the work. */
  #recordOf(
    { nth, card, at }: Place,
    { merchant, mcc, merchant_country }: Shop,
    { type, status, amount }: Pick<TransactionRow, 'type' | 'status' | 'amount'>,
  ): Draft {
    const { cards, ids } = this.#parts;
    return {
      id: ids(nth),
      card_id: cards.ids[card] ?? '',
      type,
      status,
      amount,
      merchant,
      mcc,
      merchant_country,
      authorization_id: null,
      decline_reason: null,
      created_at: at,
      held: NOTHING,
      settled: NOTHING,
      excess: NOTHING,
      released: NOTHING,
      refunded: NOTHING,
    };
  }
}
