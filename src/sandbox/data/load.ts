/** Data sets: what a sandbox holds before anybody asked it for something (docs/design/sandbox.md, section 7). */

import { type DATA_SETS, LOAD_SIZE, type LoadSize } from '../../contract/sandbox/admin.ts';
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
import { type Act, cardOf, post } from '../account/ledger.ts';
import { documentOf, wireCard } from '../account/wire.ts';
import { fractionOf, seedOf } from '../calls/deterministic-ids.ts';
import { rememberOrigin } from '../checks/invariants.ts';
import { ACCOUNT_HANDLERS, CARDS } from '../handlers/service.ts';
import { authorizationDue } from '../rules/declines.ts';
import { allBins, type BinRow, type Currency, walletOf } from '../store/rows.ts';
import { ACCOUNT } from '../store/schema.ts';
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
  readonly wallet?: Cents | undefined;
  /** Of `load`. */
  readonly size?: LoadSize | undefined;
}

/**
 * Fills an account that holds nothing. `empty` has the BINs and a wallet of 0.00; `demo` a history as well, `load` as
 * many cards and records as were asked for. Nothing is emitted: a data set is where events begin. Timers are set, so the system tables must be there.
 */
export async function loadDataSet(sql: Sql, { name, now, idSource, wallet, size }: DataSetFacts): Promise<void> {
  sql.insert('wallets', { data_set: name, balance: NOTHING, deposited: NOTHING, spent: NOTHING, entries: 0 });
  const bins = BINS.map(bin => ({ ...bin, id: idSource.id('bin') }));
  for (const [position, bin] of bins.entries()) sql.insert('bins', { ...bin, position });
  const loading = { sql, now, idSource, bins: bins.map(({ id }) => id) };
  if (name === 'demo') loadDemo(loading);
  if (name === 'load') await makeLoadData(loading, size);
  const missing = cents((wallet ?? NOTHING) - walletOf(sql).balance);
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
  const deposit = (ago: number, currency: Currency, amount: number) => {
    const detected = detectDeposit(at(ago), { currency, amount: cents(amount), confirmations: 'manual' });
    confirmDeposit(at(ago - 20 * MINUTE), detected);
  };
  const issue = (ago: number, bin: number, amount: number, also: Omit<CardInput, 'bin_id' | 'amount'> = {}) =>
    CARDS['cards.create']({ ...at(ago), input: { ...also, amount: cents(amount), bin_id: bins[bin] ?? '' } }).id;
  /** Approved or declined, as the rules have it; the id of the record. */
  const tryToBuy = (ago: number, card: string, shop: Shop, amount: number) =>
    authorize(at(ago), cardOf({ sql }, card), { ...shop, amount: cents(amount) }).id;
  /** An authorization and, a day later, its settlement. */
  const buy = (ago: number, card: string, shop: Shop, amount: number, settled = amount) => {
    const id = tryToBuy(ago, card, shop, amount);
    const act = at(ago - DAY);
    settle(act, authorizationOf(act, id), { amount: cents(settled), final: true });
    return id;
  };
  const refundOf = (ago: number, authorization: string, amount: number) =>
    refund(at(ago), authorizationOf(at(ago), authorization), cents(amount));
  const endHold = (ago: number, authorization: string, ending: 'reversed' | 'expired') => {
    const row = authorizationOf(at(ago), authorization);
    release(at(ago), row, { amount: row.held, ending });
  };

  deposit(45 * DAY, 'btc', 15_000_00);

  // Two that ended.
  const first = issue(41 * DAY, 0, 50_00);
  buy(40 * DAY, first, ELECTRONICS, 49_50);
  CARDS['cards.terminate']({ ...at(38 * DAY), input: { card_id: first } });
  deposit(19 * DAY, 'usdt', 5_000_00);
  const once = issue(6 * DAY, 4, 89_00, { label: 'one-off purchase' });
  const bought = buy(6 * DAY - HOUR, once, ELECTRONICS, 89_00);
  CARDS['cards.terminate']({ ...at(4 * DAY), input: { card_id: once } });
  refundOf(3 * DAY, bought, 20_00);

  // Spending, refunds, a decline.
  const autumn = { team: 'growth', campaign: 'autumn' };
  const video = issue(34 * DAY, 6, 500_00, { label: 'video ads', metadata: autumn });
  CARDS['cards.fund']({ ...at(33 * DAY), input: { card_id: video, amount: cents(1_100_00) } });
  const spots = buy(32 * DAY, video, VIDEO_ADS, 640_00, 612_40);
  buy(14 * DAY, video, VIDEO_ADS, 480_00);
  refundOf(13 * DAY + HOUR, spots, 112_40);
  const tokyo = issue(18 * DAY, 2, 5_000_00, { label: '広告 — Tokyo' });
  buy(17 * DAY, tokyo, SEARCH_ADS, 19_50);
  const paperAndShop = ['office_supplies', '5732'];
  const office = issue(27 * DAY, 1, 150_00, { label: 'office supplies', allowed_categories: paperAndShop });
  buy(26 * DAY, office, PAPER, 36_20);
  tryToBuy(24 * DAY, office, COFFEE, 4_80);
  CARDS['cards.withdraw']({ ...at(22 * DAY), input: { card_id: office, amount: cents(13_50) } });

  // Two that are frozen.
  const cloud = issue(21 * DAY, 5, 800_00, { label: 'cloud hosting', auto_freeze_at: cents(100_00) });
  buy(20 * DAY, cloud, HOSTING, 365_00);
  // This one takes the balance below the line: approved, then frozen, so that the next declines.
  buy(8 * DAY, cloud, HOSTING, 372_00);
  tryToBuy(2 * DAY, cloud, HOSTING, 18_00);
  const trial = issue(12 * DAY, 1, 25_00, { label: 'trial' });
  buy(12 * DAY - HOUR, trial, TOOLS, 25_00);
  CARDS['cards.freeze']({ ...at(10 * DAY), input: { card_id: trial } });

  // Holds: open, expired, reversed.
  const travel = issue(30 * DAY, 3, 1_500_00, { label: 'travel: Berlin' });
  tryToBuy(11 * DAY, travel, HOTEL, 412_00);
  const domains = issue(9 * DAY, 6, 60_00, { label: 'domain renewals' });
  const renewal = tryToBuy(9 * DAY - HOUR, domains, DOMAINS, 10_00);
  endHold(9 * DAY - HOUR - authorizationDue(0, DOMAINS.mcc), renewal, 'expired');
  const mail = issue(3 * DAY, 5, 40_00, { label: 'newsletter tool', metadata: { team: 'growth' } });
  const month = tryToBuy(3 * DAY - HOUR, mail, TOOLS, 29_00);
  endHold(2 * DAY, month, 'reversed');
  const social = issue(DAY, 2, 600_00, { label: 'ads: social', spending_limit: cents(1_000_00) });
  tryToBuy(20 * HOUR, social, VIDEO_ADS, 75_00);

  // The last hours.
  const search = issue(2 * HOUR, 2, 120_00, { label: 'ads: search' });
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

// The data set `load`: many cards and many records, for load tests. Cards take turns, a record each, and every card goes through the same four: a purchase, its settlement, a refund of some of it, a decline. Cards are made by the handlers; what a record says follows from its number, and SQL writes them in bulk. The check of the ledger then finds nothing.

/** A round takes at most so long: what is bought in the last one has not expired when the data set is done. */
const LONGEST_ROUND = 6 * DAY;
const WHOLE_SPAN = 90 * DAY;
/** Cents of a purchase, and of what comes on a card with its first entry: at least and at most. */
const DEAREST = 40_00;
const [LEAST_FIRST, MOST_FIRST] = [50_00, 500_00];
/** With more of them on one card, purchases of a cent each would be above the limit of a month. */
const MOST_OF_A_CARD = 1_000_000;
const WALLET = `wallet:${ACCOUNT}`;
const SHOPS = [SEARCH_ADS, VIDEO_ADS, HOSTING, COFFEE, PAPER, TOOLS, ELECTRONICS];
/** Cards and records that are made before the event loop gets a turn: signals and deadlines would wait for the last one. */
const [CARDS_AT_ONCE, RECORDS_AT_ONCE] = [500, 10_000];

/** Makes the cards and the records, in the open transaction. */
async function makeLoadData({ sql, now, idSource, bins }: Loading, size: LoadSize = {}) {
  const { cards: asked = LOAD_SIZE.cards, transactions: total = LOAD_SIZE.transactions } = size;
  const seed = seedOf(sql);
  const count = Math.max(asked, Math.ceil(total / MOST_OF_A_CARD));
  const rounds = Math.max(1, Math.ceil(total / count));
  const span = Math.min(WHOLE_SPAN, rounds * LONGEST_ROUND);
  const purchasesOfMonth = 1 + Math.ceil((rounds / 4) * Math.min(1, (31 * DAY) / span));
  const dearest = Math.min(DEAREST, ...allBins(sql).map(bin => Math.floor(bin.max_monthly / purchasesOfMonth)));
  const end: Act = { sql, now, idSource, emit: () => undefined };
  const start: Act = { ...end, now: now - span - DAY };
  const amount = cents(count * MOST_FIRST + total * DEAREST);
  confirmDeposit(start, detectDeposit(start, { currency: 'usdt', amount, confirmations: 'manual' }));
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const drawn = Math.floor(fractionOf(`${seed} load ${nth}`) * (MOST_FIRST - LEAST_FIRST));
    const wanted = {
      bin_id: bins[nth % bins.length] ?? '',
      amount: cents(LEAST_FIRST + drawn),
      label: `load ${nth + 1}`,
    };
    ids.push(CARDS['cards.create']({ ...start, input: wanted }).id);
    if (nth % CARDS_AT_ONCE === 0) await nextTurn();
  }
  const writing = recordStatements({ seed, count, total, span, dearest, now, entries: walletOf(sql).entries });
  await inBulk(sql, async () => {
    for (let first = 0; first < total; first += RECORDS_AT_ONCE) {
      for (const statement of writing) sql.run(statement, first, Math.min(total, first + RECORDS_AT_ONCE));
      await nextTurn();
    }
  });
  const posted = sql.all<{ ledger: string; total: Cents }>(
    'select ledger, sum(amount) as total from postings group by ledger',
  );
  const sums = new Map(posted.map(({ ledger, total: sum }) => [ledger, sum]));
  const sumOf = (ledger: string) => sums.get(ledger) ?? NOTHING;
  const books = { balance: sumOf(WALLET), deposited: cents(-sumOf('ext:crypto')), spent: sumOf('ext:network') };
  sql.update('wallets', { one: 1 }, { ...books, entries: walletOf(sql).entries + 2 * total });
  for (const [nth, id] of ids.entries()) {
    const balances = { balance: sumOf(`card:${id}`), hold: sumOf(`hold:${id}`) };
    const document = documentOf(wireCard({ ...cardOf(end, id), ...balances }));
    sql.update('cards', { id }, { ...balances, document });
    // One card in fifty has ended, and one in forty is frozen.
    if (nth % 50 === 49) CARDS['cards.terminate']({ ...end, input: { card_id: id } });
    else if (nth % 40 === 39) CARDS['cards.freeze']({ ...end, input: { card_id: id } });
    if (nth % CARDS_AT_ONCE === 0) await nextTurn();
  }
}

interface Records extends Readonly<Record<'seed' | 'count' | 'total' | 'span' | 'dearest' | 'now', number>> {
  /** Entries that are there already; each record has the numbers of two behind them. */
  readonly entries: number;
}

/** Statements that write the records from a number to another: what was bought, what is due, and what it moved. */
function recordStatements({ seed, count, total, span, dearest, now, entries }: Records): readonly string[] {
  /** Whole numbers that look drawn, fixed by the seed, a number and what they are for. */
  const drawn = (nth: string, purpose: number) =>
    `((${seed % 1_000_003} + ${nth} * 5 + ${purpose}) * 1103515245 + 12345) % 2147483648 / 64`;
  /** Hexadecimal digits in the letters of an id. */
  const idOf = (nth: string) => {
    const digits = `printf('%08x%08x%08x', ${drawn(nth, 3)}, ${drawn(nth, 4)}, ${nth})`;
    return `'txn_' || replace(replace(replace(replace(${digits}, '0', 'g'), '1', 'h'), '8', 'i'), '9', 'j')`;
  };
  const shops = SHOPS.map(({ merchant, mcc, country }, nth) => `(${nth}, '${merchant}', '${mcc}', '${country}')`);
  const records = `with recursive numbers (nth) as (select ? union all select nth + 1 from numbers where nth + 1 < ?),
    shops (shop, merchant, mcc, country) as (values ${shops.join(', ')}),
    placed as (select nth, nth / ${count} % 4 as round, nth - nth / ${count} % 4 * ${count} as bought,
      (${total - 1} - nth) / ${count} as later, ${now - span} + ${span} * nth / ${total} as at from numbers),
    priced as (select *, 1 + ${drawn('bought', 0)} % ${dearest} as amount from placed),
    settled as (select *, amount - amount / 10 as settled from priced),
    records as materialized (select s.*, h.*, 1 + ${drawn('bought', 1)} % settled as refunded, c.id as card,
      ${idOf('nth')} as id, ${idOf('bought')} as purchase from settled s
      join cards c on c.rowid = nth % ${count} + 1 join shops h on h.shop = ${drawn('bought', 2)} % ${SHOPS.length})`;
  const number = `${entries + 1} + 2 * nth`;
  const moves = `${records}, moves (entry, kind, ref, at, source, target, amount) as materialized (
    select ${number}, 'fund', card, at, '${WALLET}', 'card:' || card, amount from records where round = 0
    union all select ${number} + 1, 'authorize', id, at, 'card:' || card, 'hold:' || card, amount
      from records where round = 0
    union all select ${number}, 'settle', id, at, 'hold:' || card, 'ext:network', settled from records where round = 1
    union all select ${number} + 1, 'release', purchase, at, 'hold:' || card, 'card:' || card, amount - settled
      from records where round = 1 and amount > settled
    union all select ${number}, 'refund', id, at, 'ext:network', 'card:' || card, refunded from records where round = 2)`;
  return [
    `insert into transactions (id, card_id, type, status, amount, merchant, mcc, merchant_country, authorization_id,
      decline_reason, created_at, held, settled, excess, released, refunded) ${records}
    select id, card,
      case round when 0 then 'authorization' when 1 then 'settlement' when 2 then 'refund' else 'decline' end,
      case when round = 3 then 'declined' when round > 0 then 'completed' when later > 0 then 'settled' else 'pending' end,
      case round when 1 then settled when 2 then refunded else amount end, merchant, mcc, country,
      case when round in (1, 2) then purchase end, case when round = 3 then 'invalid_cvv' end, at,
      iif(round = 0 and later = 0, amount, 0), iif(round = 0 and later > 0, settled, 0), 0,
      iif(round = 0 and later > 0, amount - settled, 0), iif(round = 0 and later > 1, refunded, 0) from records`,
    `insert into timers (kind, ref, due_at) ${records}
    select '${AUTHORIZATION_EXPIRY}', id, at + ${authorizationDue(0, HOSTING.mcc)} from records where round = 0 and later = 0`,
    `insert into entries (id, kind, ref, created_at) ${moves} select entry, kind, ref, at from moves`,
    `insert into postings (entry_id, ledger, amount) ${moves}
    select entry, source, -amount from moves union all select entry, target, amount from moves`,
  ];
}
