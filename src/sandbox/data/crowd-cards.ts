/** The cards of a large data set: made at one moment, written with what is on them when everything has happened. */
import { type Cents, cents } from '../../core/money.ts';
import { cardDocument } from '../account/objects.ts';
import { manyDigits, manyIds } from '../calls/deterministic-ids.ts';
import { cardNumber, FREE_DIGITS } from '../rules/card-numbers.ts';
import { cardExpiry } from '../rules/dates.ts';
import { allBins, type BinRow } from '../store/bins.ts';
import { type CardRow, type CardStatus, insertCard, keepSums } from '../store/cards.ts';
import type { CrowdLedger } from './crowd-ledger.ts';
import type { Teller } from './demo.ts';
import type { Draws } from './draws.ts';

export interface CrowdCard extends Omit<CardRow, 'status' | 'balance' | 'hold'> {
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
export class CrowdCards {
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
export async function issueCrowd(
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
export async function keepCrowd(
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
