/**
 * The data set `load`: many cards and many records, for load tests. Cards take turns, a record each, and every card goes through
 * the same four: a purchase, its settlement, a refund of some of it, a decline. What a record says follows from its number, and
 * its entries are written in bulk. The check of the ledger then finds nothing.
 */
import { createHash } from 'node:crypto';
import { DAY } from '../../core/durations.ts';
import { type Cents, cents } from '../../core/money.ts';
import { AUTHORIZATION_EXPIRY } from '../account/authorizations.ts';
import type { EntryKind } from '../account/ledger.ts';
import { cardDocument } from '../account/wire.ts';
import { manyDigits, manyIds } from '../calls/deterministic-ids.ts';
import { cardExpiry } from '../rules/dates.ts';
import { authorizationDue } from '../rules/declines.ts';
import { COINS, cardNumber, cryptoAmount, FREE_DIGITS } from '../rules/money.ts';
import {
  allBins,
  type BinRow,
  type CardRow,
  type CardStatus,
  insertCard,
  isNumberTaken,
  type TransactionRow,
} from '../store/account.ts';
import { ACCOUNT, LATE_INDEXES } from '../store/schema.ts';
import { BulkInsert, inBulk } from '../store/sql.ts';
import type { Teller } from './load.ts';

export interface LoadSize {
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
const NOTHING = 0 as Cents;
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
export async function makeLoadData(
  teller: Omit<Teller, 'bins'> & { readonly seed: number },
  { cards: count, transactions: total }: LoadSize,
): Promise<void> {
  const { sql, now, idSource, seed } = teller;
  const rounds = Math.max(1, Math.ceil(total / count));
  const span = Math.min(WHOLE_SPAN, rounds * LONGEST_ROUND);
  const start = now - span - DAY;
  const bins = allBins(sql);
  const purchasesOfMonth = 1 + Math.ceil((rounds / 4) * Math.min(1, (31 * DAY) / span));
  const dearest = Math.min(DEAREST, ...bins.map(bin => Math.floor(bin.max_monthly / purchasesOfMonth)));
  const drawn = drawsOf(seed);
  const txnId = manyIds(teller, 'txn', total);
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
    const cards = issueCards(teller, { count, bins, created_at: start });
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
  teller: Omit<Teller, 'bins'>,
  { count, bins, created_at }: { count: number; bins: readonly BinRow[]; created_at: number },
): LoadCard[] {
  const idOf = manyIds(teller, 'card', count);
  const digits = manyDigits(teller, 'number', count);
  const cvv = manyDigits(teller, 'cvv', count);
  const cards: LoadCard[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const { id: bin_id, network, max_monthly } = bins[nth % bins.length] as BinRow;
    let number = cardNumber(network, digits(nth, FREE_DIGITS));
    // Two of a hundred thousand meet by chance: one that is taken is drawn again.
    while (isNumberTaken(teller.sql, number)) {
      number = cardNumber(network, manyDigits(teller, 'number', 1)(0, FREE_DIGITS));
    }
    const card = { id: idOf(nth), bin_id, network, last4: number.slice(-4), spending_limit: max_monthly };
    const fresh = { ...card, ...fieldsOf(nth, created_at), status: 'active', balance: NOTHING, hold: NOTHING } as const;
    insertCard(teller.sql, { ...fresh, number, cvv: cvv(nth, 3), document: '' });
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
