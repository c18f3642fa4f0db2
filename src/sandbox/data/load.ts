/** Data sets: what a sandbox holds before anybody asked it for something (docs/design/sandbox.md, section 7). */

import { createHash } from 'node:crypto';
import { type DATA_SETS, LOAD_SIZE } from '../../contract/sandbox/admin.ts';
import { DAY, HOUR, MINUTE } from '../../core/durations.ts';
import { type Cents, cents } from '../../core/money.ts';
import { nextTurn } from '../../platform/time.ts';
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
import { documentOf, wireCard } from '../account/wire.ts';
import { idOf, seedOf } from '../calls/deterministic-ids.ts';
import { rememberOrigin } from '../checks/invariants.ts';
import { ACCOUNT_HANDLERS, CARDS } from '../handlers/service.ts';
import { cardExpiry } from '../rules/dates.ts';
import { authorizationDue } from '../rules/declines.ts';
import { COINS, cardNumber, cryptoAmount, FREE_DIGITS } from '../rules/money.ts';
import { allBins, type BinRow, type CardStatus, type Currency, insertCard, walletOf } from '../store/rows.ts';
import { ACCOUNT, LATE_INDEXES } from '../store/schema.ts';
import { inBulk, type Sql } from '../store/sql.ts';

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
  const loading = { sql, now, idSource, bins: bins.map(({ id }) => id) };
  if (name === 'demo') loadDemo(loading);
  if (name === 'load') await makeLoadData(loading, size ?? LOAD_SIZE);
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

// The data set `load`: many cards and many records, for load tests. Cards take turns, a record each, and every card goes through the same four: a purchase, its settlement, a refund of some of it, a decline. What a record says follows from its number, and rows are written in bulk. The check of the ledger then finds nothing.

interface LoadSize {
  readonly cards: number;
  readonly transactions: number;
}

/** A round takes at most so long: what is bought in the last one has not expired when the data set is done. */
const LONGEST_ROUND = 6 * DAY;
const WHOLE_SPAN = 90 * DAY;
/** Cents of a purchase, and of what comes on a card with its first entry, at most. */
const DEAREST = 40_00;
const MOST_FIRST = 500_00;
/** With more of them on one card, purchases of a cent each would be above the limit of a month. */
const MOST_OF_A_CARD = 1_000_000;
const WALLET = `wallet:${ACCOUNT}`;
const SHOPS = [SEARCH_ADS, VIDEO_ADS, HOSTING, COFFEE, PAPER, TOOLS, ELECTRONICS];
/** Rows of each table that are collected before they are written. */
const BATCH = 500;

/** Makes the cards and the records, in the open transaction. */
async function makeLoadData({ sql, now, idSource }: Loading, { cards: asked, transactions: total }: LoadSize) {
  const seed = seedOf(sql);
  const count = Math.max(asked, Math.ceil(total / MOST_OF_A_CARD));
  const rounds = Math.max(1, Math.ceil(total / count));
  const span = Math.min(WHOLE_SPAN, rounds * LONGEST_ROUND);
  const start = now - span - DAY;
  const bins = allBins(sql);
  const purchasesOfMonth = 1 + Math.ceil((rounds / 4) * Math.min(1, (31 * DAY) / span));
  const dearest = Math.min(DEAREST, ...bins.map(bin => Math.floor(bin.max_monthly / purchasesOfMonth)));
  const drawn = drawsOf(seed);
  const idOfRecord = (nth: number) => idOf('txn', `${seed} load ${nth}`);
  const cards = Array.from({ length: count }, (_, nth) => {
    const { id: bin_id, network, max_monthly: spending_limit } = bins[nth % bins.length] as BinRow;
    const number = cardNumber(network, String(nth).padStart(FREE_DIGITS, '0'));
    const card = {
      ...{ id: idOf('card', `${seed} load ${nth}`), bin_id, network, last4: number.slice(-4), spending_limit },
      ...{ label: `load ${nth + 1}`, allowed_categories: '[]', auto_freeze_at: null, metadata: '{}' },
      ...{ created_at: start, expires_at: cardExpiry(start), status: 'active' as CardStatus },
      ...{ balance: 50_00 + (drawn(nth, 0) % (MOST_FIRST - 50_00)), hold: 0 },
    };
    // Balance, hold and document follow, when the sums are known.
    const cvv = String(drawn(nth, 4) % 1000).padStart(3, '0');
    insertCard(sql, { ...card, balance: NOTHING, hold: NOTHING, number, cvv, document: '' });
    return card;
  });
  await inBulk(sql, LATE_INDEXES, async () => {
    const rows: Record<'transactions' | 'timers' | 'entries' | 'postings', object[]> = {
      transactions: [],
      timers: [],
      entries: [],
      postings: [],
    };
    const write = async () => {
      for (const [table, collected] of Object.entries(rows)) sql.insertMany(table, collected.splice(0));
      // Statements never let go of the event loop by themselves: signals and deadlines would wait for the last row.
      await nextTurn();
    };
    let entry_id = 0;
    const post = (kind: EntryKind, ref: string, created_at: number, [from, to, amount]: [string, string, number]) => {
      if (amount === 0) return;
      entry_id += 1;
      rows.entries.push({ id: entry_id, kind, ref, created_at });
      rows.postings.push({ entry_id, ledger: from, amount: -amount }, { entry_id, ledger: to, amount });
    };
    const deposit = cents(count * MOST_FIRST + total * DEAREST);
    const [chain] = COINS.usdt.networks;
    const id = idSource.id('dep');
    sql.insert('deposits', {
      ...{ id, currency: 'usdt', network: chain.name, crypto_amount: cryptoAmount('usdt', deposit), amount: deposit },
      ...{ status: 'confirmed', tx_hash: idSource.digits('tx', 64), created_at: start, confirmed_at: start },
      ...{ confirmations: chain.confirmations, required_confirmations: chain.confirmations },
    });
    post('deposit', id, start, ['ext:crypto', WALLET, deposit]);
    for (const card of cards) {
      post('create', card.id, start, [WALLET, `card:${card.id}`, card.balance]);
      if (rows.postings.length >= BATCH) await write();
    }
    for (let nth = 0; nth < total; nth += 1) {
      const round = Math.floor(nth / count) % 4;
      const bought = nth - round * count;
      const card = cards[nth % count] as (typeof cards)[number];
      const at = now - span + Math.floor((span * nth) / total);
      const [onCard, onHold] = [`card:${card.id}`, `hold:${card.id}`];
      const amount = cents(1 + (drawn(bought, 1) % dearest));
      const settled = cents(amount - Math.floor(amount / 10));
      const refunded = cents(1 + (drawn(bought, 2) % settled));
      const { merchant, mcc, country } = SHOPS[drawn(bought, 3) % SHOPS.length] as Shop;
      const authorization_id = round === 0 ? null : idOfRecord(bought);
      const row = {
        ...{ id: idOfRecord(nth), card_id: card.id, type: 'authorization', status: 'pending', amount, merchant, mcc },
        ...{ merchant_country: country, authorization_id, decline_reason: null as string | null, created_at: at },
        ...{ held: 0, settled: 0, excess: 0, released: 0, refunded: 0 },
      };
      if (round === 0) {
        const left = Math.floor((total - 1 - nth) / count);
        post('fund', card.id, at, [WALLET, onCard, amount]);
        post('authorize', row.id, at, [onCard, onHold, amount]);
        card.hold += amount;
        if (left > 0) Object.assign(row, { status: 'settled', settled, released: amount - settled });
        else {
          row.held = amount;
          rows.timers.push({ kind: AUTHORIZATION_EXPIRY, ref: row.id, due_at: authorizationDue(at, mcc) });
        }
        if (left > 1) row.refunded = refunded;
      } else if (round === 1) {
        post('settle', row.id, at, [onHold, 'ext:network', settled]);
        post('release', idOfRecord(bought), at, [onHold, onCard, amount - settled]);
        card.hold -= amount;
        card.balance += amount - settled;
        Object.assign(row, { type: 'settlement', status: 'completed', amount: settled });
      } else if (round === 2) {
        post('refund', row.id, at, ['ext:network', onCard, refunded]);
        card.balance += refunded;
        Object.assign(row, { type: 'refund', status: 'completed', amount: refunded });
      } else {
        const declined = { type: 'decline', status: 'declined', decline_reason: 'invalid_cvv' };
        Object.assign(row, declined, { authorization_id: null });
      }
      rows.transactions.push(row);
      if (rows.postings.length >= BATCH || rows.transactions.length >= BATCH) await write();
    }
    for (const [nth, card] of cards.entries()) {
      // One card in fifty has ended, which takes its security code, and one in forty is frozen.
      const ended = nth % 50 === 49 && { cvv: null };
      if (ended) {
        post('terminate', card.id, now, [`card:${card.id}`, WALLET, card.balance]);
        card.balance = 0;
      }
      const status = ended ? 'terminated' : nth % 40 === 39 ? 'frozen' : 'active';
      const sums = { status, balance: cents(card.balance), hold: cents(card.hold) } as const;
      sql.update('cards', { id: card.id }, { ...sums, document: documentOf(wireCard({ ...card, ...sums })), ...ended });
      if (nth % BATCH === 0) await write();
    }
    await write();
    const sum = (ledger: string) => `(select coalesce(sum(amount), 0) from postings where ledger = '${ledger}')`;
    sql.run(`update wallets set balance = ${sum(WALLET)}, deposited = -${sum('ext:crypto')},
      spent = ${sum('ext:network')}, entries = (select count(*) from entries)`);
  });
}

/** Whole numbers that look drawn, fixed by a seed, a number and what they are for. Test data alone is drawn from them. */
function drawsOf(seed: number): (nth: number, purpose: number) => number {
  const start = createHash('sha256').update(`${seed} draws`).digest().readUInt32BE();
  return (nth, purpose) => {
    let mixed = Math.imul(start + nth * 5 + purpose, 0x9e3779b1);
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    return (mixed ^ (mixed >>> 13)) >>> 0;
  };
}
