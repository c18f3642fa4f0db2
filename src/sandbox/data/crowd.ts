/**
 * The data set `load`: many cards and many records, for load tests. It goes by the rules that serve requests, but
 * adds up in memory and writes in bulk. A record for each card in turn: what is bought in one round settles, or is
 * reversed, in the next, and some of it is refunded in the one after. Then the ledger check must find nothing.
 */
import { DAY } from '../../core/durations.ts';
import { type Cents, cents } from '../../core/money.ts';
import { AUTHORIZATION_EXPIRY } from '../account/authorizations.ts';
import { manyIds } from '../calls/deterministic-ids.ts';
import { authorizationDue } from '../rules/categories.ts';
import { monthOf } from '../rules/dates.ts';
import { declineReason } from '../rules/declines.ts';
import { splitSettlement } from '../rules/money.ts';
import { BulkInsert, inBulk } from '../store/bulk.ts';
import { LATE_INDEXES } from '../store/schema.ts';
import {
  type DeclineReason,
  TRANSACTION_COLUMNS,
  type TransactionRow,
  transactionValues,
} from '../store/transactions.ts';
import { type CrowdCards, issueCrowd, keepCrowd } from './crowd-cards.ts';
import { confirmLargeDeposit } from './crowd-deposits.ts';
import { CrowdLedger } from './crowd-ledger.ts';
import type { Teller } from './demo.ts';
import { Draws } from './draws.ts';

export interface CrowdSize {
  readonly cards: number;
  readonly transactions: number;
}

export interface CrowdTeller extends Omit<Teller, 'bins'> {
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
