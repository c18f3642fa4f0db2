/** Data sets: what a sandbox holds before anybody asked it for something (docs/design/sandbox.md, section 7). */
import { type DATA_SETS, LOAD_SIZE } from '../../contract/sandbox/admin.ts';
import { DAY, HOUR, MINUTE } from '../../core/durations.ts';
import { type Cents, cents } from '../../core/money.ts';
import { authorizationOf, authorize, type Purchase, refund, release, settle } from '../account/authorizations.ts';
import { confirmDeposit, detectDeposit, openChallenge } from '../account/challenges.ts';
import { type Act, cardOf, post } from '../account/ledger.ts';
import { seedOf } from '../calls/deterministic-ids.ts';
import { rememberOrigin } from '../checks/invariants.ts';
import { ACCOUNT_HANDLERS } from '../handlers/account.ts';
import { CARDS } from '../handlers/cards.ts';
import { authorizationDue } from '../rules/declines.ts';
import { type BinRow, type Currency, walletOf } from '../store/account.ts';
import type { Sql } from '../store/sql.ts';
import { type LoadSize, makeLoadData } from './load-data.ts';

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
  /** In place of the data set's own, in their order. */
  readonly bins?: readonly BinRow[] | undefined;
}

/**
 * Fills an account that holds nothing. `empty` has the BINs and a wallet of 0.00; `demo` a history as well, `load` as
 * many cards and records as were asked for. Nothing is emitted: a data set is where events begin. Timers are set, so the system tables must be there.
 */
export async function loadDataSet(
  sql: Sql,
  { name, now, idSource, wallet, size, bins: kept }: DataSetFacts,
): Promise<void> {
  sql.insert('wallets', { data_set: name, balance: 0, deposited: 0, spent: 0, entries: 0 });
  const bins: BinRow[] = [...(kept ?? [])];
  if (kept === undefined) for (const bin of BINS) bins.push({ ...bin, id: idSource.id('bin') });
  for (const [position, bin] of bins.entries()) sql.insert('bins', { ...bin, position });
  if (name === 'demo') tellDemo({ sql, now, idSource, bins: bins.map(({ id }) => id) });
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

export interface Teller extends Pick<Act, 'sql' | 'now' | 'idSource'> {
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

/** One line of the story: what happens, and how long ago. */
class Story {
  readonly #teller: Teller;

  constructor(teller: Teller) {
    this.#teller = teller;
  }

  at(ago: number): Act {
    const { sql, now, idSource } = this.#teller;
    // Events begin after the data set: there is nobody to tell them to.
    return { sql, now: now - ago, idSource, emit: () => undefined };
  }

  deposit(ago: number, currency: Currency, amount: Cents): void {
    const seen = detectDeposit(this.at(ago), { currency, amount, confirmations: 'manual' });
    confirmDeposit(this.at(ago - 20 * MINUTE), seen);
  }

  card(ago: number, bin: number, wanted: Omit<CardInput, 'bin_id'>): string {
    const input: CardInput = { ...wanted, bin_id: this.#teller.bins[bin] ?? '' };
    return CARDS['cards.create']({ ...this.at(ago), input }).id;
  }

  /** Approved or declined, as the rules have it; the id of the record. */
  authorize(ago: number, card: string, purchase: Shop & { readonly amount: Cents }): string {
    const act = this.at(ago);
    return authorize(act, cardOf(act, card), purchase).id;
  }

  /** An authorization and, a day later, its settlement; of the whole amount when no other is named. */
  buy(ago: number, card: string, purchase: Shop & { readonly amount: Cents; readonly settled?: Cents }): string {
    const id = this.authorize(ago, card, purchase);
    const act = this.at(ago - DAY);
    settle(act, authorizationOf(act, id), { amount: purchase.settled ?? purchase.amount, final: true });
    return id;
  }

  refund(ago: number, authorization: string, amount: Cents): void {
    const act = this.at(ago);
    refund(act, authorizationOf(act, authorization), amount);
  }

  release(ago: number, authorization: string, ending: 'reversed' | 'expired'): void {
    const act = this.at(ago);
    const row = authorizationOf(act, authorization);
    release(act, row, { amount: row.held, ending });
  }
}

/** Twelve cards (8 active, 2 frozen, 2 terminated), every kind of record, a challenge, a deposit, a subscription. */
function tellDemo(teller: Teller): void {
  const story = new Story(teller);
  story.deposit(45 * DAY, 'btc', cents(15_000_00));
  tellTerminated(story);
  tellSpending(story);
  tellFrozen(story);
  tellHolds(story);
  tellPresent(story);
}

function tellTerminated(story: Story): void {
  const first = story.card(41 * DAY, 0, { amount: cents(50_00) });
  story.buy(40 * DAY, first, { ...ELECTRONICS, amount: cents(49_50) });
  CARDS['cards.terminate']({ ...story.at(38 * DAY), input: { card_id: first } });
  story.deposit(19 * DAY, 'usdt', cents(5_000_00));
  const once = story.card(6 * DAY, 4, { amount: cents(89_00), label: 'one-off purchase' });
  const bought = story.buy(6 * DAY - HOUR, once, { ...ELECTRONICS, amount: cents(89_00) });
  CARDS['cards.terminate']({ ...story.at(4 * DAY), input: { card_id: once } });
  story.refund(3 * DAY, bought, cents(20_00));
}

function tellSpending(story: Story): void {
  const video = story.card(34 * DAY, 6, {
    amount: cents(500_00),
    label: 'video ads',
    metadata: { team: 'growth', campaign: 'autumn' },
  });
  CARDS['cards.fund']({ ...story.at(33 * DAY), input: { card_id: video, amount: cents(1_100_00) } });
  const spots = story.buy(32 * DAY, video, { ...VIDEO_ADS, amount: cents(640_00), settled: cents(612_40) });
  story.buy(14 * DAY, video, { ...VIDEO_ADS, amount: cents(480_00) });
  story.refund(13 * DAY + HOUR, spots, cents(112_40));
  const tokyo = story.card(18 * DAY, 2, { amount: cents(5_000_00), label: '広告 — Tokyo' });
  story.buy(17 * DAY, tokyo, { ...SEARCH_ADS, amount: cents(19_50) });
  const office = story.card(27 * DAY, 1, {
    amount: cents(150_00),
    label: 'office supplies',
    allowed_categories: ['office_supplies', '5732'],
  });
  story.buy(26 * DAY, office, { ...PAPER, amount: cents(36_20) });
  story.authorize(24 * DAY, office, { ...COFFEE, amount: cents(4_80) });
  CARDS['cards.withdraw']({ ...story.at(22 * DAY), input: { card_id: office, amount: cents(13_50) } });
}

function tellFrozen(story: Story): void {
  const cloud = story.card(21 * DAY, 5, {
    amount: cents(800_00),
    label: 'cloud hosting',
    auto_freeze_at: cents(100_00),
  });
  story.buy(20 * DAY, cloud, { ...HOSTING, amount: cents(365_00) });
  // This one takes the balance below the line: approved, then frozen, so that the next declines.
  story.buy(8 * DAY, cloud, { ...HOSTING, amount: cents(372_00) });
  story.authorize(2 * DAY, cloud, { ...HOSTING, amount: cents(18_00) });
  const trial = story.card(12 * DAY, 1, { amount: cents(25_00), label: 'trial' });
  story.buy(12 * DAY - HOUR, trial, { ...TOOLS, amount: cents(25_00) });
  CARDS['cards.freeze']({ ...story.at(10 * DAY), input: { card_id: trial } });
}

function tellHolds(story: Story): void {
  const travel = story.card(30 * DAY, 3, { amount: cents(1_500_00), label: 'travel: Berlin' });
  story.authorize(11 * DAY, travel, { ...HOTEL, amount: cents(412_00) });
  const domains = story.card(9 * DAY, 6, { amount: cents(60_00), label: 'domain renewals' });
  const renewal = story.authorize(9 * DAY - HOUR, domains, { ...DOMAINS, amount: cents(10_00) });
  story.release(9 * DAY - HOUR - authorizationDue(0, DOMAINS.mcc), renewal, 'expired');
  const mail = story.card(3 * DAY, 5, {
    amount: cents(40_00),
    label: 'newsletter tool',
    metadata: { team: 'growth' },
  });
  const month = story.authorize(3 * DAY - HOUR, mail, { ...TOOLS, amount: cents(29_00) });
  story.release(2 * DAY, month, 'reversed');
  const social = story.card(DAY, 2, {
    amount: cents(600_00),
    label: 'ads: social',
    spending_limit: cents(1_000_00),
  });
  story.authorize(20 * HOUR, social, { ...VIDEO_ADS, amount: cents(75_00) });
}

function tellPresent(story: Story): void {
  const search = story.card(2 * HOUR, 2, { amount: cents(120_00), label: 'ads: search' });
  const purchase: Purchase = { ...SEARCH_ADS, amount: cents(59_00) };
  const act = story.at(MINUTE);
  openChallenge(act, cardOf(act, search), { ...purchase, purchase, life: OPEN_CHALLENGE_LIFE });
  // Without blocks it stays pending until somebody confirms it, however old the sandbox grows.
  detectDeposit(story.at(20 * MINUTE), { currency: 'btc', amount: cents(250_00), confirmations: 'manual' });
  ACCOUNT_HANDLERS['webhooks.create']({
    ...story.at(30 * DAY),
    input: { url: 'http://localhost:9/cards', events: ['card.frozen', 'transaction.declined'] },
  });
}
