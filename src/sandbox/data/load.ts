/** Data sets: what a sandbox holds before anybody asked it for something (docs/design/sandbox.md, section 7). */

import { createHash } from 'node:crypto';
import { type DATA_SETS, LOAD_SIZE } from '../../contract/sandbox/admin.ts';
import { DAY, HOUR, MINUTE } from '../../core/durations.ts';
import { type Cents, cents } from '../../core/money.ts';
import {
  AUTHORIZATION_EXPIRY,
  authorizationOf,
  authorize,
  type Purchase,
  refund,
  release,
  settle,
} from '../account/authorizations.ts';
import { confirmDeposit, detectDeposit, openChallenge } from '../account/challenges.ts';
import { type Act, cardOf, type EntryKind, post } from '../account/ledger.ts';
import { cardDocument } from '../account/wire.ts';
import { manyDigits, manyIds, seedOf } from '../calls/deterministic-ids.ts';
import { rememberOrigin } from '../checks/invariants.ts';
import { ACCOUNT_HANDLERS, CARDS } from '../handlers/service.ts';
import { cardExpiry } from '../rules/dates.ts';
import { authorizationDue } from '../rules/declines.ts';
import { COINS, cardNumber, cryptoAmount, FREE_DIGITS } from '../rules/money.ts';
import {
  allBins,
  type BinRow,
  type CardRow,
  type CardStatus,
  type Currency,
  insertCard,
  isNumberTaken,
  type TransactionRow,
  walletOf,
} from '../store/rows.ts';
import { ACCOUNT, LATE_INDEXES } from '../store/schema.ts';
import { BulkInsert, inBulk, type Sql } from '../store/sql.ts';

/** The eight BINs every data set begins with: both networks, and one for each kind of job. Limits in whole USD, for a transaction and for a month. */
const BINS: readonly Omit<BinRow, 'id'>[] = (
  [
    ['visa', 'prepaid', 500, 2_000, 91.2, ['shopping'], '3ds'],
    ['visa', 'debit', 2_500, 10_000, 96.4, ['saas', 'shopping'], '3ds apple_pay google_pay'],
    ['visa', 'credit', 5_000, 50_000, 98.7, ['ads'], '3ds apple_pay google_pay'],
    ['visa', 'credit', 5_000, 25_000, 97.5, ['travel'], '3ds google_pay'],
    ['mastercard', 'prepaid', 1_000, 5_000, 92.8, ['shopping'], ''],
    ['mastercard', 'debit', 2_500, 15_000, 95.8, ['saas'], '3ds apple_pay'],
    ['mastercard', 'credit', 5_000, 40_000, 98.1, ['ads', 'saas'], '3ds apple_pay google_pay'],
    ['mastercard', 'credit', 4_000, 20_000, 96.9, ['travel', 'shopping'], '3ds apple_pay google_pay'],
  ] as const
).map(([network, type, most, month, acceptance, bestFor, can]) => ({
  network,
  type,
  three_ds: can.includes('3ds') ? 1 : 0,
  apple_pay: can.includes('apple_pay') ? 1 : 0,
  google_pay: can.includes('google_pay') ? 1 : 0,
  max_transaction: cents(most * 100),
  max_monthly: cents(month * 100),
  acceptance_tenths: Math.round(acceptance * 10),
  best_for: JSON.stringify(bestFor),
}));

const NOTHING = 0 as Cents;

interface DataSetFacts extends Pick<Act, 'now' | 'idSource'> {
  readonly name: (typeof DATA_SETS)[number];
  /** What the wallet ends up with, by an adjustment; the data set's own sum when left out. */
  readonly wallet?: Cents;
  /** Of `load`. */
  readonly size?: LoadSize;
}

/**
 * Fills an account that holds nothing. `empty` has the BINs and a wallet of 0.00; `demo` a history as well, `load` as
 * many cards and records as were asked for. Nothing is emitted: a data set is where events begin. Timers are set, so the system tables must be there.
 */
export async function loadDataSet(sql: Sql, { name, now, idSource, wallet, size }: DataSetFacts): Promise<void> {
  sql.insert('wallets', { data_set: name, balance: 0, deposited: 0, spent: 0, entries: 0 });
  const bins = BINS.map(bin => ({ ...bin, id: idSource.id('bin') }));
  for (const [position, bin] of bins.entries()) sql.insert('bins', { ...bin, position });
  if (name === 'demo') loadDemo({ sql, now, idSource, bins: bins.map(({ id }) => id) });
  if (name === 'load') await makeLoadData({ sql, now, idSource, seed: seedOf(sql) }, size ?? LOAD_SIZE);
  const missing = cents((wallet ?? NOTHING) - (walletOf(sql)?.balance ?? NOTHING));
  if (wallet !== undefined && missing !== 0) {
    const moves = { adjust: -missing, wallet: missing };
    post(sql, { kind: 'adjustment', ref: 'wallet', at: now, moves });
  }
  rememberOrigin(sql);
}

// The data set `demo`: six weeks of a small team, told through the handlers and rules that serve requests, so that the ledger is whole and no state is there that could not come about. 20,000.00 came in; 10,000.00 is left.

/** The real life of 300 s would be over before anybody looked at a sandbox that was made a minute ago. */
const OPEN_CHALLENGE_LIFE = DAY;

interface Loading extends Pick<Act, 'sql' | 'now' | 'idSource'> {
  /** Ids of the seeded BINs, in their order. */
  readonly bins: readonly string[];
}

type CardInput = Parameters<(typeof CARDS)['cards.create']>[0]['input'];
type Shop = Pick<Purchase, 'merchant' | 'mcc' | 'country'>;

const SEARCH_ADS: Shop = { merchant: 'SEARCH ADS 4411', mcc: '7311', country: 'US' };
const VIDEO_ADS: Shop = { merchant: 'VIDEO ADS IE', mcc: '7311', country: 'IE' };
const HOSTING: Shop = { merchant: 'CLOUDHOST GMBH', mcc: '7372', country: 'DE' };
const HOTEL: Shop = { merchant: 'HOTEL AM PARK', mcc: '7011', country: 'DE' };
const COFFEE: Shop = { merchant: 'COFFEE SHOP', mcc: '5814', country: 'US' };
const PAPER: Shop = { merchant: 'PAPER & PENS', mcc: '5943', country: 'US' };
const DOMAINS: Shop = { merchant: 'DOMAIN REGISTRY', mcc: '4816', country: 'NL' };
const TOOLS: Shop = { merchant: 'MAILTOOL', mcc: '5817', country: 'GB' };
const ELECTRONICS: Shop = { merchant: 'GADGET STORE', mcc: '5732', country: 'US' };

/** Twelve cards (8 active, 2 frozen, 2 terminated), every kind of record, a challenge, a deposit, a subscription. */
function loadDemo({ sql, now, idSource, bins }: Loading): void {
  // How long ago it happened. Events begin after the data set: there is nobody to tell them to.
  const at = (ago: number): Act => ({ sql, now: now - ago, idSource, emit: () => undefined });
  const deposit = (ago: number, currency: Currency, amount: Cents) =>
    confirmDeposit(at(ago - 20 * MINUTE), detectDeposit(at(ago), { currency, amount, confirmations: 'manual' }));
  const issue = (ago: number, bin: number, wanted: Omit<CardInput, 'bin_id'>) =>
    CARDS['cards.create']({ ...at(ago), input: { ...wanted, bin_id: bins[bin] ?? '' } }).id;
  /** Approved or declined, as the rules have it; the id of the record. */
  const tryToBuy = (ago: number, card: string, purchase: Shop & { readonly amount: Cents }) =>
    authorize(at(ago), cardOf({ sql }, card), purchase).id;
  /** An authorization and, a day later, its settlement; of the whole amount when no other is named. */
  const buy = (ago: number, card: string, purchase: Shop & { readonly amount: Cents; readonly settled?: Cents }) => {
    const id = tryToBuy(ago, card, purchase);
    const act = at(ago - DAY);
    settle(act, authorizationOf(act, id), { amount: purchase.settled ?? purchase.amount, final: true });
    return id;
  };
  const refundOf = (ago: number, authorization: string, amount: Cents) =>
    refund(at(ago), authorizationOf(at(ago), authorization), amount);
  const endHold = (ago: number, authorization: string, ending: 'reversed' | 'expired') => {
    const row = authorizationOf(at(ago), authorization);
    release(at(ago), row, { amount: row.held, ending });
  };

  deposit(45 * DAY, 'btc', cents(15_000_00));

  // Two that ended.
  const first = issue(41 * DAY, 0, { amount: cents(50_00) });
  buy(40 * DAY, first, { ...ELECTRONICS, amount: cents(49_50) });
  CARDS['cards.terminate']({ ...at(38 * DAY), input: { card_id: first } });
  deposit(19 * DAY, 'usdt', cents(5_000_00));
  const once = issue(6 * DAY, 4, { amount: cents(89_00), label: 'one-off purchase' });
  const bought = buy(6 * DAY - HOUR, once, { ...ELECTRONICS, amount: cents(89_00) });
  CARDS['cards.terminate']({ ...at(4 * DAY), input: { card_id: once } });
  refundOf(3 * DAY, bought, cents(20_00));

  // Spending, refunds, a decline.
  const video = issue(34 * DAY, 6, {
    amount: cents(500_00),
    label: 'video ads',
    metadata: { team: 'growth', campaign: 'autumn' },
  });
  CARDS['cards.fund']({ ...at(33 * DAY), input: { card_id: video, amount: cents(1_100_00) } });
  const spots = buy(32 * DAY, video, { ...VIDEO_ADS, amount: cents(640_00), settled: cents(612_40) });
  buy(14 * DAY, video, { ...VIDEO_ADS, amount: cents(480_00) });
  refundOf(13 * DAY + HOUR, spots, cents(112_40));
  const tokyo = issue(18 * DAY, 2, { amount: cents(5_000_00), label: '広告 — Tokyo' });
  buy(17 * DAY, tokyo, { ...SEARCH_ADS, amount: cents(19_50) });
  const office = issue(27 * DAY, 1, {
    amount: cents(150_00),
    label: 'office supplies',
    allowed_categories: ['office_supplies', '5732'],
  });
  buy(26 * DAY, office, { ...PAPER, amount: cents(36_20) });
  tryToBuy(24 * DAY, office, { ...COFFEE, amount: cents(4_80) });
  CARDS['cards.withdraw']({ ...at(22 * DAY), input: { card_id: office, amount: cents(13_50) } });

  // Two that are frozen.
  const cloud = issue(21 * DAY, 5, {
    amount: cents(800_00),
    label: 'cloud hosting',
    auto_freeze_at: cents(100_00),
  });
  buy(20 * DAY, cloud, { ...HOSTING, amount: cents(365_00) });
  // This one takes the balance below the line: approved, then frozen, so that the next declines.
  buy(8 * DAY, cloud, { ...HOSTING, amount: cents(372_00) });
  tryToBuy(2 * DAY, cloud, { ...HOSTING, amount: cents(18_00) });
  const trial = issue(12 * DAY, 1, { amount: cents(25_00), label: 'trial' });
  buy(12 * DAY - HOUR, trial, { ...TOOLS, amount: cents(25_00) });
  CARDS['cards.freeze']({ ...at(10 * DAY), input: { card_id: trial } });

  // Holds: open, expired, reversed.
  const travel = issue(30 * DAY, 3, { amount: cents(1_500_00), label: 'travel: Berlin' });
  tryToBuy(11 * DAY, travel, { ...HOTEL, amount: cents(412_00) });
  const domains = issue(9 * DAY, 6, { amount: cents(60_00), label: 'domain renewals' });
  const renewal = tryToBuy(9 * DAY - HOUR, domains, { ...DOMAINS, amount: cents(10_00) });
  endHold(9 * DAY - HOUR - authorizationDue(0, DOMAINS.mcc), renewal, 'expired');
  const mail = issue(3 * DAY, 5, {
    amount: cents(40_00),
    label: 'newsletter tool',
    metadata: { team: 'growth' },
  });
  const month = tryToBuy(3 * DAY - HOUR, mail, { ...TOOLS, amount: cents(29_00) });
  endHold(2 * DAY, month, 'reversed');
  const social = issue(DAY, 2, {
    amount: cents(600_00),
    label: 'ads: social',
    spending_limit: cents(1_000_00),
  });
  tryToBuy(20 * HOUR, social, { ...VIDEO_ADS, amount: cents(75_00) });

  // The last hours.
  const search = issue(2 * HOUR, 2, { amount: cents(120_00), label: 'ads: search' });
  const purchase: Purchase = { ...SEARCH_ADS, amount: cents(59_00) };
  const act = at(MINUTE);
  openChallenge(act, cardOf(act, search), { ...purchase, purchase, life: OPEN_CHALLENGE_LIFE });
  // Without blocks it stays pending until somebody confirms it, however old the sandbox grows.
  detectDeposit(at(20 * MINUTE), { currency: 'btc', amount: cents(250_00), confirmations: 'manual' });
  ACCOUNT_HANDLERS['webhooks.create']({
    ...at(30 * DAY),
    input: { url: 'http://localhost:9/cards', events: ['card.frozen', 'transaction.declined'] },
  });
}

// The data set `load`: many cards and many records, for load tests. Cards take turns, a record each, and every card goes through the same four: a purchase, its settlement, a refund of some of it, a decline. What a record says follows from its number, and its entries are written in bulk. The check of the ledger then finds nothing.

interface LoadSize {
  readonly cards: number;
  readonly transactions: number;
}

/** A round takes at most so long: what is bought in the last one has not expired when the data set is done. */
const LONGEST_ROUND = 6 * DAY;
const WHOLE_SPAN = 90 * DAY;
/** What is bought costs at most so much, and what all of it costs in a month is within the smallest limit of a BIN. */
const DEAREST = 40_00;
const CHEAPEST = 10;
/** What comes on a card with its first entry, at most. */
const MOST_FIRST = 500_00;
const WALLET = `wallet:${ACCOUNT}`;

const SHOPS = [
  { merchant: 'SEARCH ADS 4411', mcc: '7311', merchant_country: 'US' },
  { merchant: 'VIDEO ADS IE', mcc: '7311', merchant_country: 'IE' },
  { merchant: 'CLOUDHOST GMBH', mcc: '7372', merchant_country: 'DE' },
  { merchant: 'COFFEE SHOP', mcc: '5814', merchant_country: 'US' },
  { merchant: 'PAPER & PENS', mcc: '5943', merchant_country: 'US' },
  { merchant: 'MAILTOOL', mcc: '5817', merchant_country: 'GB' },
  { merchant: 'GADGET STORE', mcc: '5732', merchant_country: 'US' },
] as const;

interface LoadCard extends Pick<CardRow, 'id' | 'bin_id' | 'network' | 'last4' | 'spending_limit'> {
  balance: number;
  hold: number;
}

/** Makes the cards and the records, in the open transaction. */
async function makeLoadData(
  loading: Omit<Loading, 'bins'> & { readonly seed: number },
  { cards: count, transactions: total }: LoadSize,
): Promise<void> {
  const { sql, now, idSource, seed } = loading;
  const rounds = Math.max(1, Math.ceil(total / count));
  const span = Math.min(WHOLE_SPAN, rounds * LONGEST_ROUND);
  const start = now - span - DAY;
  const bins = allBins(sql);
  const purchasesOfMonth = 1 + Math.ceil((rounds / 4) * Math.min(1, (31 * DAY) / span));
  const dearest = Math.min(DEAREST, ...bins.map(bin => Math.floor(bin.max_monthly / purchasesOfMonth)));
  const drawn = drawsOf(seed);
  const txnId = manyIds(loading, 'txn', total);
  await inBulk(sql, LATE_INDEXES, async () => {
    const rows = new BulkInsert(sql, 'transactions', Object.keys(blank('', '', 0)));
    const timers = new BulkInsert(sql, 'timers', ['kind', 'ref', 'due_at']);
    const entries = new BulkInsert(sql, 'entries', ['id', 'kind', 'ref', 'created_at']);
    const postings = new BulkInsert(sql, 'postings', ['entry_id', 'ledger', 'amount']);
    let last = 0;
    const post = (kind: EntryKind, ref: string, at: number, [from, to, amount]: readonly [string, string, number]) => {
      if (amount === 0) return;
      last += 1;
      entries.add([last, kind, ref, at]);
      postings.add([last, from, -amount]);
      postings.add([last, to, amount]);
    };
    /** Entries first, for postings refer to them. */
    const flush = async () => {
      await entries.flush();
      await postings.flush();
    };
    const deposit = cents(count * MOST_FIRST + total * DEAREST);
    const id = idSource.id('dep');
    sql.insert('deposits', depositRow(id, deposit, idSource.digits('tx', 64), start));
    post('deposit', id, start, ['ext:crypto', WALLET, deposit]);
    const cards = issueCards(loading, { count, bins, created_at: start });
    for (const [nth, card] of cards.entries()) {
      card.balance = 50_00 + (drawn(nth, 0) % (MOST_FIRST - 50_00));
      post('create', card.id, start, [WALLET, `card:${card.id}`, card.balance]);
      if (postings.isFull) await flush();
    }
    for (let nth = 0; nth < total; nth += 1) {
      const round = dearest < CHEAPEST ? 3 : Math.floor(nth / count) % 4;
      const bought = nth - (dearest < CHEAPEST ? 0 : round * count);
      const card = cards[nth % count] as LoadCard;
      const at = now - span + Math.floor((span * nth) / total);
      const [onCard, onHold] = [`card:${card.id}`, `hold:${card.id}`];
      const amount = cents(CHEAPEST + (drawn(bought, 1) % Math.max(1, dearest - CHEAPEST)));
      const settled = cents(amount - (amount % 10));
      const refunded = cents(1 + (drawn(bought, 2) % settled));
      const row = { ...blank(txnId(nth), card.id, at), amount, ...SHOPS[drawn(bought, 3) % SHOPS.length] };
      const authorization_id = bought === nth ? row.id : txnId(bought);
      if (round === 0) {
        const left = Math.floor((total - 1 - nth) / count);
        post('fund', card.id, at, [WALLET, onCard, amount]);
        post('authorize', row.id, at, [onCard, onHold, amount]);
        card.hold += amount;
        if (left === 0) {
          Object.assign(row, { held: amount });
          timers.add([AUTHORIZATION_EXPIRY, row.id, authorizationDue(at, row.mcc)]);
        } else {
          const sums = { settled, released: amount - settled, refunded: left > 1 ? refunded : 0 };
          Object.assign(row, { status: 'settled', ...sums });
        }
      } else if (round === 1) {
        post('settle', row.id, at, [onHold, 'ext:network', settled]);
        post('release', authorization_id, at, [onHold, onCard, amount - settled]);
        card.hold -= amount;
        card.balance += amount - settled;
        Object.assign(row, { type: 'settlement', status: 'completed', amount: settled, authorization_id });
      } else if (round === 2) {
        post('refund', row.id, at, ['ext:network', onCard, refunded]);
        card.balance += refunded;
        Object.assign(row, { type: 'refund', status: 'completed', amount: refunded, authorization_id });
      } else Object.assign(row, { type: 'decline', status: 'declined', decline_reason: 'invalid_cvv' });
      rows.add(Object.values(row));
      if (postings.isFull) await flush();
      if (rows.isFull) await rows.flush();
    }
    for (const [nth, card] of cards.entries()) {
      const status = statusOf(nth);
      if (status === 'terminated') {
        post('terminate', card.id, now, [`card:${card.id}`, WALLET, card.balance]);
        card.balance = 0;
      }
      if (postings.isFull) await flush();
      const sums = { status, balance: cents(card.balance), hold: cents(card.hold) };
      const whole: CardRow = { ...card, ...fieldsOf(nth, start), ...sums };
      const { id, document } = cardDocument(whole);
      // One that ended loses its security code.
      const ended = status === 'terminated' && { cvv: null };
      sql.update('cards', { id }, { ...sums, document, ...ended });
    }
    await rows.flush();
    await timers.flush();
    await flush();
    const sum = (ledger: string) => `(select coalesce(sum(amount), 0) from postings where ledger = '${ledger}')`;
    sql.run(`update wallets set balance = ${sum(WALLET)}, deposited = -${sum('ext:crypto')},
      spent = ${sum('ext:network')}, entries = (select count(*) from entries)`);
  });
}

/** Whole numbers that look drawn, fixed by a seed, a number and what they are for. Nothing secret is drawn from them. */
function drawsOf(seed: number): (nth: number, purpose: number) => number {
  const start = createHash('sha256').update(`${seed} draws`).digest().readUInt32BE();
  return (nth, purpose) => {
    let mixed = Math.imul(start + nth * 4 + purpose, 0x9e3779b1);
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    return (mixed ^ (mixed >>> 13)) >>> 0;
  };
}

/** Inserts cards, spread over all BINs; their sums and the card as it is sent follow, which are written last. */
function issueCards(
  loading: Omit<Loading, 'bins'>,
  { count, bins, created_at }: { count: number; bins: readonly BinRow[]; created_at: number },
): LoadCard[] {
  const idOf = manyIds(loading, 'card', count);
  const digits = manyDigits(loading, 'number', count);
  const cvv = manyDigits(loading, 'cvv', count);
  const cards: LoadCard[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const { id: bin_id, network, max_monthly } = bins[nth % bins.length] as BinRow;
    let number = cardNumber(network, digits(nth, FREE_DIGITS));
    // Two of a hundred thousand meet by chance: one that is taken is drawn again.
    while (isNumberTaken(loading.sql, number)) {
      number = cardNumber(network, manyDigits(loading, 'number', 1)(0, FREE_DIGITS));
    }
    const card = { id: idOf(nth), bin_id, network, last4: number.slice(-4), spending_limit: max_monthly };
    const fresh = { ...card, ...fieldsOf(nth, created_at), status: 'active', balance: NOTHING, hold: NOTHING } as const;
    insertCard(loading.sql, { ...fresh, number, cvv: cvv(nth, 3), document: '' });
    cards.push({ ...card, balance: 0, hold: 0 });
  }
  return cards;
}

const fieldsOf = (nth: number, created_at: number) => ({
  label: `load ${nth + 1}`,
  allowed_categories: '[]',
  auto_freeze_at: null,
  metadata: '{}',
  created_at,
  expires_at: cardExpiry(created_at),
});

/** One card in fifty has ended, one in forty is frozen. */
function statusOf(nth: number): CardStatus {
  if (nth % 50 === 49) return 'terminated';
  return nth % 40 === 39 ? 'frozen' : 'active';
}

function depositRow(id: string, amount: Cents, tx_hash: string, at: number) {
  const [{ name: network, confirmations }] = COINS.usdt.networks;
  const crypto_amount = cryptoAmount('usdt', amount);
  const done = { status: 'confirmed', confirmations, required_confirmations: confirmations, confirmed_at: at };
  return { id, currency: 'usdt', network, crypto_amount, amount, tx_hash, created_at: at, ...done };
}

/** One literal for all records: what differs is set. */
function blank(id: string, card_id: string, created_at: number): TransactionRow {
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
