/**
 * The data set `load`: many cards and many records, for load tests. It follows the rules that serve requests, but adds up in
 * memory and writes in bulk. Cards take turns, a record each: what is bought in one round settles, or is reversed, in the next,
 * and some of it is refunded in the one after. The check of the ledger then finds nothing.
 */
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
import { allBins, type BinRow } from '../store/account.ts';
import { BulkInsert, inBulk } from '../store/bulk.ts';
import { type CardRow, type CardStatus, insertCard, isNumberTaken, keepSums } from '../store/cards.ts';
import { keepWalletSums } from '../store/ledger.ts';
import { ACCOUNT, LATE_INDEXES } from '../store/schema.ts';
import type { TransactionRow } from '../store/transactions.ts';
import type { Teller } from './demo.ts';

export interface LoadSize {
  readonly cards: number;
  readonly transactions: number;
}

interface LoadTeller extends Omit<Teller, 'bins'> {
  readonly seed: number;
}

/** What is in memory of a card: the rest of it follows from its place. */
interface LoadCard {
  readonly id: string;
  readonly bin: BinRow;
  readonly last4: string;
  /** Cents, like the two below. */
  readonly first: number;
  balance: number;
  hold: number;
  /** Held and settled this month. */
  used: number;
  /** What is still to come of its last purchase. */
  open: OpenPurchase | undefined;
}

interface OpenPurchase {
  readonly id: string;
  readonly shop: Shop;
  readonly amount: Cents;
  readonly ending: 'settled' | 'reversed' | 'refunded';
  readonly settled: Cents;
  readonly refund: Cents;
}

/** A round takes at most so long: what is bought in the last one has not expired when the data set is done. */
const LONGEST_ROUND = 6 * DAY;
const WHOLE_SPAN = 90 * DAY;
/** One card in so many has ended, or is frozen. */
const ENDED_EVERY = 50;
const FROZEN_EVERY = 40;
/** Below it a card is funded before it buys. */
const LOW = 60_00;
const TOP_UP = 150_00;
const DEPOSIT: Cents = cents(1_000_000_00);
const NOTHING = 0 as Cents;

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
type Draft = { -readonly [Column in keyof TransactionRow]: TransactionRow[Column] };

/** Makes the cards and the records, in the open transaction. */
export async function makeLoadData(teller: LoadTeller, size: LoadSize): Promise<void> {
  const { sql, now } = teller;
  const rounds = Math.max(1, Math.ceil(size.transactions / size.cards));
  const span = Math.min(WHOLE_SPAN, rounds * LONGEST_ROUND);
  const start = now - span - DAY;
  const dates = { created_at: start, expires_at: cardExpiry(start) };
  const below = numbersOf(teller.seed);
  const cards = await issueCards(teller, { count: size.cards, dates, below });
  const idOf = await manyIds(teller, 'txn', size.transactions);
  const books = new LoadBooks(teller);
  for (const card of cards) {
    await books.deposit(card.first, start);
    books.post('create', card.id, start, { wallet: -card.first, card: card.first }, card);
    if (books.isFull) await books.flush();
  }
  await inBulk(sql, LATE_INDEXES, async () => {
    const rows = new BulkInsert(sql, 'transactions', Object.keys(blank('', '', 0)));
    const timers = new BulkInsert(sql, 'timers', ['kind', 'ref', 'due_at']);
    let month = Number.NaN;
    for (let nth = 0; nth < size.transactions; nth += 1) {
      const at = now - span + Math.floor((span * nth) / size.transactions);
      const { from } = monthOf(at);
      if (from !== month) for (const card of cards) card.used = 0;
      month = from;
      await books.deposit(TOP_UP, at);
      const card = cards[nth % size.cards] as LoadCard;
      const { open } = card;
      card.open = undefined;
      const roundsLeft = Math.floor((size.transactions - 1 - nth) / size.cards);
      const row = blank(idOf(nth), card.id, at);
      if (open === undefined) buy({ card, row, books, below, roundsLeft, expires: dates.expires_at });
      else finish(open, { card, row, books });
      if (row.held > 0) timers.add([AUTHORIZATION_EXPIRY, row.id, authorizationDue(at, row.mcc)]);
      rows.add(Object.values(row));
      if (books.isFull) await books.flush();
      if (rows.isFull) await rows.flush();
    }
    for (const [nth, card] of cards.entries()) {
      const status = statusOf(nth);
      if (status === 'terminated' && card.balance !== 0) {
        books.post('terminate', card.id, now, { card: -card.balance, wallet: card.balance }, card);
      }
      if (books.isFull) await books.flush();
      const sums = { status, balance: cents(card.balance), hold: cents(card.hold) };
      const whole: CardRow = { ...cardFields(card, nth, dates), ...sums };
      await keepSums(sql, { ...whole, ...cardDocument(whole) });
    }
    await rows.flush();
    await timers.flush();
    await books.close();
  });
}

/** Pseudorandom whole numbers from 0 to below a limit, fixed by a seed: xorshift, 32 bits. Nothing secret is drawn from it. */
function numbersOf(seed: number): (limit: number) => number {
  let state = createHash('sha256').update(`${seed} draws`).digest().readUInt32BE() | 1;
  return limit => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

type Dates = Pick<CardRow, 'created_at' | 'expires_at'>;

interface Issue {
  readonly count: number;
  readonly dates: Dates;
  readonly below: (limit: number) => number;
}

/** Inserts cards, spread over all BINs; nothing is on them yet. */
async function issueCards(teller: LoadTeller, { count, dates, below }: Issue): Promise<LoadCard[]> {
  const { sql } = teller;
  const bins = await allBins(sql);
  const idOf = await manyIds(teller, 'card', count);
  const digits = await manyDigits(teller, 'number', count);
  const cvv = await manyDigits(teller, 'cvv', count);
  const cards: LoadCard[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const bin = bins[nth % bins.length] as BinRow;
    let number = cardNumber(bin.network, digits(nth, FREE_DIGITS));
    // Two of a hundred thousand meet by chance: one that is taken is drawn again.
    while (await isNumberTaken(sql, number)) {
      number = cardNumber(bin.network, (await manyDigits(teller, 'number', 1))(0, FREE_DIGITS));
    }
    const card = { id: idOf(nth), bin, last4: number.slice(-4) };
    // Its sums and the card as it is sent follow, see `keepSums`.
    const fresh = { ...cardFields(card, nth, dates), status: 'active', balance: NOTHING, hold: NOTHING } as const;
    await insertCard(sql, { ...fresh, number, cvv: cvv(nth, 3), document: '' });
    cards.push({ ...card, first: 5_000 + below(45_000), balance: 0, hold: 0, used: 0, open: undefined });
  }
  return cards;
}

/** All of a card but its state and its sums. */
function cardFields({ id, bin, last4 }: Pick<LoadCard, 'id' | 'bin' | 'last4'>, nth: number, dates: Dates) {
  return {
    id,
    bin_id: bin.id,
    network: bin.network,
    last4,
    spending_limit: bin.max_monthly,
    label: `load ${nth + 1}`,
    allowed_categories: '[]',
    auto_freeze_at: null,
    metadata: '{}',
    ...dates,
  };
}

function statusOf(nth: number): CardStatus {
  if (nth % ENDED_EVERY === ENDED_EVERY - 1) return 'terminated';
  return nth % FROZEN_EVERY === FROZEN_EVERY - 1 ? 'frozen' : 'active';
}

interface Happening {
  readonly card: LoadCard;
  /** Filled in. */
  readonly row: Draft;
  readonly books: LoadBooks;
}

interface Purchase extends Happening {
  readonly below: (limit: number) => number;
  /** How often the card has its turn again. */
  readonly roundsLeft: number;
  readonly expires: number;
}

function buy({ card, row, books, below, roundsLeft, expires }: Purchase): void {
  const { bin } = card;
  const at = row.created_at;
  if (card.balance < LOW) books.post('fund', card.id, at, { wallet: -TOP_UP, card: TOP_UP }, card);
  const amount = cents(100 + below(3_900));
  const shop = SHOPS[below(SHOPS.length)] ?? SHOPS[0];
  const fate = below(100);
  Object.assign(row, shop, { amount });
  const reason = declineReason(
    { amount, mcc: shop.mcc, mismatch: fate < 2 ? 'cvv' : fate < 4 ? 'expiry' : undefined },
    {
      now: at,
      card: { status: 'active', balance: cents(card.balance), spending_limit: bin.max_monthly, expires_at: expires },
      categories: [],
      maxTransaction: bin.max_transaction,
      usedThisMonth: cents(card.used),
    },
  );
  if (reason !== undefined) {
    Object.assign(row, { type: 'decline', status: 'declined', decline_reason: reason });
    return;
  }
  books.post('authorize', row.id, at, { card: -amount, hold: amount }, card);
  if (roundsLeft === 0) {
    row.held = amount;
    card.used += amount;
    return;
  }
  const purchase = { id: row.id, shop, amount };
  if (fate < 8) {
    card.open = { ...purchase, ending: 'reversed', settled: NOTHING, refund: NOTHING };
    Object.assign(row, { status: 'reversed', released: amount });
    return;
  }
  const settled = fate < 20 ? cents(Math.max(1, amount - below(90))) : amount;
  const refunded = fate > 91 && roundsLeft > 1 ? cents(1 + below(settled)) : NOTHING;
  card.used += settled;
  card.open = { ...purchase, ending: 'settled', settled, refund: refunded };
  Object.assign(row, { status: 'settled', settled, released: cents(amount - settled), refunded });
}

/** The next thing that happens to a purchase. */
function finish(open: OpenPurchase, { card, row, books }: Happening): void {
  const { id, shop, amount, settled, refund } = open;
  const at = row.created_at;
  if (open.ending === 'settled') {
    const { fromHold, rest } = splitSettlement(settled, amount, true);
    books.post('settle', row.id, at, { hold: -fromHold, network: fromHold }, card);
    if (rest > 0) books.post('release', id, at, { hold: -rest, card: rest }, card);
    if (refund > 0) card.open = { ...open, ending: 'refunded' };
    Object.assign(row, shop, { type: 'settlement', status: 'completed', amount: settled, authorization_id: id });
  } else if (open.ending === 'reversed') {
    // A reversal leaves no record; the merchant tries once more with the wrong code.
    books.post('release', id, at, { hold: -amount, card: amount }, card);
    Object.assign(row, shop, { type: 'decline', status: 'declined', amount, decline_reason: 'invalid_cvv' });
  } else {
    books.post('refund', row.id, at, { network: -refund, card: refund }, card);
    Object.assign(row, shop, { type: 'refund', status: 'completed', amount: refund, authorization_id: id });
  }
}

/** One literal for all records: what differs is set. */
function blank(id: string, card_id: string, created_at: number): Draft {
  return {
    id,
    card_id,
    type: 'authorization',
    status: 'pending',
    amount: NOTHING,
    merchant: '',
    mcc: '',
    merchant_country: '',
    authorization_id: null,
    decline_reason: null,
    created_at,
    held: NOTHING,
    settled: NOTHING,
    excess: NOTHING,
    released: NOTHING,
    refunded: NOTHING,
  };
}

/** What an entry moves, cents; its sides sum to 0. */
type Moves = Partial<Record<'wallet' | 'card' | 'hold' | 'crypto' | 'network', number>>;

/** Books that are too large for one statement a posting: sums in memory, entries in bulk. */
class LoadBooks {
  readonly #teller: LoadTeller;
  readonly #entryRows: BulkInsert;
  readonly #postingRows: BulkInsert;
  #wallet = 0;
  #deposited = 0;
  #spent = 0;
  #entries = 0;

  constructor(teller: LoadTeller) {
    this.#teller = teller;
    this.#entryRows = new BulkInsert(teller.sql, 'entries', ['id', 'kind', 'ref', 'created_at']);
    this.#postingRows = new BulkInsert(teller.sql, 'postings', ['entry_id', 'ledger', 'amount']);
  }

  /** Throws `internal` for an entry that does not sum to 0: a bug of the data set. */
  post(kind: EntryKind, ref: string, at: number, moves: Moves, card?: LoadCard): void {
    const { wallet = 0, card: onCard = 0, hold = 0, crypto = 0, network = 0 } = moves;
    if (wallet + onCard + hold + crypto + network !== 0) {
      throw new CliError('internal', { message: `not a balanced entry: ${kind} ${JSON.stringify(moves)}` });
    }
    this.#entries += 1;
    this.#wallet += wallet;
    this.#deposited -= crypto;
    this.#spent += network;
    if (card !== undefined) {
      card.balance += onCard;
      card.hold += hold;
    }
    this.#entryRows.add([this.#entries, kind, ref, at]);
    this.#side(`wallet:${ACCOUNT}`, wallet);
    this.#side(`card:${card?.id}`, onCard);
    this.#side(`hold:${card?.id}`, hold);
    this.#side('ext:crypto', crypto);
    this.#side('ext:network', network);
  }

  #side(ledger: string, amount: number): void {
    if (amount !== 0) this.#postingRows.add([this.#entries, ledger, amount]);
  }

  /** A confirmed deposit, where the wallet could not pay `needed` cents. */
  async deposit(needed: number, at: number): Promise<void> {
    if (this.#wallet >= needed) return;
    const { sql, idSource } = this.#teller;
    const [{ name, confirmations }] = COINS.usdt.networks;
    const id = await idSource.id('dep');
    await sql.insert('deposits', {
      id,
      currency: 'usdt',
      network: name,
      crypto_amount: cryptoAmount('usdt', DEPOSIT),
      amount: DEPOSIT,
      status: 'confirmed',
      tx_hash: await idSource.digits('tx', 64),
      confirmations,
      required_confirmations: confirmations,
      created_at: at,
      confirmed_at: at,
    });
    this.post('deposit', id, at, { crypto: -DEPOSIT, wallet: DEPOSIT });
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
    await keepWalletSums(this.#teller.sql, {
      wallet: cents(this.#wallet),
      deposited: cents(this.#deposited),
      spent: cents(this.#spent),
      entries: this.#entries,
    });
  }
}
