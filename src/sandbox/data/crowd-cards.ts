/** The cards of a large data set: made at one moment, written with what is on them when everything has happened. */
import { type Cents, cents } from '../../money.ts';
import { manyDigits, manyIds } from '../chance.ts';
import { cardDocument } from '../objects.ts';
import { cardNumber, FREE_DIGITS } from '../rules/card-numbers.ts';
import { cardExpiry } from '../rules/dates.ts';
import { allBins, type BinRow } from '../store/bins.ts';
import { type CardRow, type CardStatus, insertCard, keepSums } from '../store/cards.ts';
import type { CrowdBooks } from './crowd-books.ts';
import type { Teller } from './demo.ts';
import type { Draws } from './draws.ts';

export interface CrowdCard extends Omit<CardRow, 'status' | 'balance' | 'hold'> {
  readonly bin: BinRow;
  /** What it is made with. */
  readonly first: Cents;
}

type Where = Pick<Teller, 'sql' | 'account'>;

/** Inserts `count` cards, spread over all BINs; nothing is on them yet. */
export async function issueCrowd(
  { sql, account }: Where,
  { count, at, draws }: { readonly count: number; readonly at: number; readonly draws: Draws },
): Promise<readonly CrowdCard[]> {
  const bins = await allBins(sql, account);
  const ids = await manyIds({ sql, account }, 'card', count);
  const numbers = await numbersFor({ sql, account }, bins, count);
  const cvv = await manyDigits({ sql, account }, 'cvv', count);
  const cards: CrowdCard[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const bin = bins[nth % bins.length] as BinRow;
    const card = {
      id: ids(nth),
      bin_id: bin.id,
      network: bin.network,
      spending_limit: bin.max_monthly,
      label: `load ${nth + 1}`,
      allowed_categories: '[]',
      auto_freeze_at: null,
      metadata: '{}',
      created_at: at,
      expires_at: cardExpiry(at),
    };
    const number = numbers(nth);
    // Its sums and the card as it is sent follow, see `keepSums`.
    await insertCard(sql, account, {
      card: { ...card, balance: 0 as Cents },
      number,
      cvv: cvv(nth, 3),
      document: '',
    });
    cards.push({ ...card, last4: number.slice(-4), bin, first: cents(5_000 + draws.below(45_000)) });
  }
  return cards;
}

/** Two of a hundred thousand meet by chance: one that is taken is drawn again. */
async function numbersFor(where: Where, bins: readonly BinRow[], count: number): Promise<(nth: number) => string> {
  const taken = new Set<string>();
  const digits = await manyDigits(where, 'number', count);
  const numbers: string[] = [];
  let again: ((nth: number, digits: number) => string) | undefined;
  for (let nth = 0; nth < count; nth += 1) {
    const { network } = bins[nth % bins.length] as BinRow;
    let number = cardNumber(network, digits(nth, FREE_DIGITS));
    while (taken.has(number)) {
      again = await manyDigits(where, 'number', 1);
      number = cardNumber(network, again(0, FREE_DIGITS));
    }
    taken.add(number);
    numbers.push(number);
  }
  return nth => numbers[nth] as string;
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
  { cards, books, at }: { readonly cards: readonly CrowdCard[]; readonly books: CrowdBooks; readonly at: number },
): Promise<void> {
  for (const [nth, { bin: _bin, first: _first, ...card }] of cards.entries()) {
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
